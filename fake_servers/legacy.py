"""A server of the older revisions: nothing works before ``initialize``. Here over stdio.

    python -m fake_servers.legacy --discover exit --ping

``legacy_http.py`` carries the same over HTTP. Revision 2025-11-25, basic/lifecycle.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fake_servers.stdio import read_lines, write_to
from fake_servers.wire import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PREFIX,
    Message,
    Rejection,
    decode,
    encode,
    error_message,
    is_request,
    notification,
    result_message,
)

Say: TypeAlias = Callable[[Message], None]

TOOLS = {
    "echo": "says what was said",
    "ask": "pings the client, asks for its roots, and says what came back",
    "wait": "answers when it is cancelled, and then nothing",
    "count": "reports progress, 1 and 2, then answers",
    "seen": "every message of the client so far, as JSON",
    "pid": "the number of this process",
    "end": "ends the process",
}


@dataclass(frozen=True)
class Manner:
    """``discover``: "exit", "silence", or the code of its error. ``ping``: before each answer to
    ``initialize`` it pings, and waits for the answer. ``mute``: it never answers that."""

    discover: str = "-32601"
    version: str = "2025-11-25"
    ping: bool = False
    mute: bool = False


class Exit(Exception):
    """The process ends here."""


class LegacySession:
    """One client's session. ``seen`` keeps each message of the client."""

    def __init__(self, manner: Manner) -> None:
        self.manner = manner
        self.seen: list[Message] = []
        self.waiting = asyncio.Event()  # a call of "wait" has begun
        self.cancelled = asyncio.Event()
        self.agreed = ""  # the version, once initialize is answered
        self._ready = False
        self._numbers = itertools.count(1)
        self._asked: dict[str, asyncio.Future[Message]] = {}

    async def answer(self, message: Message, say: Say) -> Message | None:
        """The response to a request, None to anything else; ``say`` sends what comes before it.

        Raises: Rejection, Exit.
        """
        self.seen.append(message)
        if "method" not in message:
            self._asked.pop(message["id"]).set_result(message)
        elif not is_request(message):
            self._note(message)
        elif (result := await self._result(message, say)) is not None:
            return result_message(message["id"], result)
        return None

    def _note(self, message: Message) -> None:
        if message["method"] == "notifications/initialized":
            self._ready = True
        if message["method"] == "notifications/cancelled":
            self.cancelled.set()

    async def _result(self, message: Message, say: Say) -> Message | None:
        method, params = message["method"], message.get("params") or {}
        if method == "server/discover":
            return await self._refuse_discover()
        if any(name.startswith(PREFIX) for name in params.get("_meta", {})):
            raise Rejection(INVALID_PARAMS, f"_meta holds what {self.manner.version} knows not of")
        if method == "initialize":
            return await self._initialize(params, say)
        if not self._ready:
            raise Rejection(INVALID_REQUEST, "not initialized")
        if method == "tools/list":
            return {"tools": [tool(name, text) for name, text in TOOLS.items()]}
        if method == "tools/call":
            return await self._call(params, say)
        raise Rejection(METHOD_NOT_FOUND, f"Method not found: {method}")

    async def _refuse_discover(self) -> Message:
        if self.manner.discover == "exit":
            raise Exit
        if self.manner.discover == "silence":
            await asyncio.Event().wait()
        raise Rejection(int(self.manner.discover), "never heard of it")

    async def _initialize(self, params: Message, say: Say) -> Message:
        if self._ready:
            raise Rejection(INVALID_REQUEST, "initialize came twice")
        if params.get("protocolVersion") != "2025-11-25" or not params.get("clientInfo"):
            raise Rejection(INVALID_PARAMS, "initialize lacks a version or clientInfo")
        if self.manner.mute:
            await asyncio.Event().wait()
        if self.manner.ping:
            await self._ask("ping", say)
        self.agreed = self.manner.version
        return {
            "protocolVersion": self.manner.version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "older", "version": "0.9"},
            "instructions": "Ask first.",
        }

    async def _ask(self, method: str, say: Say) -> Message:
        request_id = f"server-{next(self._numbers)}"
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = future
        say({"jsonrpc": "2.0", "id": request_id, "method": method})
        return await future

    async def _call(self, params: Message, say: Say) -> Message | None:
        match params["name"]:
            case "echo":
                return text_result(params["arguments"]["text"])
            case "ask":
                replies = [await self._ask(method, say) for method in ("ping", "roots/list")]
                return text_result(json.dumps(replies))
            case "wait":
                self.waiting.set()
                await self.cancelled.wait()
                return None
            case "count":
                token = params["_meta"]["progressToken"]
                for step in (1, 2):
                    told = {"progressToken": token, "progress": step}
                    say(notification("notifications/progress", told))
                return text_result("counted")
            case "seen":
                return text_result(json.dumps(self.seen))
            case "pid":
                return text_result(str(os.getpid()))
            case "end":
                raise Exit
        return {**text_result("no such tool"), "isError": True}


def tool(name: str, description: str) -> Message:
    """One entry of tools/list."""
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


def text_result(text: str) -> Message:
    """A result of tools/call. This era has no resultType."""
    return {"content": [{"type": "text", "text": text}]}


async def serve(manner: Manner) -> None:
    """Serve this process's stdin and stdout until stdin ends."""
    session, write = LegacySession(manner), write_to(1)
    tasks: set[asyncio.Task[None]] = set()

    def say(message: Message) -> None:
        write(encode(message))

    async def take(message: Message) -> None:
        try:
            answer = await session.answer(message, say)
        except Rejection as rejection:
            answer = error_message(message["id"], rejection)
        except Exit:
            os._exit(1)
        if answer is not None:
            say(answer)

    async for line in read_lines(0):
        if line.strip():
            task = asyncio.create_task(take(decode(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    for task in tasks:
        task.cancel()


def main(arguments: Any = None) -> None:
    """The command line: see the module."""
    parser = argparse.ArgumentParser(description="A server of the older revisions.")
    parser.add_argument("--discover", default="-32601", help="exit, silence, or an error code")
    parser.add_argument("--version", default="2025-11-25", help="of the protocol")
    parser.add_argument("--ping", action="store_true", help="ping before the answer to initialize")
    parser.add_argument("--mute", action="store_true", help="never answer initialize")
    asyncio.run(serve(Manner(**vars(parser.parse_args(arguments)))))


if __name__ == "__main__":
    main()

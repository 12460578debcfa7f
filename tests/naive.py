"""Small clients that are right as long as nothing goes wrong, each named for its one mistake.

The tests of the faults that hang or lose data run against ours, which must pass, and against one of
these, which must turn red. All have the face of ``Ours``, at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Any

import anyio
import httpx

from mini_agent.mcp import HttpTransport, McpClient, McpTransport, StdioTransport
from mini_agent.mcp.messages import build_meta, build_request

SHORT = 1.5  # seconds in which a client that will hang is found out
LONG = 20.0  # seconds for all else: a child process takes its time on a busy machine


def request(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return build_request(number, method, params, meta=build_meta())


def text_of(message: dict[str, Any]) -> str:
    return str(message["result"]["content"][0]["text"])


# -- over a pipe ----------------------------------------------------------------------------------


class NaiveStdio:
    """A reader task, and a future for each request: how most clients begin."""

    patience = SHORT
    limit = 2**26
    stderr: int | None = asyncio.subprocess.DEVNULL

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last = 0

    async def start(self) -> asyncio.subprocess.Process:
        if self._process is None:
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, stderr=self.stderr, limit=self.limit
            )
            self._reader = asyncio.create_task(self.read())
        return self._process

    async def call(self, name: str, **arguments: Any) -> str:
        """Call a tool; the text of its result."""
        return text_of(await self.ask("tools/call", {"name": name, "arguments": arguments}))

    async def connect(self) -> None:
        """As a host begins."""
        await self.ask("server/discover", {})

    async def tools(self) -> list[str]:
        """The names of the server's tools."""
        message = await self.ask("tools/list", {})
        return [tool["name"] for tool in message["result"]["tools"]]

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last += 1
        future = self._waiting[self._last] = asyncio.get_running_loop().create_future()
        await self.write(request(self._last, method, params))
        return await future

    async def write(self, message: dict[str, Any]) -> None:
        process = await self.start()
        assert process.stdin is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        await process.stdin.drain()

    async def read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        while line := await self._process.stdout.readline():
            self.take(json.loads(line))

    def take(self, message: dict[str, Any]) -> None:
        future = self._waiting.pop(message.get("id", 0), None)
        if future is not None:
            future.set_result(message)

    async def close(self) -> None:
        """End the process."""
        await self.bury()

    async def bury(self) -> None:
        """Leave nothing behind, whatever the mistake was: for the tests."""
        if self._process is None:
            return
        self._reader.cancel()
        await asyncio.wait([self._reader])
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        outputs = filter(None, (self._process.stdout, self._process.stderr))
        await asyncio.gather(*(output.read() for output in outputs), self._process.wait())
        self._process._transport.close()  # type: ignore[attr-defined]


class NeverHearsOfTheEnd(NaiveStdio):
    """When the process ends, its reader ends quietly, and whoever waits waits on."""

    async def write(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionError):  # it ended before the first line was written
            await super().write(message)


class KeepsTheDeadProcess(NaiveStdio):
    """It goes on with the process that has ended."""


class DiesOfWhatItReads(NaiveStdio):
    """Its reader ends at the first bytes that are no JSON, and nobody is told."""


class TakesAllToolsOrNone(NaiveStdio):
    """One entry of the list that is no tool, and it has none."""

    patience = LONG


class LetsStderrFill(NaiveStdio):
    """It opens a pipe for stderr and never reads it."""

    stderr = asyncio.subprocess.PIPE
    limit = 2**16


class AsksNicelyAndWaits(NaiveStdio):
    """It ends the process with SIGTERM and waits until that has worked."""

    async def close(self) -> None:
        process = await self.start()
        process.terminate()
        await process.wait()


class BelongsToTheTaskThatOpenedIt(NaiveStdio):
    """It holds a cancel scope open, which only the task that opened it may leave."""

    patience = LONG

    async def start(self) -> asyncio.subprocess.Process:
        if self._process is None:
            self._scope = anyio.CancelScope().__enter__()
        return await super().start()

    async def close(self) -> None:
        self._scope.__exit__(None, None, None)


class ReadsShortLines(NaiveStdio):
    """It leaves the limit of a line at what asyncio gives: 64 KiB."""

    limit = 2**16


class TakesTheNextLine(NaiveStdio):
    """It takes the next message for the answer to its last request, whatever its id."""

    patience = LONG

    def take(self, message: dict[str, Any]) -> None:
        last = self._waiting[max(self._waiting)]
        if not last.done():
            last.set_result(message)


class WritesBeforeItReads(NaiveStdio):
    """It does not read while it writes, and its server does not either."""

    limit = 2**16

    async def start(self) -> asyncio.subprocess.Process:
        process = await super().start()
        self._reader.cancel()
        return process

    async def write(self, message: dict[str, Any]) -> None:
        await self.start()
        await asyncio.wait([self._reader])
        await super().write(message)
        self._reader = asyncio.create_task(self.read())


# -- over HTTP ------------------------------------------------------------------------------------


class NaiveHttp:
    """One POST for each message; what comes back is JSON or an event stream."""

    patience = SHORT
    encodings = "identity"

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._last = 0

    async def call(self, name: str, **arguments: Any) -> str:
        """Call a tool; the text of its result."""
        return text_of(await self.ask("tools/call", {"name": name, "arguments": arguments}))

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last += 1
        message = request(self._last, method, params)
        headers = {"Accept-Encoding": self.encodings}
        async with self._http.stream("POST", "http://test/mcp", json=message, headers=headers) as r:
            return await self.read(r)

    async def read(self, response: httpx.Response) -> dict[str, Any]:
        if response.headers["content-type"] != "text/event-stream":
            return dict(json.loads(await response.aread()))
        lines = [line async for line in response.aiter_lines() if line.startswith("data:")]
        messages = [json.loads(line[5:]) for line in lines]
        if not any("result" in message for message in messages):
            raise EOFError
        return next(message for message in messages if "result" in message)

    async def close(self) -> None:
        """Nothing is held."""

    async def bury(self) -> None:
        """Nothing is left."""


class WaitsForAGoodAnswer(NaiveHttp):
    """An answer that it cannot use is logged, and the call waits for a better one."""

    async def read(self, response: httpx.Response) -> dict[str, Any]:
        if not response.is_success:
            await asyncio.Event().wait()
        return await super().read(response)


class OffersWhatItCannotRead(NaiveHttp):
    """It tells the server that it reads brotli."""

    patience = LONG

    encodings = "gzip, br"


class AsksAgainWhenItIsSlow(NaiveHttp):
    """A call that took too long is sent again, though the server may be at work on it."""

    patience = LONG

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(0.1):
                return await super().ask(method, params)
        except TimeoutError:
            return await super().ask(method, params)


class WaitsForTheStreamToComeBack(NaiveHttp):
    """When the event stream ends early it waits to be connected again."""

    async def read(self, response: httpx.Response) -> dict[str, Any]:
        try:
            return await super().read(response)
        except EOFError:
            await asyncio.Event().wait()
            raise


class HasNoDeadline(NaiveHttp):
    """It trusts the server to answer."""


# -- ours -----------------------------------------------------------------------------------------


class Ours:
    """McpClient, with the face of the naive ones."""

    patience = LONG

    def __init__(self, transport: McpTransport, timeout: float = 10) -> None:
        self._client = McpClient(transport, timeout=timeout)

    async def call(self, name: str, **arguments: Any) -> str:
        """Call a tool; the text of its result."""
        return str((await self._client.call(name, arguments)).content[0]["text"])

    async def tools(self) -> list[str]:
        """The names of the server's tools."""
        return [tool.name for tool in await self._client.list_tools()]

    async def connect(self) -> None:
        """As a host begins."""
        await self._client.connect()

    async def close(self) -> None:
        """Let go of everything."""
        await self._client.close()

    bury = close


class OursOverStdio(Ours):
    """McpClient over a pipe."""

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__(StdioTransport(command, grace=0.3))


class OursOverHttp(Ours):
    """McpClient over HTTP; ``http`` stands for the network. Its calls wait half a second."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        super().__init__(HttpTransport("http://127.0.0.1/mcp", client=http), timeout=0.5)

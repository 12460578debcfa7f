"""A server that misbehaves at random, and always in the same way for the same seed and nonce.

Over stdio it is this program: ``misbehave.py SEED``. Over HTTP it is misbehave_http.py. Each call
carries a nonce, and every answer that is right repeats it. Both sides can say beforehand how a call
will be treated: ``fault_of(seed, nonce, table)``.
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any

STDIO = {
    "good": 8000, "is_error": 300, "error": 300, "duplicate": 300, "large": 100, "chatter": 300,
    "odd_type": 100, "broken": 100, "silence": 150, "wrong_id": 150, "late": 150,
    "given_up": 300, "garbage": 8, "half_line": 8, "death": 8,
}  # fmt: skip
"""Ways to treat a call, each with how often in about ten thousand."""

PADDING = 300_000  # characters in a large answer
NOBODYS = 10**9  # an id that no request has


def fault_of(seed: int, nonce: int, table: dict[str, int]) -> str:
    """How the call with this nonce is treated."""
    chance = random.Random(f"{seed}/{nonce}")
    return chance.choices(list(table), list(table.values()))[0]


def response(request: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """The right answer: its text is the nonce."""
    text = {"type": "text", "text": str(request["params"]["arguments"]["nonce"])}
    result = {"resultType": "complete", "content": [text], **changed}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def refusal(request: dict[str, Any]) -> dict[str, Any]:
    """An error, with the nonce in its message."""
    error = {"code": -32603, "message": str(request["params"]["arguments"]["nonce"])}
    return {"jsonrpc": "2.0", "id": request["id"], "error": error}


def large(request: dict[str, Any]) -> dict[str, Any]:
    """The right answer, and much more."""
    return response(request, _meta={"padding": "x" * PADDING})


def chatter(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Notifications about nothing that anybody asked for."""
    progress = {"progressToken": request["id"], "progress": 1}
    return [
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress},
        {"jsonrpc": "2.0", "method": "notifications/nobody/knows", "params": {"a": [1]}},
    ]


def messages(request: dict[str, Any], fault: str) -> list[dict[str, Any]]:
    """What is said where the fault is in the messages and not in the bytes."""
    right = response(request)
    said: dict[str, list[dict[str, Any]]] = {
        "good": [right],
        "is_error": [response(request, isError=True)],
        "error": [refusal(request)],
        "duplicate": [right, right],
        "large": [large(request)],
        "chatter": [*chatter(request), right],
        "odd_type": [response(request, resultType="task")],
        "broken": [{**right, "jsonrpc": "1.0"}],
        "wrong_id": [{**right, "id": NOBODYS}],
        "given_up": [right],
    }
    return said.get(fault, [])


class Pipe:
    """The side of the child process."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._late: dict[Any, dict[str, Any]] = {}

    def hear(self, line: bytes) -> None:
        """Treat one line."""
        message = json.loads(line)
        if message["method"] == "notifications/cancelled":
            late = self._late.pop(message["params"]["requestId"], None)
            if late is not None:
                say(encode(response(late)))
        elif message["method"] == "tools/call":
            self._treat(message)

    def _treat(self, request: dict[str, Any]) -> None:
        fault = fault_of(self._seed, request["params"]["arguments"]["nonce"], STDIO)
        if fault == "late":
            self._late[request["id"]] = request
        elif fault == "garbage":
            say(b"Traceback (most recent call last):\n")
        elif fault == "half_line":
            say(encode(response(request))[:40])
            os._exit(3)
        elif fault == "death":
            os.write(2, b"out of memory\n")
            os._exit(3)
        for each in messages(request, fault):
            say(encode(each))


def encode(message: dict[str, Any]) -> bytes:
    """One line."""
    return json.dumps(message).encode() + b"\n"


def say(data: bytes) -> None:
    """Write all of it; large data goes in pieces anyway, since a pipe takes only so much."""
    left = memoryview(data)
    while left:
        left = left[os.write(1, left) :]


if __name__ == "__main__":
    pipe = Pipe(int(sys.argv[1]))
    for line in sys.stdin.buffer:
        pipe.hear(line)

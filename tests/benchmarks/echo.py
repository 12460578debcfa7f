"""The server that every client is measured against: it costs as little as a server can.

Over stdio it is this program. Over HTTP it is echo_http.py, with the same answers. A call is
answered by cutting the id and the text out of its bytes; everything else is read as JSON.
"""

from __future__ import annotations

import json
import os
from typing import Any

DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
TOOL = {"name": "echo", "inputSchema": {"type": "object"}}
RESULTS: dict[str, dict[str, Any]] = {
    "server/discover": DISCOVERED,
    "tools/list": {"tools": [TOOL]},
}
CHUNK = 2**16  # above 128 KiB the C library asks the system for each buffer anew: 12 µs
ID, TEXT = b'"id":', b'"text":"'


def answer(raw: bytes) -> bytes:
    """The response to one message, b"" for a notification."""
    text = raw.find(TEXT)
    if text < 0:
        return rare_answer(raw)
    text += len(TEXT)
    number = raw.find(ID) + len(ID)
    end = number
    while raw[end] not in b",}":
        end += 1
    return (
        b'{"jsonrpc":"2.0","id":' + raw[number:end]
        + b',"result":{"resultType":"complete","content":[{"type":"text","text":"'
        + raw[text : raw.index(b'"', text)] + b'"}]}}'
    )  # fmt: skip


def rare_answer(raw: bytes) -> bytes:
    """The response to what is asked once a run."""
    message = json.loads(raw)
    if "id" not in message:
        return b""
    found: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] in RESULTS:
        kept = {"resultType": "complete", "ttlMs": 600_000, "cacheScope": "public"}
        found["result"] = {**kept, **RESULTS[message["method"]]}
    else:
        found["error"] = {"code": -32601, "message": "Method not found"}
    return json.dumps(found).encode()


def main() -> None:
    """Read lines, write lines; what comes in together is answered together."""
    pieces: list[bytes] = []
    while chunk := os.read(0, CHUNK):
        pieces.append(chunk)
        if b"\n" in chunk:
            *lines, rest = split(b"".join(pieces))
            pieces = [rest]
            write_all(b"".join(reply + b"\n" for reply in map(answer, lines) if reply))


def split(data: bytes) -> list[bytes]:
    """The lines in it and what follows them. bytes.split looks at every byte, find does not."""
    first = data.find(b"\n")
    return [data[:first], b""] if first == len(data) - 1 else data.split(b"\n")


def write_all(data: bytes) -> None:
    """Write to stdout, however little the pipe takes at a time."""
    left = memoryview(data)
    while left:
        left = left[os.write(1, left) :]


if __name__ == "__main__":
    main()

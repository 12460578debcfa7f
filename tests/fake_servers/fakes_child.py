"""A child process on three pipes, and nothing between a test and its bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any


class Child:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.process = process
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr

    async def tell(self, message: dict[str, Any]) -> None:
        self.stdin.write(json.dumps(message).encode() + b"\n")
        await self.stdin.drain()

    async def line(self) -> bytes:
        return await asyncio.wait_for(self.stdout.readline(), 10)

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        await self.tell(message)
        answer: dict[str, Any] = json.loads(await self.line())
        return answer

    async def end(self) -> tuple[bytes, bytes, int]:
        """Close stdin; the rest of stdout, all of stderr, the exit code."""
        self.stdin.close()
        out, err = await asyncio.gather(self.stdout.read(), self.stderr.read())
        return out, err, await asyncio.wait_for(self.process.wait(), 10)


@asynccontextmanager
async def child(command: Sequence[str]) -> AsyncIterator[Child]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=2**28
    )
    started = Child(process)
    try:
        yield started
    finally:
        if process.returncode is None:
            process.kill()
        started.stdin.close()
        await asyncio.gather(started.stdout.read(), started.stderr.read())
        await process.wait()

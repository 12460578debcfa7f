"""Bytes in, server-sent events out, as the WHATWG standard reads them, however they are cut.

What MCP 2026-07-28 has no use for is left aside: ``id`` and ``retry`` serve a resumption that this
revision does not have (changelog, item 9), and comments only keep a connection warm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mini_agent.errors import MalformedMessage

MAX_EVENT = 64 * 1024 * 1024
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class StreamEvent:
    """One event. ``type`` is "message" unless the server named another."""

    type: str
    data: bytes


class EventParser:
    """Collects chunks and hands out whole events. ``limit`` is in bytes an event."""

    def __init__(self, limit: int = MAX_EVENT) -> None:
        self._limit = limit
        self._line = bytearray()  # a line that has not ended yet
        self._first_line = True
        self._after_cr = False  # the last chunk ended with \r: a \n now belongs to it
        self._type = ""
        self._data: bytearray | None = None  # None: no data line yet, so no event

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        r"""The events that ``chunk`` ends. A line ends at ``\r\n``, ``\n`` or ``\r``, also mixed.

        Take all of them before feeding more. An event that the stream breaks off is never given.

        Raises: MalformedMessage for an event above the limit, after the events before it.
        """
        if not chunk:
            return
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        for piece in chunk.splitlines(keepends=True):  # bytes: at \r and \n only, as it must be
            content = piece.rstrip(b"\r\n")
            self._keep(content)
            if len(content) < len(piece):
                yield from self._end_line()

    def _keep(self, content: bytes) -> None:
        self._line += content
        if len(self._line) + len(self._data or b"") > self._limit:
            raise MalformedMessage(f"an event of more than {self._limit} bytes")

    def _end_line(self) -> Iterator[StreamEvent]:
        line, self._line = bytes(self._line), bytearray()
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(BOM)
        if line:
            self._take_field(line)
        elif self._data is not None:
            yield StreamEvent(self._type or "message", bytes(self._data))
        if not line:
            self._type, self._data = "", None

    def _take_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")  # a comment is a field without a name
        value = value.removeprefix(b" ")
        if name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"data":
            if self._data is None:
                self._data = bytearray(value)
            else:
                self._data += b"\n" + value

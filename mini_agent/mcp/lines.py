"""Bytes in, lines out: however a stream is cut into chunks, the lines are the same.

Only bytes are looked at, so a character that two chunks share arrives whole.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_LINE = 64 * 1024 * 1024
SHOWN = 80


@dataclass(frozen=True)
class TooLong:
    """Stands where a line above the limit was. ``start`` is its first bytes, the rest is gone."""

    start: bytes


class LineSplitter:
    """Collects chunks and hands out whole lines. ``limit`` is in bytes a line, without its end."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._rest = bytearray()  # a line that has not ended yet
        self._dropping = False  # inside a line that was too long

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        r"""The lines that ``chunk`` ends, without their line ends; blank ones are left out.

        Lines end at ``\n``; a ``\r`` before it goes too, like any blank at either end.
        """
        found: list[bytes | TooLong] = []
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if self._rest or self._dropping or len(piece) > self._limit:
                piece = self._joined(piece, found)
            if line := piece.strip():
                found.append(line)
        self._keep(rest, found)
        return found

    @property
    def rest(self) -> bytes:
        """The start of a line whose end has not come, at most 80 bytes of it."""
        return bytes(self._rest[:SHOWN])

    def _joined(self, piece: bytes, found: list[bytes | TooLong]) -> bytes:
        """The line that ``piece`` ends, b"" where it was too long."""
        self._keep(piece, found)
        line = bytes(self._rest)  # the only copy of a line that came in pieces
        self._rest = bytearray()
        self._dropping = False
        return line

    def _keep(self, piece: bytes, found: list[bytes | TooLong]) -> None:
        if self._dropping:
            return
        self._rest += piece  # grows in place: no copy of what is there already
        if len(self._rest) > self._limit:
            found.append(TooLong(bytes(self._rest[: min(SHOWN, self._limit)])))
            self._rest = bytearray()
            self._dropping = True

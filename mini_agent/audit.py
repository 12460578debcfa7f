"""The audit log: what was decided, sent and answered, one JSON line a record, never rewritten.

Its guarantee: an intent is on the disk before the call it announces is sent, so whatever ends the
program in between leaves an intent without an outcome. No secret that can be told is in it.
"""

from __future__ import annotations

import errno
import inspect
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from mini_agent.audit_record import AuditRecord, from_line, to_line
from mini_agent.errors import AuditError
from mini_agent.redact import Redactor
from mini_agent.visible import visible

__all__ = ["AuditLog", "AuditRecord", "OnLost", "read_audit", "unfinished"]

NO_DIRECTORIES = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)
"""What a system says that does not sync a directory, or does not let this user read it."""

OnLost: TypeAlias = Callable[[AuditRecord, AuditError], None]


class AuditLog:
    """Appends records to the file at ``path``, which its first record makes (0600).

    ``secrets`` are values that must not be written. ``on_lost`` is the separate channel: it is
    given a record, redacted, that the file did not take, and the error; when it returns, the
    record counts as kept.

    The methods block, on purpose: between an intent on the disk and its call there is no await at
    which a cancel could fall. An intent costs one fsync (measured: 0.2 ms, 5 on a busy disk), the
    first of a file two, beside a call that costs a round trip. They are safe to call from several
    threads, so a host that serves many from a slow disk writes
    ``await asyncio.to_thread(log.intent, record)``. Several logs may share one file, also from
    several processes.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        secrets: Iterable[str] = (),
        on_lost: OnLost | None = None,
        clock: Callable[[], float] = time.time,
        fsync: Callable[[int], object] = os.fsync,
    ) -> None:
        """``clock`` gives seconds since the epoch; ``fsync`` puts a file's descriptor on the disk.

        Raises: TypeError for an ``on_lost`` that is async: nobody would await it; for ``secrets``
        that are one string.
        """
        if inspect.iscoroutinefunction(on_lost):
            raise TypeError("on_lost must be a plain function: nobody would await it")
        self.path = Path(path)
        self._redactor = Redactor(secrets)
        self._on_lost = on_lost
        self._clock = clock
        self._fsync = fsync
        self._run = uuid.uuid4().hex[:12]
        self._lock = threading.Lock()
        self._entered = False  # the file's name is on the disk

    def decision(self, record: AuditRecord) -> None:
        """Record what policy or person said about a call.

        Raises: AuditError when the record is lost.
        """
        self._keep(replace(record, kind="decision"))

    def intent(self, record: AuditRecord) -> None:
        """Record that a call is about to be sent; it is on the disk when this returns.

        Raises: AuditError when the record is lost: the call must not be made.
        """
        self._keep(replace(record, kind="intent"), sync=True)

    def outcome(self, record: AuditRecord) -> None:
        """Record what came of a call. It is the system's to write out: a power cut may lose it.

        Its intent then shows as unfinished, which is the safe way to be wrong.

        Raises: AuditError when the record is lost.
        """
        self._keep(replace(record, kind="outcome"))

    def _keep(self, record: AuditRecord, *, sync: bool = False) -> None:
        safe = self._safe(replace(record, at=round(self._clock(), 6)))
        try:
            safe = replace(safe, arguments=self._redactor.value(record.arguments))
            self._append(to_line(safe), sync)
        except (OSError, TypeError, ValueError, RecursionError) as cause:
            error = self._error(safe, cause)
            if self._on_lost is None:
                raise error from cause
            error.__cause__ = cause
            self._tell_the_other(self._on_lost, safe, error)

    def _safe(self, record: AuditRecord) -> AuditRecord:
        """Every text redacted; without the arguments, which may not be possible to redact."""
        texts = {name: value for name, value in vars(record).items() if isinstance(value, str)}
        safe: dict[str, Any] = {name: self._redactor.text(text) for name, text in texts.items()}
        return replace(record, **{**safe, "kind": record.kind, "run": self._run, "arguments": {}})

    def _tell_the_other(self, on_lost: OnLost, record: AuditRecord, error: AuditError) -> None:
        try:
            on_lost(record, error)
        except Exception as cause:
            more = f"{error}; the channel for lost records failed too ({type(cause).__name__})"
            raise AuditError(more, path=self.path) from cause

    def _error(self, record: AuditRecord, cause: BaseException) -> AuditError:
        why = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
        about = f"the {record.kind} of {visible(str(record.exposed or record.tool or 'a call'))}"
        mend = "file" if isinstance(cause, OSError) else "record"
        text = f"audit file {self.path}: {about} cannot be written ({why}); mend the {mend} first"
        return AuditError(text, path=self.path)

    def _append(self, line: bytes, sync: bool) -> None:
        """One write a record, at the end of the file wherever that is by now.

        Raises: OSError.
        """
        with open(self.path, "ab+", buffering=0, opener=_private) as file:
            if not os.fstat(file.fileno()).st_mode & 0o222:  # asked, since root may write all
                raise PermissionError(errno.EACCES, "it is read-only")
            with self._lock:
                if file.seek(0, os.SEEK_END) == 0:
                    self._entered = False  # it is a new one
                whole = (b"\n" if _is_torn(file) else b"") + line
                written = file.write(whole)
            if written != len(whole):
                raise OSError(errno.EIO, f"only {written} of {len(whole)} bytes were taken")
            if sync:
                self._fsync(file.fileno())
                self._enter()

    def _enter(self) -> None:
        """Put the directory on the disk too, once a file: a new one has no name there before.

        Raises: OSError.
        """
        if self._entered:
            return
        try:
            directory = os.open(self.path.parent, os.O_RDONLY)
            try:
                self._fsync(directory)
            finally:
                os.close(directory)
        except OSError as cause:
            if cause.errno not in NO_DIRECTORIES:
                raise
        self._entered = True


def read_audit(path: str | Path) -> list[AuditRecord]:
    """The records in ``path``, oldest first.

    A line that is no record stands in its place as one of kind "torn", whose ``reason`` says which
    line and how it begins: the last one was cut by a crash, one before it by a full disk. An empty
    line is nothing.

    Raises: OSError when the file cannot be read.
    """
    with open(path, "rb") as file:
        # A binary file splits on the byte alone: U+2028 inside a string ends no line.
        return [from_line(raw, number) for number, raw in enumerate(file, start=1) if raw.strip()]


def unfinished(records: Iterable[AuditRecord]) -> list[AuditRecord]:
    """The intents with no outcome after them: calls that may have acted, nobody here knows.

    An outcome ends the latest intent of its run, call, server and tool. Oldest first.
    """
    waiting: dict[tuple[str, ...], list[tuple[int, AuditRecord]]] = {}
    for number, record in enumerate(records):
        same = waiting.setdefault((record.run, record.call, record.server, record.tool), [])
        if record.kind == "intent":
            same.append((number, record))
        elif record.kind == "outcome" and same:
            same.pop()
    left = [entry for same in waiting.values() for entry in same]
    return [record for _, record in sorted(left, key=lambda entry: entry[0])]


def _is_torn(file: BinaryIO) -> bool:
    """Was the last record cut off? ``file`` is at its end afterwards."""
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)

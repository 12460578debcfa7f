"""Replacing a file in one step: a reader, or a crash at any moment, finds the old or the new."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def may_write(target: Path) -> bool:
    """Does the mode of the file at ``target`` let anybody write, and does the system let us?

    The mode is asked as well, since root may write everything.
    """
    return os.access(target, os.W_OK) and bool(target.stat().st_mode & 0o222)


def replace_file(target: Path, body: bytes) -> None:
    """Make ``body`` the whole of ``target``, readable by its owner only (0600), and on disk.

    Raises: OSError; then ``target`` is as it was, and nothing else is left.
    """
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # 0600
    try:
        with open(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise

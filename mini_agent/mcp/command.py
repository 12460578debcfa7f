"""What to start for a server, and with which environment: values in, values or errors out.

Nothing is started here. A server gets no variable of ours but a short list of harmless ones.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from mini_agent.visible import visible

# What a program needs to run at all, and nothing that could be a secret.
POSIX_NAMES = frozenset((
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
))  # fmt: skip
WINDOWS_NAMES = frozenset((
    "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT",
    "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMDRIVE",
    "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
))  # fmt: skip
ALLOWED = WINDOWS_NAMES if sys.platform == "win32" else POSIX_NAMES


def child_environment(
    extra: Mapping[str, str] | None = None,
    *,
    inherited: Mapping[str, str] = os.environ,
    allowed: Collection[str] = ALLOWED,
) -> dict[str, str]:
    """The environment of a server: the ``allowed`` names of ours, with ``extra`` over them.

    A server gets no key that it was not given. ``extra=dict(os.environ)`` hands over everything.

    Raises: TypeError for a name or value that is no string; ValueError for one that cannot be
    handed over.
    """
    for name, value in (extra or {}).items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"environment variable {name!r} must be a string")
        if "=" in name or not sayable(name + value):
            raise ValueError(f"environment variable {name!r} holds = or NUL or half a character")
    kept = {name: value for name, value in inherited.items() if name in allowed}
    return {**kept, **(extra or {})}


def checked_command(command: Sequence[str]) -> tuple[str, ...]:
    """``command`` as a tuple of strings: a program and its arguments, each on its own.

    Raises: TypeError for one string, since splitting it would be a guess; ValueError for none, for
    a program without a name, and for what no system call takes.
    """
    if isinstance(command, str | bytes):
        raise TypeError('command must be a list, such as ["python", "server.py"], not one string')
    words = tuple(os.fspath(word) for word in command)
    if not words or not words[0]:
        raise ValueError("command is empty; its first item is the program to start")
    if any(not isinstance(word, str) or not sayable(word) for word in words):
        raise ValueError("every item of command must be a string without NUL or half a character")
    return words


def checked_directory(cwd: str | os.PathLike[str] | None) -> str | os.PathLike[str] | None:
    """``cwd``, where it can be one. Whether it exists is seen at the start.

    Raises: ValueError.
    """
    if cwd is not None and not sayable(os.fspath(cwd)):
        raise ValueError("cwd holds NUL or half a character")
    return cwd


def sayable(text: str) -> bool:
    """False for what no system call takes: a NUL, or half of a surrogate pair."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def found_program(name: str, env: Mapping[str, str]) -> str:
    """What to start for ``name``. Windows finds ``npx`` as ``npx.cmd`` only when told the name."""
    if sys.platform == "win32":
        return shutil.which(name, path=env.get("PATH")) or name
    return name


def why_not_started(program: str, cwd: str | os.PathLike[str] | None, cause: Exception) -> str:
    """One sentence for a failed start. The arguments are left out: they may hold a secret."""
    name = visible(program)
    if isinstance(cause, NotImplementedError):
        return f"cannot start {name}: this event loop starts no processes; use the default one"
    if cwd is not None and not Path(cwd).is_dir():
        return f"cannot start {name}: there is no directory {visible(os.fspath(cwd))}"
    if isinstance(cause, FileNotFoundError):
        return f"cannot start {name}: no such program; check the name and PATH"
    if isinstance(cause, PermissionError):
        return f"cannot start {name}: it may not be run; check that it is executable"
    return f"cannot start {name}: {visible(str(getattr(cause, 'strerror', None) or cause))}"

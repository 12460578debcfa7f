"""Arguments that the host fills in and the model never sees, such as the key of an operation.

They are taken out of the schema that the model is shown, and put into the call before anybody is
asked about it, so that what is approved is what is sent.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from mini_agent.approval import HostCall
from mini_agent.difference import canonical
from mini_agent.types import JsonObject


@dataclass(frozen=True)
class Run:
    """One task from its beginning to its end, also across a restart; and for whom it is done."""

    id: str
    user: str = ""


Value: TypeAlias = Callable[[Run, HostCall], Any]
"""Makes an argument out of the run and the call, whose ``input`` holds what the model gave."""


@dataclass(frozen=True)
class Fill:
    """``argument`` of that server's tool is ``value``'s to give. Names are the server's own.

    ``repeatable`` says that with it the server does the same call once, however often it comes.
    """

    server: str
    tool: str
    argument: str
    value: Value
    repeatable: bool = False


def operation_key(
    server: str, tool: str, argument: str = "operation_key", *, of: Collection[str] | None = None
) -> Fill:
    """A Fill with a key that is the same for the same call in the same run, and no other.

    ``of`` names the arguments that make it the same; by default all that the model gave.

    Raises: TypeError for one string in place of several: parts of it would count as names.
    """
    if isinstance(of, str):
        raise TypeError(f"of: give a list of arguments, not one string ({of!r})")
    return Fill(server, tool, argument, functools.partial(_key, of), repeatable=True)


def _key(of: Collection[str] | None, run: Run, call: HostCall) -> str:
    counts = {name: _whole(v) for name, v in call.input.items() if of is None or name in of}
    told = canonical([run.user, run.id, call.server, call.tool, counts])
    return hashlib.sha256(told.encode()).hexdigest()


def _whole(value: Any) -> Any:
    """JSON Schema takes 4250.0 for the integer 4250, so they make one key."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _whole(inner) for name, inner in value.items()}
        case list():
            return [_whole(inner) for inner in value]
    return value


def without(schema: JsonObject, names: Collection[str]) -> JsonObject:
    """``schema`` as the model is shown it: its properties and what it requires, less ``names``."""
    if not names:
        return schema
    shown = dict(schema)
    if isinstance(shown.get("properties"), dict):
        kept = {name: rule for name, rule in shown["properties"].items() if name not in names}
        shown["properties"] = kept
    if isinstance(shown.get("required"), list):
        shown["required"] = [name for name in shown["required"] if name not in names]
    return shown


def filled(call: HostCall, fills: Iterable[Fill]) -> HostCall:
    """``call`` with the arguments of ``fills``, each made from what the model gave.

    Raises: ValueError outside of a run.
    """
    made = {fill.argument: fill.value(current_run(), call) for fill in fills}
    return replace(call, input={**call.input, **made})


# -- the run --------------------------------------------------------------------------------------

_run: contextvars.ContextVar[Run | None] = contextvars.ContextVar("mini_agent_run", default=None)


def current_run() -> Run:
    """The run that is going on here.

    Raises: ValueError when there is none: two runs without a name would share their keys.
    """
    run = _run.get()
    if run is None:
        raise ValueError('a tool needs to know its run: put run_agent inside "with host.run():"')
    return run


@contextlib.contextmanager
def running(run_id: str, user: str) -> Iterator[Run]:
    """Everything inside belongs to the run ``run_id``, or to a new one where that is ""."""
    run = Run(run_id or uuid.uuid4().hex, user)
    token = _run.set(run)
    try:
        yield run
    finally:
        _run.reset(token)

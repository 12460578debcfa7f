"""The multi-round-trip pattern as one function: ask, be told "not yet", answer, ask again.

Revision 2026-07-28, basic/patterns/mrtr. The state of one call lives in the arguments of this
function and nowhere else, so it cannot leak into another.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from mini_agent.errors import InputRequired, RequestTimeout
from mini_agent.mcp.shapes import parse_input_required
from mini_agent.types import JsonObject

MAX_ROUNDS = 10
FIRST_PAUSE = 0.05  # seconds before a retry that only carries state; doubled each round

InputHandler: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
"""Gets the server's requests by key, returns the answers under the same keys."""


async def until_complete(
    ask: Callable[[JsonObject], Awaitable[JsonObject]],
    handler: InputHandler | None,
    extra: JsonObject,
    *,
    seconds: float = 30.0,
    longest: float = 600.0,
) -> JsonObject:
    """Call ``ask`` with what each round adds to the params, until the result is complete.

    ``extra`` is what the first round adds (a host that goes on by hand), {} as a rule. All rounds
    together may take ``seconds``, and ``longest`` as soon as a person is asked. A first one that
    took more than ``seconds`` (somebody signed in, or it told of progress) does not count.

    Raises: InputRequired when the server asks and there is no ``handler``, or when it still asks
    after MAX_ROUNDS; RequestTimeout; what ``ask`` and ``handler`` raise.
    """
    began, limit = time.monotonic(), seconds
    result = await ask(extra)  # it has a deadline of its own, and nearly every call ends with it
    if result.get("resultType") != "input_required":
        # What rests on input is not kept (server/utilities/caching#cache-key).
        return {**result, "ttlMs": 0} if extra else result
    spent = time.monotonic() - began
    began = asyncio.get_running_loop().time() - (spent if spent <= seconds else 0.0)
    try:
        async with asyncio.timeout_at(began + seconds) as whole:
            for done in range(MAX_ROUNDS - 1):
                requests, state = parse_input_required(result)
                if requests and not whole.expired():
                    limit = max(seconds, longest)
                    whole.reschedule(began + limit)
                result = await ask(await _more(handler, requests, state, FIRST_PAUSE * 2**done))
                if result.get("resultType") != "input_required":
                    return {**result, "ttlMs": 0}
    except TimeoutError as cause:
        if not whole.expired():
            raise  # the handler's own
        raise RequestTimeout(f"no answer within {limit:g} s", seconds=limit) from cause
    requests, state = parse_input_required(result)
    raise InputRequired(
        f"the server still asks for input after {MAX_ROUNDS} rounds", requests=requests, state=state
    )


async def _more(
    handler: InputHandler | None, requests: JsonObject, state: str | None, pause: float
) -> JsonObject:
    """What the next round adds to the params; where nobody is asked, after ``pause`` seconds."""
    extra: JsonObject = {} if state is None else {"requestState": state}
    if not requests:
        await asyncio.sleep(pause)
        return extra
    if handler is None:
        raise InputRequired(_asks(requests), requests=requests, state=state)
    return {**extra, "inputResponses": await answers(handler, requests)}


async def answers(handler: InputHandler, requests: JsonObject) -> JsonObject:
    """The handler's answers, one for each request: a retry with a part of them is not allowed.

    Raises: TypeError for anything but a dict; ValueError naming the keys that it left out.
    """
    given = await handler(requests)
    if not isinstance(given, dict):
        raise TypeError(f"on_input_required must return a dict, not {type(given).__name__}")
    missing = sorted(requests.keys() - given.keys())
    if missing:
        raise ValueError(f"on_input_required gave no answer for {', '.join(missing)}")
    return {key: given[key] for key in requests}


def _asks(requests: JsonObject) -> str:
    methods = ", ".join(sorted({str(request.get("method")) for request in requests.values()}))
    return f"the server asks for input ({methods}) and no on_input_required handler is set"

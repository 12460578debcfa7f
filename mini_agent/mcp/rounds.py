"""The multi-round-trip pattern as one function: ask, be told "not yet", answer, ask again.

Revision 2026-07-28, basic/patterns/mrtr. The state of one call lives in the arguments of this
function and nowhere else, so it cannot leak into another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from mini_agent.errors import InputRequired
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
) -> JsonObject:
    """Call ``ask`` with what each round adds to the params, until the result is complete.

    ``extra`` is what the first round adds (a host that goes on by hand), {} as a rule.

    Raises: InputRequired when the server asks and there is no ``handler``, or when it still asks
    after MAX_ROUNDS; what ``ask`` and ``handler`` raise.
    """
    pause = FIRST_PAUSE
    for _ in range(MAX_ROUNDS):
        result = await ask(extra)
        if result.get("resultType") != "input_required":
            # A result that rests on input is not for keeping (server/utilities/caching#cache-key).
            return {**result, "ttlMs": 0} if extra else result
        requests, state = parse_input_required(result)
        extra = {} if state is None else {"requestState": state}
        if requests:
            if handler is None:
                raise InputRequired(_asks(requests), requests=requests, state=state)
            extra["inputResponses"] = await answers(handler, requests)
        else:
            await asyncio.sleep(pause)
            pause *= 2
    raise InputRequired(
        f"the server still asks for input after {MAX_ROUNDS} rounds", requests=requests, state=state
    )


async def answers(handler: InputHandler, requests: JsonObject) -> JsonObject:
    """The handler's answers, one for each request: a retry with a part of them is not allowed.

    Raises: ValueError naming the keys that the handler left out.
    """
    given = await handler(requests)
    missing = sorted(requests.keys() - given.keys())
    if missing:
        raise ValueError(f"on_input_required gave no answer for {', '.join(missing)}")
    return {key: given[key] for key in requests}


def _asks(requests: JsonObject) -> str:
    methods = ", ".join(sorted({str(request.get("method")) for request in requests.values()}))
    return f"the server asks for input ({methods}) and no on_input_required handler is set"

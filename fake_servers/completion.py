"""Completion of what a person types for a prompt's argument or a template's variable.

Revision 2026-07-28, server/utilities/completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fake_servers.context import Context
from fake_servers.declare import Complete
from fake_servers.wire import INVALID_PARAMS, Message, Rejection

if TYPE_CHECKING:
    from fake_servers.core import Server

MOST = 100
"""Values in one answer, at most."""


async def complete(server: Server, context: Context) -> Message:
    """completion/complete: the values that fit what was typed so far.

    Raises: Rejection -32602 for a prompt, template or argument that is not offered.
    """
    request = context.request
    argument, given = request.mapping("argument"), request.mapping("context").get("arguments", {})
    typed = argument.get("value")
    completer = completers(server).get(_key(request.mapping("ref"), argument.get("name")))
    if completer is None or not isinstance(typed, str) or not isinstance(given, dict):
        raise Rejection(INVALID_PARAMS, "Invalid params: nothing of that name is completed here")
    values = list(await completer(typed, given))
    cut = {"values": values[:MOST], "total": len(values), "hasMore": len(values) > MOST}
    return {"completion": cut}


def _key(ref: Mapping[str, Any], argument: Any) -> tuple[Any, Any, Any]:
    named = "name" if ref.get("type") == "ref/prompt" else "uri"
    return (ref.get("type"), ref.get(named), argument)


def completers(server: Server) -> dict[tuple[Any, Any, Any], Complete]:
    """Every function that completes something, by kind, name and argument."""
    prompts = {
        ("ref/prompt", prompt.name, argument.name): argument.complete
        for prompt in server.prompts or ()
        for argument in prompt.arguments
        if argument.complete is not None
    }
    templates = {
        ("ref/resource", template.uri_template, name): function
        for template in server.templates
        for name, function in template.complete.items()
    }
    return {**prompts, **templates}

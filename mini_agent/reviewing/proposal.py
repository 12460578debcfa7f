"""Allow, ask or deny: what a review proposes for each thing that a server offers, and why.

The rules, in order; the first that holds decides:

1. deny what holds a serious finding: hidden text, orders to the model, a borrowed name, …
2. deny a tool that says, or whose name says, that it replaces or deletes;
3. ask about a tool that does not say that it only reads: it writes, or says nothing of itself;
4. ask about one that only reads but reaches outside, takes anything, or runs a program;
5. allow the rest, on its own word: no review can see whether that word is true.

A proposal is not a decision. A person makes those, and a policy made of a review asks about what
is merely proposed to be allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mini_agent.approval import Decision
from mini_agent.mcp.shapes import McpTool
from mini_agent.reviewing.effects import DESTROYING, Effect, verb_of
from mini_agent.reviewing.finding import Finding, listed, quoted
from mini_agent.reviewing.schemas import arguments
from mini_agent.types import JsonObject

WHOSE = frozenset(
    {"owner", "user", "user_id", "username", "account", "account_id", "tenant", "customer"}
    | {"customer_id", "assignee", "author", "member", "mailbox", "email", "person", "who"}
)
"""Names of a property that says whose something is."""

TOO_OPEN = frozenset({"open", "program", "encoded", "length", "annotation", "secret"})


@dataclass(frozen=True)
class Proposal:
    """A decision that nobody has taken yet, and the reason for it as a sentence."""

    decision: Decision
    why: str


def propose(tool: McpTool, effect: Effect, findings: Sequence[Finding]) -> Proposal:
    """What the rules above say about ``tool``."""
    name = quoted(tool.name)
    if serious := next((found for found in findings if found.serious), None):
        return Proposal("deny", f"{name}: {serious.told}.")
    if destroys := _destroys(tool, effect):
        return Proposal(
            "deny",
            f"{name} {destroys}, which may be past undoing. It is denied by default; where it is "
            "needed, ask: then each call is confirmed by hand.",
        )
    if not effect.reads:
        return Proposal("ask", f"{name} {_writes(effect)}")
    if effect.outside:
        return Proposal(
            "ask",
            f"{name} says that it only reads, but reaches {effect.reach}: what stands in its "
            "arguments may leave with it.",
        )
    if open_ := next((found for found in findings if found.kind in TOO_OPEN), None):
        return Proposal("ask", f"{name} says that it only reads, but {open_.told}.")
    return Proposal(
        "allow",
        f"{name} says that it only reads, and only within its own service. That is its own word; "
        "what it returns is for you to look at.",
    )


def _destroys(tool: McpTool, effect: Effect) -> str:
    verb = verb_of(tool.name)
    if effect.destroys and "destructiveHint" in effect.said:
        return "says that it may replace or delete what is there"
    return f'has "{verb}" in its name' if verb in DESTROYING else ""


def _writes(effect: Effect) -> str:
    if not effect.destroys:
        twice = "" if effect.repeats else ", and called twice it does so twice"
        does = f"writes: it adds and takes nothing away, it says{twice}."
    elif effect.said & {"readOnlyHint"}:
        does = "changes something, and does not say that it spares what is there."
    else:
        does = "does not say what it changes: by the revision's defaults it may delete."
    return (
        f"{does} Each call is asked about; with nobody to ask it is denied by its name, "
        "unless a policy says otherwise."
    )


def open_questions(tool: McpTool, effect: Effect) -> tuple[str, ...]:
    """What a person must find out about ``tool``, since no server can be asked for it."""
    outside = ("Where does what it is given go?",) if effect.outside else ()
    if effect.reads:
        whose = f"Whose {_things(tool)} does it return?"
    else:
        verb = "replace or delete" if effect.destroys else "add to"
        whose = f"Whose data may it {verb}?"
    return (f"{whose} {_evidence(tool)}", *outside)


def _things(tool: McpTool) -> str:
    """What it returns a list of, by its output schema."""
    properties = _properties(tool.output_schema or {})
    lists = (name for name, sub in properties.items() if _is_list(sub))
    return next((quoted(name, 40) for name in lists), "data")


def _is_list(schema: object) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "array"


def _evidence(tool: McpTool) -> str:
    """What its schemas say about whose it is, in a sentence."""
    for name, sub in _properties(tool.input_schema).items():
        if name.lower() not in WHOSE:
            continue
        values = sub.get("enum") if isinstance(sub, dict) else None
        words = [value for value in values or () if isinstance(value, str)]
        return f"Its argument {quoted(name)} takes {listed(words) or 'what it is given'}."
    told_of = sorted(WHOSE & {name for _, name, _ in arguments(tool.output_schema)})
    if told_of:
        return f"No argument of it says whose; its results name the {quoted(told_of[0])}."
    return "Its schemas do not say whose."


def _properties(schema: JsonObject) -> JsonObject:
    held = schema.get("properties")
    return held if isinstance(held, dict) else {}

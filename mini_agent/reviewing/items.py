"""One entry of a review: a tool, resource, template or prompt, and all that was read out of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

from mini_agent.approval import Decision
from mini_agent.mcp.shapes import McpTool
from mini_agent.pin import pin, reviewed
from mini_agent.reviewing.effects import Effect, effect_findings, effect_of
from mini_agent.reviewing.finding import Finding, listed, quoted
from mini_agent.reviewing.names import imitations, odd_letters
from mini_agent.reviewing.proposal import Proposal, open_questions, propose
from mini_agent.reviewing.schemas import schema_findings
from mini_agent.reviewing.suspicion import LONGEST_SEARCHED, MOST_TEXTS, suspicions, texts
from mini_agent.types import JsonObject

Kind: TypeAlias = Literal["tool", "resource", "template", "prompt"]
NO_REASON = "The reader decided so and gave no reason."
MOST_FINDINGS = 20  # of one entry; what is left out is counted
KEYS: dict[Kind, str] = {"resource": "uri", "template": "uriTemplate", "prompt": "name"}
"""By what a resource, a template and a prompt are known."""


@dataclass(frozen=True)
class Item:
    """What a server offers, what it may change, who says so, what was found, what is proposed.

    ``name`` is the server's own: a tool's or prompt's name, a resource's address. ``decided`` and
    ``because`` are the reader's; until then ``proposed`` and ``why`` are the review's. ``tool`` and
    ``effect`` are None for what is no tool.
    """

    kind: Kind
    name: str
    findings: tuple[Finding, ...]
    proposed: Decision
    why: str
    questions: tuple[str, ...] = ()
    tool: McpTool | None = None
    effect: Effect | None = None
    decided: Decision | None = None
    because: str = ""
    read_only: bool = False

    @property
    def decision(self) -> Decision:
        """The reader's decision, or what is proposed."""
        return self.decided or self.proposed

    @property
    def reason(self) -> str:
        """The reader's reason; the review's where it proposed the same and the reader gave none."""
        if self.because or self.decided in (None, self.proposed):
            return self.because or self.why
        return NO_REASON

    @property
    def changes(self) -> str:
        """What it may change, in a few words."""
        return self.effect.changes if self.effect else "nothing: it is read"

    @property
    def origin(self) -> str:
        """Where that claim comes from."""
        return self.effect.origin if self.effect else "the protocol"

    @property
    def pin(self) -> str:
        """The hash of what was reviewed of a tool, "" for what is none."""
        return pin(self.tool) if self.tool else ""


@dataclass(frozen=True)
class Neighbours:
    """Whose names a tool of this server could borrow: ``others`` are pairs of server and tool."""

    siblings: Sequence[str] = ()
    local_names: Sequence[str] = ()
    others: Sequence[tuple[str, str]] = ()


def tool_item(tool: McpTool, beside: Neighbours) -> Item:
    """The entry for ``tool``, whose name is compared with those ``beside`` it."""
    effect = effect_of(tool)
    findings = [
        *_twice(tool.name, beside.siblings),
        *imitations(tool.name, beside.siblings, beside.local_names, beside.others),
        *effect_findings(tool),
        *schema_findings(tool.input_schema),
        *text_findings(reviewed(tool)),
        *_speaks_of_others(tool, beside),
    ]
    proposal = propose(tool, effect, findings)
    return Item(
        "tool",
        tool.name,
        _bounded(findings),
        proposal.decision,
        proposal.why,
        open_questions(tool, effect),
        tool,
        effect,
    )


def read_item(kind: Kind, raw: JsonObject) -> Item:
    """The entry for a resource, a template or a prompt, as the server describes it."""
    name = str(raw.get(KEYS[kind], ""))
    findings = [*(odd_letters(name) if kind == "prompt" else ()), *text_findings(raw)]
    proposal = _propose_to_read(kind, name, findings)
    questions = ("Who writes what stands in it?",) if kind != "prompt" else ()
    return Item(kind, name, _bounded(findings), proposal.decision, proposal.why, questions)


def _propose_to_read(kind: Kind, name: str, findings: list[Finding]) -> Proposal:
    if serious := next((found for found in findings if found.serious), None):
        return Proposal("deny", f"{quoted(name)}: {serious.told}.")
    if kind == "resource":
        return Proposal(
            "allow", f"{quoted(name)} is read when the host asks for it. Its text is untrusted."
        )
    if kind == "template":
        why = "whoever fills in its variables chooses what is read."
        return Proposal("ask", f"{quoted(name)}: {why}")
    why = "its text stands where the user's words stand: it is read before it is used."
    return Proposal("ask", f"{quoted(name)}: {why}")


def text_findings(raw: JsonObject) -> list[Finding]:
    """What is suspicious in any string of ``raw``, as far as the limits of the search go."""
    found: list[Finding] = []
    left = LONGEST_SEARCHED * 5
    every = (pair for key, value in raw.items() for pair in texts(value, key))
    for where, text in islice(every, MOST_TEXTS):
        found += suspicions(where, text)
        left -= len(text)
        if left < 0:
            break
    if left < 0 or next(every, None) is not None:
        what = "holds more text than was searched"
        found.append(Finding("length", "description", what, serious=True))
    return found


def _twice(name: str, siblings: Sequence[str]) -> Iterable[Finding]:
    if siblings.count(name) > 1:
        what = "is the name of another tool of this server, too: which of them answers is not known"
        yield Finding("same name", "name", what, serious=True)


def _speaks_of_others(tool: McpTool, beside: Neighbours) -> Iterable[Finding]:
    """A description that names a tool of another server, or a local one, wants to steer its use.

    Names that are plain words (``read``, ``search``) are not looked for.
    """
    names = {*beside.local_names, *(name for _, name in beside.others)} - {*beside.siblings}
    mentioned = [n for n in sorted(names) if not n.isalpha() and n in tool.description]
    if mentioned:
        what = f"speaks of what is no tool of this server, {listed(mentioned)}"
        yield Finding("instructions", "description", what, serious=True)


def _bounded(findings: list[Finding]) -> tuple[Finding, ...]:
    """The serious ones first, and no more than a person reads."""
    inorder = sorted(findings, key=lambda found: not found.serious)
    if len(inorder) <= MOST_FINDINGS:
        return tuple(inorder)
    more = f"gives {len(inorder) - MOST_FINDINGS} findings more"
    return (*inorder[:MOST_FINDINGS], Finding("more", "the whole", more))


def parsed(kind: Kind, entries: Iterable[Any]) -> tuple[list[Item], list[str]]:
    """The items for a list of the server's, and a sentence for each entry that is none."""
    items: list[Item] = []
    left_out: list[str] = []
    for raw in entries:
        if isinstance(raw, dict) and isinstance(raw.get(KEYS[kind]), str):
            items.append(read_item(kind, raw))
        else:
            left_out.append(f"a {kind} without a {KEYS[kind]}: {quoted(str(raw), 80)}")
    return items, left_out

"""The ten questions to ask before a server is connected: answered as far as anybody can know here.

An answer names its origin. What the protocol does not say, and no reading of a list can tell, is
put to a person as an open question; nothing is invented to fill the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mini_agent.reviewing.finding import listed
from mini_agent.reviewing.items import Item, Kind


@dataclass(frozen=True)
class Question:
    """One of the ten. ``known`` is what can be said without asking anybody, and its ``origin``.

    ``open`` is what only a person can answer, "" when nothing is left; ``answer`` is what one did.
    """

    number: int
    asks: str
    known: str = ""
    origin: str = ""
    open: str = ""
    answer: str = ""

    @property
    def is_open(self) -> bool:
        """Does it wait for a person?"""
        return bool(self.open) and not self.answer


@dataclass(frozen=True)
class Known:
    """What the ten answers are made of. ``about`` is what the server calls itself and its release;
    ``carrier`` says how it is reached, "" when that is not known."""

    items: Sequence[Item]
    left_out: int
    about: str
    protocol_version: str
    carrier: str


def ten_questions(known: Known) -> tuple[Question, ...]:
    """The questions in their order, with what is known."""
    return (
        Question(1, "Which tools, resources and prompts does it expose?", *_exposed(known)),
        Question(2, "Which of them can change state?", *_changing(known)),
        Question(3, "Which user or service identity does it receive?", *_identity(known)),
        Question(4, "What network destinations can it reach?", *_destinations(known)),
        Question(
            5,
            "Which credentials does it hold?",
            open="Which keys and tokens does it have, and what do they open beyond this service?",
        ),
        Question(6, "Can what it returns influence later tool calls?", *_influence(known)),
        Question(7, "How are versions pinned?", *_pinned(known)),
        Question(8, "What is in the audit log?", *AUDITED),
        Question(9, "How can its access be revoked?", *REVOKED),
        Question(10, "What happens when it is unavailable or compromised?", *FAILED),
    )


Answer = tuple[str, str, str]
"""known, origin, open."""

AUDITED: Answer = (
    "Host(audit=AuditLog(path)) records every decision, every call before it is sent and every "
    "outcome, and makes no call that it cannot record. A review cannot see whether a host has one.",
    "how this host works",
    "Does your host have an audit log, who reads it, and how long is it kept?",
)
REVOKED: Answer = (
    "At this end: take it out of the host's servers, or deny its tools by name.",
    "how this host works",
    "Who can withdraw its credentials at the service, and how fast?",
)
FAILED: Answer = (
    "Unavailable: connecting fails before the loop begins, and a call that fails ends the run as a "
    "protocol error. Compromised: a tool that changes no longer fits its pin; what the server does "
    "behind an unchanged tool is not seen from here.",
    "how this host works",
    "What could it do in wrong hands before anybody noticed, and who would be told?",
)


def _exposed(known: Known) -> Answer:
    kinds: tuple[Kind, ...] = ("tool", "resource", "template", "prompt")
    parts = [_names(kind, [i.name for i in known.items if i.kind == kind]) for kind in kinds]
    out = f" {known.left_out} entries could not be used." if known.left_out else ""
    return "; ".join(filter(None, parts)) + "." + out if any(parts) else f"Nothing.{out}", LISTS, ""


LISTS = "the server's lists"


def _names(kind: str, names: Sequence[str]) -> str:
    many = f"{len(names)} {kind}{'s' * (len(names) != 1)}"
    return f"{many}: {listed(names)}" if names else ""


def _changing(known: Known) -> Answer:
    effects = [(item.name, item.effect) for item in known.items if item.effect]
    reading = [name for name, effect in effects if effect.reads]
    others = [name for name, effect in effects if not effect.reads]
    told = [f"By their own words or by default, {listed(others)}." if others else ""]
    told += [f"That it only reads is said of {listed(reading)}." if reading else ""]
    told += ["" if effects else "It offers no tool."]
    left = "Did anybody see that the ones that say so only read?" if reading else ""
    return " ".join(filter(None, told)), "annotations, unproven", left


def _identity(known: Known) -> Answer:
    left = "As whom does a call arrive at the service behind it, and is that the user who asked?"
    if known.carrier == "process":
        held = "It is a process of this machine, with the rights of the user that runs this host."
        return held, "the transport", left
    if known.carrier == "http":
        held = "It receives what the transport's credentials say, with every request."
        return held, "the transport", left
    return "", "", left


def _destinations(known: Known) -> Answer:
    closed = [item.name for item in known.items if item.effect and not item.effect.outside]
    told = f"To keep within its own service is said of {listed(closed)}." if closed else ""
    return (
        told,
        "annotations, unproven" if told else "",
        "What can its process or machine connect to, and does anything hold it back?",
    )


def _influence(known: Known) -> Answer:
    tools = [item.name for item in known.items if item.kind == "tool"]
    if not tools:
        return "It offers no tool whose result would reach the model.", LISTS, ""
    return (
        f"Yes. Every result of {listed(tools)} goes to the model as a tool_result, and the model "
        "chooses its next call after reading it. Approvals hold whatever it was told.",
        "how the loop works",
        "",
    )


def _pinned(known: Known) -> Answer:
    tools = sum(item.kind == "tool" for item in known.items)
    told = f"Tools: {tools}, each by a hash of what was reviewed, once Pins keep them."
    calls = f" It calls itself {known.about}." if known.about else ""
    return (
        f"{told} Protocol revision: {known.protocol_version}.{calls}",
        "this review, and the server's own word",
        "Is its release fixed where it is started or deployed, and who decides on a new one?",
    )

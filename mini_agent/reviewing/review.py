"""A review as a value: what was read, what a person decided and answered, what comes out of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from mini_agent.approval import Decision, Policy, Rule, check_decision
from mini_agent.mcp.shapes import McpTool
from mini_agent.reviewing.checklist import checklist, review_table
from mini_agent.reviewing.finding import Finding, quoted
from mini_agent.reviewing.items import Item, Kind
from mini_agent.reviewing.questions import Question


@dataclass(frozen=True)
class Review:
    """What one server offers, read once. ``server`` is the name that the host gives it.

    ``findings`` are about its instructions and what it calls itself; ``left_out`` says which
    entries of its lists could not be used. A value: ``decide`` and ``answer`` return another one.
    """

    server: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    findings: tuple[Finding, ...] = ()
    left_out: tuple[str, ...] = ()
    about: str = ""
    protocol_version: str = ""

    @property
    def tools(self) -> list[McpTool]:
        """The tools as they were reviewed, for ``Pins.keep``."""
        return [item.tool for item in self.items if item.tool]

    @property
    def names(self) -> list[tuple[str, str]]:
        """Pairs of the server's name and a tool's: the ``others`` of another server's review."""
        return [(self.server, tool.name) for tool in self.tools]

    def item(self, name: str, kind: Kind | None = None) -> Item:
        """The entry of that name, or address.

        Raises: ValueError when there is none, or when more than one kind has it.
        """
        found = [i for i in self.items if i.name == name and kind in (None, i.kind)]
        if not found:
            raise ValueError(f"server {quoted(self.server)} offers nothing named {quoted(name)}")
        if len({item.kind for item in found}) > 1:
            raise ValueError(f"{quoted(name)} is the name of two things here: say which kind")
        return found[0]

    # -- the reader's part ------------------------------------------------------------------------

    def decide(
        self,
        name: str,
        decision: Decision,
        *,
        why: str = "",
        read_only: bool = False,
        kind: Kind | None = None,
    ) -> Review:
        """With the reader's decision about one entry, and the reason for it.

        ``read_only`` is the reader's word that calling it changes nothing, so that a call which
        failed may be made again.

        Raises: ValueError for a name that is not there, a decision that is none, and for allowing
        what the review does not propose to allow without a reason of the reader's own.
        """
        check_decision(decision)
        item = self.item(name, kind)
        own = "" if why.strip() == item.why else " ".join(why.split())
        if decision == "allow" and item.proposed != "allow" and not own:
            raise ValueError(
                f"to allow {quoted(name)}, say why: the review proposes {item.proposed}"
            )
        items = (
            replace(each, decided=decision, because=own, read_only=read_only)
            if (each.kind, each.name) == (item.kind, item.name)
            else each
            for each in self.items
        )
        return replace(self, items=tuple(items))

    def answer(self, number: int, text: str) -> Review:
        """With a person's answer to one of the ten questions.

        Raises: ValueError for a number that is none of 1 to 10, and for an empty answer.
        """
        if number not in [question.number for question in self.questions]:
            raise ValueError(f"the questions have the numbers 1 to {len(self.questions)}")
        said = " ".join(text.split())
        if not said:
            raise ValueError(f"an answer to question {number} says something")
        questions = (replace(q, answer=said) if q.number == number else q for q in self.questions)
        return replace(self, questions=tuple(questions))

    # -- what comes out ---------------------------------------------------------------------------

    def policy(self, *, trusted: bool = False) -> Policy:
        """One rule for each tool, for the Host (or ``guard(policy, server=…)``), by its MCP name.

        What the reader decided holds. Of what is merely proposed, deny and ask hold; a proposed
        allow rests on the server's own word, and becomes ask unless the server is ``trusted``.
        A tool that was not there when the server was reviewed is asked about.
        """
        server = literal(self.server)
        rules = [_rule(item, server, trusted) for item in self.items if item.kind == "tool"]
        new = Rule("*", "ask", server, "it was not there when the server was reviewed")
        return Policy([*rules, new])

    def table(self) -> str:
        """The review as aligned text: a line for each entry, then the reasons and the findings."""
        return review_table(self)

    def to_markdown(self) -> str:
        """The trust checklist: decisions, reasons, findings and the ten questions, to be edited.

        Nothing that the server wrote can break the Markdown, or become a link or a picture in it.
        """
        return checklist(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What a notebook shows: the table as text, no HTML of any kind."""
        printer.text(self.table())


def _rule(item: Item, server: str, trusted: bool) -> Rule:
    unconfirmed = item.decided is None and item.proposed == "allow" and not trusted
    why = f"nobody has decided yet; {item.why}" if unconfirmed else item.reason
    decision: Decision = "ask" if unconfirmed else item.decision
    return Rule(literal(item.name), decision, server, why, item.read_only)


def literal(name: str) -> str:
    """``name`` as a pattern that matches it and nothing else, whatever a server called its tool."""
    return re.sub(r"([*?\[])", r"[\1]", name)

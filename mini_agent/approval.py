"""Who says yes: rules by name, and three ways to ask. A hook for run_agent comes out of ``guard``.

Without a hook the loop allows everything. With one, a call runs only on an Approval that says so:
a rule that denies, a question with nobody to answer it, an answer that is not yes all stop it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TextIO, TypeAlias, get_args

from mini_agent.keyboard import Lines, is_terminal
from mini_agent.types import Approval, BeforeToolCall, ToolCall
from mini_agent.visible import visible, visible_json

Decision: TypeAlias = Literal["allow", "ask", "deny"]
Approver: TypeAlias = Callable[[ToolCall, str], Approval | Awaitable[Approval]]
"""Asks somebody about a call; the text is why it is asked. One signature for every approver."""

DROPPED = "What was typed before this question does not answer it and was dropped.\n"


def deny_bash_by_default(call: ToolCall) -> Approval:
    """The smallest hook: ``bash`` is denied by its name, everything else is allowed."""
    if call.name == "bash":
        return Approval(False, "bash is denied unless the host allows it")
    return Approval(True)


@dataclass(frozen=True)
class HostCall(ToolCall):
    """A call as the host knows it, and as its approvers are asked: whose tool it is, and which.

    ``server`` is the name that the host configured, "" for a local tool; ``tool`` is the server's
    own name for it, where ``name`` is what the model was told. ``pin`` is the hash of the tool as
    the host listed it, "" for one that no server listed, which is this program's own; ``decision``
    is what the policy says.
    """

    server: str
    tool: str
    pin: str = ""
    decision: Decision = "ask"


@dataclass(frozen=True)
class Rule:
    """What to do about the tools whose name and server match. Patterns are globs, case counts.

    ``read_only`` is the reviewer's word, never the server's: such a call may be made again.
    """

    tool: str
    decision: Decision
    server: str = "*"
    why: str = ""
    read_only: bool = False

    def __post_init__(self) -> None:
        """Refuse a decision that is none, so that a typing error never allows anything."""
        check_decision(self.decision)

    def matches(self, server: str, tool: str) -> bool:
        """Does this rule speak about that server's tool?"""
        return fnmatchcase(tool, self.tool) and fnmatchcase(server, self.server)


@dataclass(frozen=True)
class Policy:
    """Rules in order: the first that matches decides, and ``default`` where none does."""

    rules: Iterable[Rule]
    default: Decision = "ask"

    def __post_init__(self) -> None:
        """Keep the rules as a tuple."""
        check_decision(self.default)
        object.__setattr__(self, "rules", tuple(self.rules))

    def decide(self, server: str, tool: str) -> Rule:
        """The rule for that server's tool. ``server`` is the name it was configured under."""
        for rule in self.rules:
            if rule.matches(server, tool):
                return rule
        return Rule(tool, self.default, server, "no rule names this tool")


def check_decision(word: str) -> None:
    """Raises: ValueError for anything but allow, ask and deny."""
    if word not in get_args(Decision):
        raise ValueError(f"a decision is allow, ask or deny, not {word!r}")


def guard(policy: Policy, approver: Approver | None = None, *, server: str = "") -> BeforeToolCall:
    """The hook that holds calls to ``policy``, for the tools of one ``server``.

    It asks ``approver`` where the policy says ask; with no approver to ask, it denies. Rules are
    held against the name that the model was told: a tool renamed by the adapter
    (``calendar.delete`` becomes ``calendar_delete``) is named in the rules as it was renamed.
    """

    async def before_tool_call(call: ToolCall) -> Approval:
        return await obey(policy.decide(server, call.name), approver, call)

    return before_tool_call


async def obey(rule: Rule, approver: Approver | None, call: ToolCall) -> Approval:
    """What ``rule`` says about ``call``; where it says ask, what ``approver`` answers.

    Raises: TypeError for an answer that is no Approval, or whose reason is no text; what the
    approver raises.
    """
    if rule.decision == "allow":
        return Approval(True, rule.why)
    if rule.decision == "deny":
        return Approval(False, rule.why or "the policy denies this tool")
    if approver is None:
        return Approval(False, because("it must be approved, and nobody is here to ask", rule))
    answer = approver(call, rule.why)
    approval = await answer if inspect.isawaitable(answer) else answer
    if not isinstance(approval, Approval):
        raise TypeError(f"the approver returned {type(approval).__name__}, not an Approval")
    if not isinstance(approval.reason, str):
        raise TypeError(f"the approver's reason is {type(approval.reason).__name__}, not a text")
    return approval


def because(what: str, rule: Rule) -> str:
    """``what``, with the rule's reason where it has one."""
    return f"{what}: {rule.why}" if rule.why else what


def calendar_policy(
    create: Decision = "deny", delete: Decision = "deny", *, server: str = "*"
) -> Policy:
    """The trust checklist of the calendar as rules: query runs, the two that change it do not.

    ``calendar_create`` is denied by name unless ``create`` says otherwise; ``calendar_delete``
    cannot be undone, so the most that ``delete`` should be is "ask": each deletion by hand.
    A tool that the checklist does not name is asked about. In a host of several servers name the
    ``server``, or another's ``calendar_query`` is trusted as the calendar's.
    """
    by_hand = "it cannot be undone; each one is confirmed by hand"
    return Policy(
        (
            Rule("calendar_query", "allow", server, "it only reads"),
            Rule("calendar_create", create, server, "it writes an appointment"),
            Rule("calendar_delete", delete, server, by_hand),
        )
    )


# -- approvers ------------------------------------------------------------------------------------


def scripted(answers: Iterable[bool | Approval]) -> Approver:
    """An approver that gives ``answers`` in order and says no when they have run out.

    Raises: TypeError for an answer that is neither a bool nor an Approval, before any is given.
    """
    given = list(answers)
    for answer in given:
        if not isinstance(answer, bool | Approval):
            raise TypeError(f"an answer is a bool or an Approval, not {type(answer).__name__}")
    left = iter(given)

    def approve(call: ToolCall, why: str) -> Approval:
        answer = next(left, Approval(False, "the scripted answers have run out"))
        if isinstance(answer, Approval):
            return answer
        return Approval(answer, "the script said yes" if answer else "the script said no")

    return approve


def ask_in_terminal(stdin: TextIO | None = None, stdout: TextIO | None = None) -> Approver:
    """An approver that shows the whole call and waits for ``y``; anything else is no.

    So is the end of input, and a stdin or stdout that is no terminal: a pipe has nobody's word.
    Only what is typed after the question answers it: what came before is dropped, and said to be.
    """

    async def approve(call: ToolCall, why: str) -> Approval:
        source, shown = stdin or sys.stdin, stdout or sys.stdout
        if not (is_terminal(source) and is_terminal(shown)):
            return Approval(False, "there is no terminal to ask in")
        try:
            about, _, asked = question(call, why).rpartition("\n")
        except RecursionError:
            return Approval(False, "its arguments are nested too deeply to be shown")
        show(shown, about + "\n")
        lines = Lines(source)
        show(shown, (DROPPED if await lines.drop() else "") + asked)
        if (await lines.read()).strip().lower() in ("y", "yes"):
            return Approval(True, "approved in the terminal")
        return Approval(False, "denied in the terminal")

    return approve


def show(stream: TextIO, text: str) -> None:
    """Write ``text`` so that it is seen now."""
    stream.write(text)
    stream.flush()


def question(call: ToolCall, why: str) -> str:
    """All that a person needs: the tool, why it is asked, every argument in full, the question.

    Nothing of it can act on the screen: control, bidi and invisible characters are spelt out. The
    name comes again at the end, where long arguments cannot push it out of sight.
    """
    name = visible(call.name)
    lines = [whose(call), f"Tool: {name}", f"Why it is asked: {visible(why)}" if why else ""]
    lines += ["Arguments:", visible_json(call.input), f"Allow {name}? [y/N] "]
    return "\n".join(line for line in lines if line)


def whose(call: ToolCall) -> str:
    """A line about the server of a HostCall, with its own name for the tool; "" for other calls."""
    if not isinstance(call, HostCall) or not call.server:
        return ""
    server, tool = visible(call.server), visible(call.tool)
    if not call.pin:  # no server listed it
        return f"Server: {server}, through {tool}, a tool of this program"
    return f"Server: {server}" + (f", which calls the tool {tool}" if tool != call.name else "")

"""What holds for every task, as functions: a task in, sentences out, [] when it holds.

Each sentence names the task and says what to do.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from exercises.machine.judge import judge
from exercises.machine.task import MakeAnswer, Task
from exercises.machine.verdict import Verdict

SECONDS = 2.0  # for a part of a wrong answer that does not come back
FEWEST_WORDS = 3  # of a line of the solution that a hint may not hold


VERDICTS: dict[MakeAnswer, Verdict] = {}  # one run of an answer serves every rule


def on(task: Task, make: MakeAnswer) -> Verdict:
    """The verdict on an answer of this task."""
    if make not in VERDICTS:
        VERDICTS[make] = judge(task, make(), SECONDS)
    return VERDICTS[make]


# -- answers --------------------------------------------------------------------------------------


def stub(task: Task) -> list[str]:
    """The stub fails, kindly: "not yet", and what is to be written or what it does not do."""
    verdict = judge(task, task.make_stub(), SECONDS)
    found = []
    if verdict.passed:
        found.append(f"{task.id}: the stub passes")
    if not verdict.text.startswith(f"{task.plain_heading}\nNot yet. "):
        found.append(f"{task.id}: the stub's message does not begin with Not yet")
    if task.started is None and not verdict.untouched:
        found.append(f"{task.id}: the stub is judged; it must be refused as still to write")
    crashed = [f.part for f in verdict.findings if f.wanted == "no exception"]
    if task.started is not None and len(crashed) == len(task.parts):
        found.append(f"{task.id}: every part of the stub ends in an exception")
    return found


def right_answers(task: Task) -> list[str]:
    """The solution passes, and so does at least one answer written in another way."""
    if task.solved is None or not task.rights:
        return [f"{task.id}: it needs a solution, and a right answer that is written differently"]
    return [
        f"{task.id}: {make.__name__} must pass and does not:\n{on(task, make)}"
        for make in (task.solved, *task.rights)
        if not on(task, make).passed
    ]


def wrong_answers(task: Task) -> list[str]:
    """At least two wrong answers, and each is told, on the page, the idea that it misses."""
    found = [] if len(task.wrongs) >= 2 else [f"{task.id}: it needs two wrong answers or more"]
    for wrong in task.wrongs:
        verdict = on(task, wrong.make)
        if verdict.passed:
            found.append(f"{task.id}: {wrong.name} passes")
        elif wrong.words not in " ".join(verdict.text.split()):
            found.append(f"{task.id}: {wrong.name} is not told {wrong.words!r}:\n{verdict}")
    return found


def idle_parts(task: Task) -> list[str]:
    """Without any one part some wrong answer would get through."""
    failed = [
        {f.part for f in on(task, wrong.make).findings if f.state != "holds"}
        for wrong in task.wrongs
    ]
    return [
        f"{task.id}: dropping the part {part.name!r} lets no wrong answer through: write one that "
        "fails this part alone, or drop the part"
        for part in task.parts
        if {part.name} not in failed
    ]


def again(task: Task) -> list[str]:
    """A check leaves nothing behind: after all the others, the solution passes once more."""
    assert task.solved is not None
    for wrong in task.wrongs:
        on(task, wrong.make)
    verdict = judge(task, task.solved())
    return [] if verdict.passed else [f"{task.id}: a check before it changed this one:\n{verdict}"]


def drawings(task: Task) -> list[str]:
    """What a failing part draws can be drawn."""
    return [
        f"{task.id}: {wrong.name} is to be shown a drawing, and there is none"
        for wrong in task.wrongs
        if any(f.state == "fails" and f.draw for f in on(task, wrong.make).findings)
        and len(on(task, wrong.make).displays()) != 2
    ]


def forgot_to_return(task: Task) -> list[str]:
    """An answer that returns nothing is told what was expected, and no exception of the check."""
    if not callable(task.make_stub()):
        return []
    verdict = judge(task, returns_nothing(task.make_stub()), SECONDS)
    return [
        f"{task.id}: judge the shape before you use it, {finding.part!r} says {finding.came}"
        for finding in verdict.findings
        if (finding.wanted == "no exception" and "object has no attribute" not in finding.came)
        or "'NoneType' object" in finding.came
    ]


def returns_nothing(stub: Any) -> Any:
    """Something like the stub whose functions all return None."""

    async def later(*_: object, **__: object) -> None: ...

    def at_once(*_: object, **__: object) -> None: ...

    if not inspect.isclass(stub):
        return later if inspect.iscoroutinefunction(stub) else at_once
    methods = {name: f for name, f in vars(stub).items() if inspect.isfunction(f)}
    empty = {n: later if inspect.iscoroutinefunction(f) else at_once for n, f in methods.items()}
    kept = {"__init__": methods["__init__"]} if "__init__" in methods else {}
    return type(stub.__name__, (), {**empty, **kept})


# -- words ----------------------------------------------------------------------------------------


def words(task: Task) -> list[str]:
    """Everything is said, once, and no name is used twice."""
    names = [part.name for part in task.parts], [wrong.name for wrong in task.wrongs]
    said = (task.title, task.section, task.text, *task.hints, *(p.idea for p in task.parts))
    found = [f"{task.id}: two have one name" for group in names if len(set(group)) < len(group)]
    found += [f"{task.id}: something is not said" for text in said if not text.strip()]
    if len(set(task.hints)) != 3:
        found.append(f"{task.id}: three hints, each another one")
    if not 1 <= task.minutes <= 60:
        found.append(f"{task.id}: {task.minutes} minutes")
    return found


def told_too_much(task: Task) -> list[str]:
    """Neither the text nor a hint holds a line that only the solution has."""
    known = squeezed(task.stub_text)
    return [
        f"{task.id}: {name} holds a line of the solution: {line}"
        for line in task.solution_text.splitlines()
        for name, text in [("its text", task.text), *((f"hint {h[:20]!r}", h) for h in task.hints)]
        if len(re.findall(r"\w+", line)) >= FEWEST_WORDS
        and squeezed(line) not in known
        and squeezed(line) in squeezed(text)
    ]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


ALL = (
    stub, right_answers, wrong_answers, idle_parts, again, drawings, forgot_to_return, words,
    told_too_much,
)  # fmt: skip

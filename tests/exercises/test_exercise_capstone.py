"""The capstone: the template is told so, a whole one passes, each wrong one is told its idea."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import task_rules
from test_exercise_notebooks import RULES, nbval
from test_exercise_tasks import headings

from exercises import capstone_server, check, hint, progress, reset, solution, start
from exercises.build import HERE, assemble, build
from exercises.machine import store
from exercises.machine.cells import for_nbgrader, link, solved, unsolved
from exercises.machine.judge import judge
from exercises.machine.shelf import get_set, get_task
from exercises.machine.verdict import Verdict
from mini_agent.catalog import Review, review
from mini_agent.design_notes import FAILURES, Notes, accept, write
from mini_agent.mcp import McpClient, StdioTransport
from mini_agent.types import JsonObject

pytestmark = pytest.mark.sends_wrong("wrong servers send wrong messages")

SET, TASK = get_set("capstone"), get_task("capstone")
TESTS = next(part for part in TASK.parts if part.name[0] == "4")

# A service with nothing of the kit in it: JSON lines on stdin and stdout.
LAMP = """
import json, sys

LEVEL = 1
NOTHING = {"type": "object"}
NUMBER = {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}
TOOLS = [
    {"name": "lamp_state", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "lamp_set", "inputSchema": NUMBER},
]
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}

def call(name, arguments):
    global LEVEL
    if name != "lamp_state":
        if arguments.get("level", 0) > 9:
            return {"content": [{"type": "text", "text": "9 at most."}], "isError": True}
        LEVEL = arguments.get("level", LEVEL + 1)
    return {"content": [{"type": "text", "text": f"The level is {LEVEL}."}]}

def result(method, params):
    if method == "tools/call":
        return call(params["name"], params["arguments"])
    return {"tools": TOOLS} if method == "tools/list" else DISCOVERED

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        said = {"resultType": "complete", **result(message["method"], message["params"])}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": said}), flush=True)
"""
BLINK = """
    {"name": "lamp_blink", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
]
DISCOVERED"""
READ, SET_IT = "It only reads the level.", "Somebody sits below it, and is asked."


@dataclass(frozen=True)
class Lamp:
    """A learner's answer in the making: what it says, and where it lies."""

    server: str = LAMP
    set_to: int = 3
    decided: Callable[[Review], Review] = lambda reviewed: reviewed.decide(
        "lamp_set", "ask", why=SET_IT
    )
    purpose: str = "Light for the desk."

    async def notes(self, client: McpClient) -> Notes:
        reviewed = (await review(client, server="lamp")).decide("lamp_state", "allow", why=READ)
        examples: dict[str, JsonObject] = {"lamp_state": {}, "lamp_set": {"level": self.set_to}}
        examples |= {tool.name: {} for tool in reviewed.tools if tool.name not in examples}
        notes = Notes(self.decided(reviewed), self.purpose, "Robin.", examples)
        for row in FAILURES:
            notes = notes.failing(row.what, f"Here: {row.what} ends the run.")
        return notes

    def written(self, here: Path) -> dict[str, Any]:
        """The answer, with its server and its folder of notes in ``here``."""
        (here / "lamp.py").write_text(self.server, "utf-8")
        answer = {
            "command": [sys.executable, str(here / "lamp.py")],
            "notes": self.notes,
            "folder": here / "notes",
        }
        asyncio.run(self.write_notes(answer))
        return answer

    async def write_notes(self, answer: dict[str, Any]) -> None:
        async with McpClient(StdioTransport(answer["command"])) as client:
            await write(await self.notes(client), answer["folder"])


def failed(verdict: Verdict) -> str:
    """The numbers of the parts that do not hold."""
    return "".join(finding.part[0] for finding in verdict.findings if finding.state != "holds")


def without_tests(answer: dict[str, Any]) -> Verdict:
    """The verdict but for part 4, whose test file is the one that the whole lamp passes with."""
    return judge(replace(TASK, parts=[part for part in TASK.parts if part is not TESTS]), answer)


# -- the template, the steps, the whole -----------------------------------------------------------


def test_the_template_alone_is_told_that_it_is_the_template() -> None:
    verdict = check("capstone", TASK.make_stub())
    assert verdict.text.startswith(f"{TASK.plain_heading}\nNot yet. 0 of 6 parts hold.")
    assert [f.state for f in verdict.findings] == ["fails", *["to write"] * 5]
    assert "the template's: books_list, books_add" in verdict.text
    assert not store.progress_file().exists()


def test_with_a_server_of_ones_own_the_next_steps_say_what_they_need(tmp_path: Path) -> None:
    (tmp_path / "lamp.py").write_text(LAMP, "utf-8")
    command = [sys.executable, str(tmp_path / "lamp.py")]
    stub = TASK.make_stub()
    verdict = judge(TASK, {**stub, "command": command, "folder": tmp_path / "none"})
    states = [finding.state for finding in verdict.findings]
    assert states == ["holds", "fails", "fails", "to write", "to write", "to write"]
    assert "an example for every tool" in verdict.text and "lamp_set, lamp_state" in verdict.text


def test_the_solution_passes_in_the_cells_of_the_notebook_and_is_noted() -> None:
    space: dict[str, object] = {"__name__": "__main__"}
    for cell in solved(SET):
        if cell.kind == "code" and not cell.metadata:
            exec(compile(cell.text, "<capstone>", "exec"), space)
    assert store.read(store.progress_file()).passed == {"capstone"}
    assert "capstone  1 of 1" in progress().text and "capstone  passed" in progress().text
    assert solution("capstone").text == TASK.solution_text


def test_a_service_without_the_kit_passes_and_its_folder_is_accepted(tmp_path: Path) -> None:
    answer = Lamp().written(tmp_path)
    verdict = without_tests(answer)
    assert verdict.passed, verdict
    assert accept(answer["folder"]).accepted  # which runs its tests


# -- wrong answers --------------------------------------------------------------------------------


def twice_the_same(reviewed: Review) -> Review:
    return reviewed.decide("lamp_set", "ask", why=READ)


def it_is_only_a_lamp(reviewed: Review) -> Review:
    return reviewed.decide("lamp_set", "allow", why="It is only a lamp, after all.")


def its_word_for_it(reviewed: Review) -> Review:
    blinks = reviewed.decide("lamp_blink", "allow", why="It says that it only reads.")
    return blinks.decide("lamp_set", "ask", why=SET_IT)


ONLY_READS = LAMP.replace('{"name": "lamp_set", "inputSchema": NUMBER},', "")
LIES = LAMP.replace("]\nDISCOVERED", BLINK.lstrip("\n"))
WRONG = {
    "it can only read": (
        Lamp(ONLY_READS, decided=lambda reviewed: reviewed), "1", "one that can change something",
    ),
    "an example that the service refuses": (Lamp(set_to=10), "2", "a call that works"),
    "a write is allowed": (Lamp(decided=it_is_only_a_lamp), "3", "the policy decides"),
    "an annotation is believed": (
        Lamp(LIES, decided=its_word_for_it), "3", "whatever its annotation says",
    ),
    "one reason for everything": (Lamp(decided=twice_the_same), "5", "A reason is what"),
    "nobody has decided": (Lamp(decided=lambda reviewed: reviewed), "5", "months from now"),
    "the purpose is the template's": (
        Lamp(purpose="(say this in your own words)"), "6", "nobody's decision",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_fails_one_part_alone_and_is_told_its_idea(
    name: str, tmp_path: Path
) -> None:
    lamp, part, words = WRONG[name]
    verdict = without_tests(lamp.written(tmp_path))
    assert failed(verdict) == part, verdict
    assert words in " ".join(finding.idea for finding in verdict.findings)


def test_tests_that_look_at_nothing_fail_part_4_alone(tmp_path: Path) -> None:
    answer = Lamp().written(tmp_path)
    lazy = "".join(f"\n\ndef test_{n}():\n    assert McpClient\n" for n in range(3))
    draft = tmp_path / "notes" / "test_lamp.py"
    draft.write_text(f"from mini_agent.mcp import McpClient\n{lazy}", "utf-8")
    verdict = judge(TASK, answer)
    assert failed(verdict) == "4" and "has looked at nothing" in verdict.text.replace("\n", " ")


def test_a_checklist_from_before_the_last_decision_fails_part_5_alone(tmp_path: Path) -> None:
    answer = Lamp().written(tmp_path)
    stricter = Lamp(decided=lambda reviewed: reviewed.decide("lamp_set", "deny", why=SET_IT))
    verdict = without_tests({**answer, "notes": stricter.notes})
    assert failed(verdict) == "5", verdict
    assert "must say what the host does today" in " ".join(f.idea for f in verdict.findings)


@pytest.mark.parametrize(
    "odd",
    [{}, {"command": "python lamp.py"}, {"command": ["no-such-program"], "notes": None},
     {"command": [sys.executable, "-c", "print('hello')"], "notes": print, "folder": "/none"}],
)  # fmt: skip
def test_an_odd_answer_is_judged_and_nothing_else(odd: dict[str, Any]) -> None:
    verdict = judge(TASK, odd)
    assert verdict.text.startswith(f"{TASK.plain_heading}\nNot yet. ")
    assert verdict.findings[0].state == "fails" and "KeyError" not in verdict.text


# -- the files ------------------------------------------------------------------------------------


def test_the_template_speaks_the_protocol_line_by_line() -> None:
    about = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    about |= {"io.modelcontextprotocol/clientCapabilities": {}}  # type: ignore[dict-item]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": about}}
    done = subprocess.run(
        [sys.executable, str(HERE / "capstone_server.py")],
        input=json.dumps(asked) + "\n", capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    (line,) = done.stdout.splitlines()
    names = [tool["name"] for tool in json.loads(line)["result"]["tools"]]
    assert names == ["books_list", "books_add"] == [t.name for t in capstone_server.SERVER.tools]  # type: ignore[union-attr]


def test_start_brings_the_server_and_never_writes_over_it(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    mine, original = work / "capstone_server.py", HERE / "capstone_server.py"
    assert mine.read_text("utf-8") == original.read_text("utf-8")
    mine.write_text(LAMP, "utf-8")
    start()
    assert mine.read_text("utf-8") == LAMP
    monkeypatch.chdir(work)  # where the notebook's kernel is
    assert judge(TASK, TASK.make_stub()).findings[0].state == "holds"
    assert "before-1" in reset("capstone").text
    assert (work / "capstone_server.before-1.py").read_text("utf-8") == LAMP
    assert mine.read_text("utf-8") == original.read_text("utf-8")


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the stored bytes are those of Python 3.11"
)
def test_building_it_again_gives_the_committed_bytes() -> None:
    assert build(SET) == (HERE / "capstone.ipynb").read_text("utf-8"), "exercises.build capstone"


def test_its_notebook_keeps_the_rules_and_a_kernel_says_the_same(tmp_path: Path) -> None:
    assert [line for rule in RULES for line in rule(assemble(SET, unsolved(SET)))] == []
    (tmp_path / "capstone.ipynb").write_text(build(SET), encoding="utf-8")
    done = nbval(tmp_path)
    assert done.returncode == 0, done.stdout


def test_its_words_give_nothing_away_and_its_links_lead_somewhere() -> None:
    assert task_rules.told_too_much(TASK) == []
    assert len(set(TASK.hints)) == 3 and hint("capstone").text.startswith("Hint 1 of 3. ")
    assert TASK.section in headings("19_design_notes")
    assert "(../notebooks/19_design_notes.ipynb#Now-yours)" in link(TASK)
    assert [cell.kind for cell in for_nbgrader(SET)][-2:] == ["code", "code"]

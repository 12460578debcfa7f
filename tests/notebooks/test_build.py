"""Source in, executed notebook out, the same bytes on every run; a mistake is one clear error."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import notebook_rules as rules
import psutil
import pytest
from nbformat import NotebookNode
from sample import SAMPLE

from notebooks import glossary
from notebooks.build import HERE, WIDGET, BuildError, assemble, build


@pytest.fixture
def sample(sample_text: str) -> NotebookNode:
    return nbformat.reads(sample_text, as_version=4)


def source(tmp_path: Path, *cells: str) -> Path:
    path = tmp_path / "99_test.py"
    path.write_text("".join(f"# %%{cell}\n\n" for cell in cells), encoding="utf-8")
    return path


def failure(path: Path) -> str:
    with pytest.raises(BuildError) as caught:
        build(path)
    return str(caught.value)


def test_two_builds_are_the_same_bytes(sample_source: Path, sample_text: str) -> None:
    assert build(sample_source) == sample_text


def test_the_built_notebook_is_valid_and_keeps_the_rules(sample: NotebookNode) -> None:
    nbformat.validate(sample)
    assert rules.unexecuted(sample) == rules.torn_tags(sample) == rules.wrong_errors(sample) == []
    assert rules.unstable(sample) == rules.banned(sample) == []


def test_nothing_of_this_run_is_stored(sample: NotebookNode, sample_text: str) -> None:
    assert [cell.id for cell in sample.cells] == [f"98-{n:03d}" for n in range(1, 11)]
    assert set(sample.metadata) == {"kernelspec", "language_info"}
    assert "version" not in sample.metadata.language_info
    assert WIDGET not in sample_text
    assert sample_text.endswith("}\n")


def test_a_widget_keeps_its_text(sample: NotebookNode) -> None:
    (shown, _) = sample.cells[6].outputs
    assert shown.data["text/plain"].startswith("Button(description='Approve'")


def test_streams_are_joined_and_tracebacks_are_cut_to_their_last_line(sample: NotebookNode) -> None:
    (stream,) = sample.cells[7].outputs
    assert len(stream.text.splitlines()) == 50
    (error,) = sample.cells[4].outputs
    assert (error.ename, error.traceback) == ("JsonRpcError", [f"JsonRpcError: {error.evalue}"])


def test_what_the_cell_names_is_pasted_above_the_cells_own_code(sample: NotebookNode) -> None:
    text = sample.cells[2].source
    assert text.startswith("def parse_response(message: JsonObject) -> JsonObject:\n    check_mess")
    assert text.endswith(
        'return result\n\nparse_response({"jsonrpc": "2.0", "id": 1, "result": {"ok": True}})'
    )
    assert sample.cells[5].outputs[0].text == "a class and its part Trace.events\n"


def test_cells_run_in_the_folder_of_the_notebooks(sample: NotebookNode) -> None:
    assert sample.cells[9].outputs[0].data["text/plain"] == repr(HERE.name)


def test_a_cell_with_the_header_glossary_has_the_table_below_its_own_text(tmp_path: Path) -> None:
    own = " [markdown] glossary\n# ## Glossary\n#\n# Every word."
    shown, other = assemble(source(tmp_path, own, " [markdown]\n# b")).cells
    assert shown.source == f"## Glossary\n\nEvery word.\n\n{glossary.table()}"
    assert (shown.metadata, other.source) == ({}, "b")
    links = re.findall(r"\]\(([^)]+)\)", shown.source)
    assert links and all((HERE / link).exists() for link in links)


def test_assembling_executes_nothing(sample_source: Path) -> None:
    assert {cell.get("execution_count") for cell in assemble(sample_source).cells} == {None}


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (" include mini_agent.mcp.messages.nothing", "mini_agent.mcp.messages defines no nothing"),
        (" inclde mini_agent.mcp.messages.encode", "cannot read the header"),
        (' tag=["live"]', "cannot read the header"),
        (" glossary", "cannot read the header"),
        (" [markdown] glossary of terms", "cannot read the header"),
        (" [markdown] include mini_agent.mcp.messages.encode", "cannot read the header"),
        (' tags=["nbval-skip"]', "both tags"),
        (' tags=["skip-execution"]', "both tags"),
    ],
)
def test_a_header_that_says_something_else_names_notebook_and_cell(
    tmp_path: Path, header: str, part: str
) -> None:
    message = failure(source(tmp_path, "\n1", f"{header}\n2"))
    assert message.startswith("99_test, cell 99-002: ")
    assert part in message


def test_a_cell_that_fails_is_named_with_its_error(tmp_path: Path) -> None:
    message = failure(source(tmp_path, "\n1", "\n1 / 0"))
    assert "cell 99-002" in message and "ZeroDivisionError" in message


def test_a_cell_that_should_fail_and_does_not_is_named(tmp_path: Path) -> None:
    message = failure(source(tmp_path, ' tags=["raises-exception"]\n1'))
    assert message == "cell 99-001 is tagged raises-exception and raised nothing"


SLEEPER = """
import subprocess
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(child.pid, file=open({!r}, "w"), flush=True)"""
LEAVING = """
import asyncio, os, socket
server = socket.create_server(("127.0.0.1", 0))
os.chdir({!r})
local = socket.socket(socket.AF_UNIX)
local.bind(f"{{os.getpid()}}.sock")
local.listen()
task = asyncio.create_task(asyncio.sleep(600))"""
CLOSING = """
child.kill(); child.wait(); server.close(); local.close()
assert task.cancel()"""


def ended(pid_file: Path) -> bool:
    """The process whose id the file holds runs no more."""
    pid = int(pid_file.read_text())
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_whatever_is_left_running_is_named_and_ended(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    left = (SLEEPER.format(str(pid_file)), LEAVING.format(str(tmp_path)))
    said = failure(source(tmp_path, *left))
    assert "left running at the end: a socket on port" in said
    for what in ("a unix socket at", "an asyncio task of sleep", "process sleep 600"):
        assert f", {what}" in said
    assert ended(pid_file)
    assert "99-003" in build(source(tmp_path, *left, CLOSING))


def test_a_child_of_a_notebook_that_fails_is_ended_as_well(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    assert "ZeroDivisionError" in failure(
        source(tmp_path, SLEEPER.format(str(pid_file)), "\n1 / 0")
    )
    assert ended(pid_file)


def test_the_sample_uses_what_it_claims_to() -> None:
    assert "include" in SAMPLE and "raises-exception" in SAMPLE and "skip-execution" in SAMPLE

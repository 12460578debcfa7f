"""Build the notebooks: notebooks/source/NN_topic.py in, executed notebooks/NN_topic.ipynb out.

    make notebooks            all of them
    make notebooks NB=03      those whose name begins with 03

The same source gives the same bytes on every run. How to write a source (py:percent):

    # %% [markdown]                          a text cell: comment lines in Markdown
    # %%                                     a code cell; top-level await works
    # %% include mini_agent.mcp.messages.parse_response parse_error
                                             a code cell that begins with these definitions as they
                                             stand in the package, docstrings cut; a name without a
                                             module belongs to the module before it. Your own code
                                             may follow in the same cell.
    # %% include mini_agent.mcp.stdio.StdioTransport(__init__, send)
                                             the class with these methods only (and its attributes);
                                             StdioTransport() keeps the attributes alone
    # %% include mini_agent.mcp.stdio.StdioTransport.close
                                             one method, below @part_of(StdioTransport); import
                                             part_of from mini_agent.workbook
    # %% tags=["raises-exception"]           must end in an error; its last line is stored
    # %% tags=["nbval-skip", "skip-execution"]     live: run by the reader only, never here
    # %% [markdown] taken="mini_agent.mcp.messages"
                                             the closing table of what that module holds and the
                                             notebook did not show: | `encode`, `Trace.add` | why |
    # %% [markdown] glossary                 a text cell that ends with the glossary's table

Tags follow an include on the same line. What pasted code uses must be imported above it, also for
annotations (or begin with `from __future__ import annotations`). Cells run in this folder here, and
in another for readers: no relative paths. Within a cell, print before you draw: its streams are
joined. Outputs hold no address, port, path, time or id. The last cell closes what was opened: a
child process, a listening socket or an asyncio task that is left fails the build.
`# NBVAL_IGNORE_OUTPUT` stands on a line of its own, the reason on the next. A `# noqa` is for ruff,
and is not shown to readers.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
import psutil
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

from notebooks import glossary
from notebooks.paste import PRAGMA, paste

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "source"
SECONDS_A_CELL = 60
LOOKS_AT_THE_END = 20  # a tenth of a second apart: what was told to end may take a moment
TASKS = "[t.get_coro().__qualname__ for t in __import__('asyncio').all_tasks()]"
LIVE = {"nbval-skip", "skip-execution"}
WIDGET = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}


class BuildError(Exception):
    """A source that cannot become a notebook. The message names notebook, cell and reason."""


def build(source: Path, cwd: Path = HERE) -> str:
    """The text of the executed notebook for ``source``.

    Raises: BuildError for an include that does not resolve, a cell that fails (or does not, where
    it should), a pair of tags torn apart, or something left running.
    """
    notebook = assemble(source)
    left = asyncio.run(execute(notebook, cwd))
    if left:
        raise BuildError(f"{source.stem}: left running at the end: {', '.join(left)}")
    for cell in notebook.cells:
        tidy(cell)
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


# -- source to cells ------------------------------------------------------------------------------


def assemble(source: Path) -> NotebookNode:
    """The notebook with everything pasted in and nothing executed."""
    notebook: NotebookNode = jupytext.read(source, fmt="py:percent")
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"{source.stem[:2]}-{number:03d}"
        try:
            fill(cell)
        except ValueError as error:
            raise BuildError(f"{source.stem}, cell {cell.id}: {error}") from error
    return notebook


def fill(cell: NotebookNode) -> None:
    """Paste or append what the cell's header asks for, and leave only its tags as metadata.

    Raises: ValueError for a header that says something else, or live tags that lack their pair.
    """
    header = cell.metadata.pop("title", "")
    for name in ("taken", "lines_to_next_cell"):  # the second is jupytext's own
        cell.metadata.pop(name, None)
    word, _, names = header.partition(" ")
    known = ("", "include") if cell.cell_type == "code" else ("", "glossary")
    if word not in known or (names and word != "include") or set(cell.metadata) - {"tags"}:
        raise ValueError(f"cannot read the header {header or dict(cell.metadata)!r}")
    above = paste(names) if word == "include" else ""
    below = glossary.table() if word == "glossary" else ""
    own = PRAGMA.sub("", cell.source) if cell.cell_type == "code" else cell.source
    cell.source = "\n\n".join(filter(None, [above, own, below]))
    if LIVE & set(tags(cell)) not in (set(), LIVE):
        raise ValueError("a live cell carries both tags, nbval-skip and skip-execution")


def tags(cell: NotebookNode) -> list[str]:
    """The cell's tags, [] when it has none."""
    return list(cell.metadata.get("tags", []))


# -- cells to outputs -----------------------------------------------------------------------------


async def execute(notebook: NotebookNode, cwd: Path) -> list[str]:
    """Run every cell that is not live in a fresh kernel, as nbval does; name what is left running.

    Raises: BuildError for a cell that fails, or does not where its tag says that it must.
    """
    manager = AsyncKernelManager(
        kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager()
    )
    client = NotebookClient(
        notebook, km=manager, timeout=SECONDS_A_CELL,
        coalesce_streams=True, record_timing=False, store_widget_state=False,
    )  # fmt: skip
    opened = client.async_setup_kernel(cwd=str(cwd), stderr=subprocess.DEVNULL, cleanup_kc=True)
    async with opened:
        assert isinstance(manager.provisioner, LocalProvisioner)
        kernel = psutil.Process(manager.provisioner.pid)
        try:
            own = await running(client, kernel)
            for index, cell in enumerate(notebook.cells):
                await run(client, cell, index)
            return await left_running(client, kernel, own)
        finally:
            kill_children(kernel)


async def run(client: NotebookClient, cell: NotebookNode, index: int) -> None:
    """Execute one cell. Raises: BuildError naming it."""
    try:
        await client.async_execute_cell(cell, index)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise BuildError(f"cell {cell.id}: {error}") from error
    failed = any(output.output_type == "error" for output in cell.get("outputs", []))
    if "raises-exception" in tags(cell) and not failed:
        raise BuildError(f"cell {cell.id} is tagged raises-exception and raised nothing")


async def left_running(
    client: NotebookClient, kernel: psutil.Process, own: Counter[str]
) -> list[str]:
    """What runs and did not at the start, once the last cell's closing had a moment."""
    for _ in range(LOOKS_AT_THE_END):
        found = await running(client, kernel) - own
        if not found:
            break
        await asyncio.sleep(0.1)
    return sorted(found.elements())


async def running(client: NotebookClient, kernel: psutil.Process) -> Counter[str]:
    """The child processes, listening sockets and asyncio tasks of a kernel, by what they are."""
    return Counter([*children(kernel), *listening(kernel), *await tasks(client)])


async def tasks(client: NotebookClient) -> list[str]:
    """The kernel's asyncio tasks, asked for outside the notebook's cells and their numbers."""
    assert isinstance(client.kc, AsyncKernelClient)
    reply = await client.kc.execute_interactive(
        "", silent=True, store_history=False, user_expressions={"tasks": TASKS}
    )
    names = reply["content"]["user_expressions"]["tasks"]["data"]["text/plain"]
    return [f"an asyncio task of {name}" for name in ast.literal_eval(names)]


def listening(process: psutil.Process) -> list[str]:
    """The sockets on which a process accepts connections; a unix socket that has a name may."""
    inet = process.net_connections(kind="inet")
    ports = sorted({c.laddr.port for c in inet if c.status == psutil.CONN_LISTEN})
    names = sorted({c.laddr for c in process.net_connections(kind="unix") if c.laddr})
    return [f"a socket on port {p}" for p in ports] + [f"a unix socket at {n}" for n in names]


def kill_children(process: psutil.Process) -> None:
    """End what is left, also in a session of its own: ending the kernel would not reach it."""
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in process.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


def children(process: psutil.Process) -> list[str]:
    """The commands of all processes below this one that still run."""
    found = []
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it may end while we look
            if child.status() != psutil.STATUS_ZOMBIE:
                found.append(f"process {' '.join(child.cmdline())[:100]}")
    return found


def tidy(cell: NotebookNode) -> None:
    """Drop what differs from run to run: widget models, tracebacks but for their last line."""
    for output in cell.get("outputs", []):
        output.get("data", {}).pop(WIDGET, None)
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]


def main() -> int:
    """Build the notebooks whose names begin as the arguments say; all without arguments."""
    parser = argparse.ArgumentParser(description="Build the notebooks from notebooks/source.")
    parser.add_argument("names", nargs="*", help="beginnings of names, for example 03")
    names = tuple(parser.parse_args().names) or ("",)
    sources = [path for path in sorted(SOURCES.glob("*.py")) if path.stem.startswith(names)]
    if not sources:
        sys.exit(f"no source in {SOURCES} begins with {' or '.join(names) or 'anything'}")
    for source in sources:
        start = time.monotonic()
        try:
            text = build(source)
        except BuildError as error:
            sys.exit(f"notebooks: {error}")
        (HERE / f"{source.stem}.ipynb").write_text(text, encoding="utf-8", newline="\n")
        print(f"built {source.stem}.ipynb in {time.monotonic() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

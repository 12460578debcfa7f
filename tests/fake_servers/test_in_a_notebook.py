"""A server that starts in one cell, serves another and stops in a third, in a real kernel."""

from __future__ import annotations

import nbformat
from nbclient import NotebookClient

CELLS = (
    "from fake_servers.calendar import calendar_server\n"
    "from fake_servers.http import serve\n"
    "from fake_servers import faults\n"
    "import asyncio, signal, httpx\n"
    "sigint = signal.getsignal(signal.SIGINT)\n"
    "running, bad = serve(calendar_server()), faults.http('status_429')\n"
    "await running.start(); await bad.start()\n"
    "signal.getsignal(signal.SIGINT) is sigint",
    "async with httpx.AsyncClient(trust_env=False) as http:\n"
    "    answers = [await http.get(running.url) for _ in range(3)]\n"
    "[answer.status_code for answer in answers]",
    "await running.stop(); await bad.stop()\n"
    "async with serve(calendar_server()) as second:\n"
    "    pass\n"
    "[task.get_name() for task in asyncio.all_tasks() if 'fake_servers' in repr(task)]",
    "async with httpx.AsyncClient(trust_env=False) as http:\n"
    "    for url in (running.url, second.url, bad.url):\n"
    "        try:\n"
    "            await http.get(url)\n"
    "        except httpx.ConnectError:\n"
    "            print('nobody')",
)


def test_start_use_and_stop_in_cells_of_their_own() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0][0]["data"]["text/plain"] == "True"
    assert outputs[1][0]["data"]["text/plain"] == "[405, 405, 405]"
    assert outputs[2][0]["data"]["text/plain"] == "[]"
    assert outputs[3][0]["text"] == "nobody\nnobody\nnobody\n"
    assert [len(cell) for cell in outputs] == [1, 1, 1, 1]

"""Client and server must not share a bug: who may import what, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import fake_servers

PACKAGE = Path(fake_servers.__file__).parent
ALLOWED = {"mini_agent.errors", "mini_agent.mcp.messages", "mini_agent.mcp.transport"}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_only_the_in_memory_carrier_imports_the_client_and_only_its_seam() -> None:
    files = [path for path in PACKAGE.glob("*.py") if not path.name.startswith("anthropic_")]
    users = {
        path.name: {name for name in imported(path) if name.split(".")[0] == "mini_agent"}
        for path in files
    }
    assert {name: used for name, used in users.items() if used} == {"memory.py": ALLOWED}


def test_a_calendar_over_stdio_loads_neither_the_client_nor_the_official_sdk() -> None:
    code = (
        "import sys, fake_servers.calendar, fake_servers.stdio, fake_servers.faults\n"
        "heavy = {'mini_agent', 'mcp', 'mcp_types', 'pydantic', 'jsonschema', 'uvicorn'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr

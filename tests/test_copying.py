"""What README says may be copied into production works alone, with what it says is needed."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "mini_agent"
COMES_WITH = {"pydantic_core": "pydantic", "referencing": "jsonschema"} | {
    "jsonschema_specifications": "jsonschema"
}
CALL = """
import asyncio, importlib, pathlib, sys
import mini_agent
here = pathlib.Path(mini_agent.__file__).parent
assert here == pathlib.Path(sys.argv[1]) / "mini_agent", here
for path in sorted((here / "mcp").glob("*.py")):
    importlib.import_module(f"mini_agent.mcp.{path.stem}".removesuffix(".__init__"))
from mini_agent.mcp import McpClient, StdioTransport

async def main():
    command = [sys.executable, "-m", "fake_servers.calendar"]
    async with McpClient(StdioTransport(command, env={"PYTHONPATH": sys.argv[2]})) as client:
        result = await client.call("calendar_query", {"date": "2026-08-03"})
        print(result.content[0]["text"])

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def said() -> list[str]:
    """What stands in backquotes in README's sentences on copying."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (paragraph,) = (text for text in readme.split("\n\n") if "is made to be copied" in text)
    return re.findall(r"`([^`]+)`", paragraph)


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_a_copy_of_what_is_named_makes_a_call(said: list[str], tmp_path: Path) -> None:
    files = [name for name in said if name.endswith(".py")]
    assert "mini_agent/mcp/" in said and "errors.py" in files
    shutil.copytree(PACKAGE / "mcp", tmp_path / "mini_agent" / "mcp")
    for name in files:
        shutil.copy(PACKAGE / name, tmp_path / "mini_agent" / name)
    done = subprocess.run(
        [sys.executable, "-c", CALL, str(tmp_path), str(ROOT)],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "Team standup" in done.stdout


def test_no_file_of_it_is_named_in_vain_and_no_library_missing(said: list[str]) -> None:
    named = {name for name in said if name.endswith(".py")}
    paths = [*(PACKAGE / "mcp").glob("*.py"), *(PACKAGE / name for name in named)]
    modules = {module for path in paths for module in imported(path)}
    own = {module.split(".")[1] for module in modules if module.startswith("mini_agent.")}
    assert named == {f"{name}.py" for name in own - {"mcp"}} | {"__init__.py"}
    others = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names
    needed = {COMES_WITH.get(name, name) for name in others - {"mini_agent"}}
    assert needed == set(said) - named - {"mini_agent/mcp/"}

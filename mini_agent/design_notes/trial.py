"""Run test files on the client as it is, then on each broken one, in one process.

python -m mini_agent.design_notes.trial FILES     the last line is JSON: a Run for each
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict

from mini_agent.design_notes.broken import AS_IT_IS, WAYS, Run, broken


class Passed:
    """A plugin of pytest that counts."""

    def __init__(self) -> None:
        self.count = 0

    def pytest_runtest_logreport(self, report: object) -> None:
        """Called by pytest for each step of a test."""
        self.count += getattr(report, "when", "") == "call" and getattr(report, "passed", False)


def run(files: Sequence[str], way: str = AS_IT_IS) -> Run:
    """Run ``files`` with the client broken that ``way``, "" for the client as it is."""
    import pytest

    passed, said = Passed(), io.StringIO()
    alone = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        f"--rootdir={os.path.dirname(files[0])}",
    ]
    with contextlib.redirect_stdout(said), broken(way) if way else contextlib.nullcontext():
        code = pytest.main([*alone, *files], plugins=[passed])
    lines = [line for line in said.getvalue().splitlines() if line.strip()]
    return Run(int(code), passed.count, lines[-1] if lines else "")


def main(files: Sequence[str]) -> None:
    """Write one line of JSON: the runs by way."""
    # jsonschema builds 38 parsers for IRIs when it finds this: a second each time, for a format
    # that the client never checks. Taken as not installed.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    runs = {way: asdict(run(files, way)) for way in (AS_IT_IS, *WAYS)}
    sys.stdout.write(f"\n{json.dumps(runs)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

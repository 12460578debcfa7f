"""``make conformance``: both legs of the official suite, held against baseline.yml.

Exit code 1 for a scenario that fails unexpectedly, for one that passes though the baseline says
that it fails, for one that left no result, for any message that breaks the schema, and for a table
that is not the one on record (mini_agent/judges.toml, which notebook 18 shows).
"""

from __future__ import annotations

import sys
import time

import suite
import yaml
from verdicts import LEGS, faults, read_leg, table

from mini_agent.judges import on_record


def main() -> int:
    """Install what is missing, run, print the table and every fault; the exit code."""
    began = time.monotonic()
    suite.install()
    baseline = yaml.safe_load((suite.HERE / "baseline.yml").read_text("utf-8"))
    folders = {"client": suite.run_client(), "server": suite.run_server()}
    ended = [scenario for leg in LEGS for scenario in read_leg(leg, folders[leg])]
    shown = table(ended, baseline)
    print(shown)
    found = faults(ended, suite.scenarios(), baseline)
    if shown.splitlines() != list(on_record()["conformance suite"].said):
        found.append("this table is not the one in mini_agent/judges.toml: put it there")
    for line in found:
        print(line)
    took = f"make conformance took {time.monotonic() - began:.0f} s"
    print(f"{took}; what the suite said is in {suite.BUILD.relative_to(suite.ROOT)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

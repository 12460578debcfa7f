"""The glossary is made of the notebooks' own tables, and no word of the field is missing in it."""

from __future__ import annotations

import re

import pytest

from notebooks.glossary import GLOSSARY, entries, explained, file_text
from notebooks.path import HERE

FIELD = (
    "adapter", "approval", "audience", "capability", "client", "content block", "cursor",
    "envelope", "function calling", "host", "idempotency key", "MCP", "notification", "pin",
    "prompt", "prompt injection", "protocol error", "request", "resource", "resource indicator",
    "response", "rug pull", "scope", "server", "SSRF", "structured content", "tool",
    "tool error", "transport",
)  # fmt: skip


def test_the_file_is_made_of_the_notebooks_as_they_stand() -> None:
    assert GLOSSARY.read_text("utf-8") == file_text(), "make notebooks"


def test_a_table_is_read_to_its_end_and_no_further() -> None:
    source = "# | word | what it is here |\n# |---|---|\n# | a, `b` | both |\n#\n# | c | no |\n"
    assert list(explained(source)) == [("a", "both"), ("`b`", "both")]


@pytest.mark.parametrize("word", FIELD)
def test_a_word_of_the_field_is_explained(word: str) -> None:
    assert word.lower() in {entry.word.strip("`").lower() for entry in entries()}


def test_every_word_is_used_by_the_notebook_that_explains_it() -> None:
    for entry in entries():
        text = (HERE / "source" / f"{entry.notebook}.py").read_text("utf-8")
        uses = re.findall(re.escape(entry.word.strip("`")), text, re.IGNORECASE)
        assert len(uses) > 1, f"{entry.notebook} explains {entry.word} and never uses it"

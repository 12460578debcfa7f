"""The glossary is made of the notebooks' own tables, each sentence reads well alone, and no term
of the field that a notebook uses is missing in it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from notebooks.glossary import GLOSSARY, OPENING, Entry, entries, explained, file_text, table
from notebooks.path import HERE, PATH

# The terms of the field: those of the two chapters behind the kit, and those of the notebooks.
FIELD = (
    "access token", "adapter", "agent", "annotation", "API", "approval", "approver", "audience",
    "audit record", "authentication", "authorization", "authorization code", "authorization server",
    "block", "boundary", "broken pipe", "cancel", "capability", "catalogue", "CBOR", "challenge",
    "checksum", "child process", "claim", "CLI", "client", "client id", "conformance suite",
    "consumption point", "content block", "context", "conversation", "coroutine", "cursor",
    "deadline", "default-allow", "delta", "design notes", "discovery", "elicitation", "endpoint",
    "envelope", "error category", "event loop", "event stream", "exit code", "fake", "frame",
    "framing", "function calling", "future", "gateway", "GraphQL", "handshake", "header",
    "heartbeat", "hook", "host", "idempotency key", "in flight", "issuer", "JSON lines", "JSON-RPC",
    "layer", "loop", "loopback", "malformed message", "marker", "MCP", "MCP Inspector", "_meta",
    "model", "model client", "notification", "OAuth", "operation key", "output schema", "pin",
    "pipe", "PKCE", "policy", "primitive", "progress", "prompt", "prompt injection",
    "protected resource metadata", "protocol error", "provider", "pure function", "raw event",
    "redirect", "reference server", "refresh token", "request", "resource", "resource indicator",
    "resource template", "response", "REST", "retry", "retryable", "revision", "rug pull", "schema",
    "schema hash", "scope", "SDK", "seam", "server", "service", "session", "signal", "snapshot",
    "SSRF", "status", "stderr", "stdin", "stdio", "stdout", "step-up", "stop reason",
    "Streamable HTTP", "structured content", "subject", "system text", "task", "TLS", "token",
    "token exchange", "tool", "tool error", "tool_result", "tool_use", "trace", "transport",
    "trust boundary", "trust checklist", "turn", "turn limit", "untrusted", "URI",
)  # fmt: skip
# What a reader who knows Python knows.
KNOWN = {"ASCII", "CRC", "EUR", "FAIL", "HTML", "HTTP", "JSON", "OK", "PATH", "PDF", "UTF"}
LEANING = r"\b(here|we|us|our|ours|theirs|notebook \d\d|this (?:page|notebook|kit))\b|^the same\b"
LONGEST = 110  # characters of a meaning: one sentence, one line of a table
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
           "twelve")  # fmt: skip
SOURCES = [HERE / "source" / f"{stop.name}.py" for stop in PATH if stop.written]


def text_cells(path: Path) -> str:
    """The Markdown of a source, tables and all."""
    cells = re.split(r"^# %% ?", path.read_text("utf-8"), flags=re.MULTILINE)
    return "\n".join(
        re.sub(r"^# ?", "", cell, flags=re.MULTILINE)
        for cell in cells
        if cell.startswith("[markdown]")
    )


def prose(markdown: str) -> str:
    """The text without its code and its tables."""
    without_code = re.sub(r"^```.*?^```|`[^`]*`", "", markdown, flags=re.DOTALL | re.MULTILINE)
    return "\n".join(line for line in without_code.splitlines() if not line.startswith("|"))


def users(word: str) -> list[str]:
    """The notebooks that use a word, in singular or plural, in text or code."""
    ending = "(?:y|ies)" if word.endswith("y") else "(?:s|es)?"
    stem = word.removesuffix("y").replace(" ", "[ _-]")
    term = re.compile(rf"(?<!\w){stem}{ending}(?!\w)", re.IGNORECASE)
    return [path.stem for path in SOURCES if term.search(path.read_text("utf-8"))]


def words() -> set[str]:
    return {entry.word.strip("`").lower() for entry in entries()}


# -- made of the notebooks ------------------------------------------------------------------------


def test_the_file_is_made_of_the_notebooks_as_they_stand() -> None:
    assert GLOSSARY.read_text("utf-8") == file_text(), "make notebooks"


def test_a_table_is_read_to_its_end_and_no_further() -> None:
    source = "# | word | what it is here |\n# |---|---|\n# | `a` | b |\n#\n# | c | no |\n"
    assert list(explained(source)) == [("`a`", "b")]


def test_a_table_may_have_more_columns_of_which_the_glossary_takes_two() -> None:
    source = "# | word | what it is | who chooses it |\n# |---|---|---|\n# | a | b | c |\n"
    assert list(explained(source)) == [("a", "b")]


def test_its_links_lead_to_notebooks_that_are_there() -> None:
    for folder, start in (("", HERE), ("notebooks/", HERE.parent)):
        links = re.findall(r"\]\(([^)]+)\)", table(folder))
        assert links and all((start / link).exists() for link in links)


# -- each sentence serves both places -------------------------------------------------------------


def fault(word: str, meaning: str) -> str:
    """What keeps a row out of a glossary; an empty text when nothing does."""
    if ", " in word:
        return "more than one word: each needs a sentence of its own"
    if leaning := re.search(LEANING, meaning, re.IGNORECASE):
        return f"leans on its notebook: {leaning[0]}"
    short = 0 < len(meaning) <= LONGEST
    return "" if short and not meaning.endswith(".") else f"no short sentence ({len(meaning)})"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_row_explains_one_word_in_one_sentence_that_reads_well_alone(path: Path) -> None:
    rows = explained(path.read_text("utf-8"))
    assert [(word, why) for word, meaning in rows if (why := fault(word, meaning))] == []


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("stdin, stdout", "pipes"), ("a", "theirs: what it returns"), ("a", "the same again"),
        ("a", "here it is a script"), ("a", ""), ("a", "x" * (LONGEST + 1)), ("a", "Ends."),
    ],
)  # fmt: skip
def test_a_row_that_only_its_notebook_understands_is_found(word: str, meaning: str) -> None:
    assert fault(word, meaning)


def test_no_two_words_share_a_sentence() -> None:
    meanings = [entry.meaning for entry in entries()]
    assert sorted(meanings) == sorted(set(meanings))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_heading_that_counts_its_words_counts_right(path: Path) -> None:
    for section in re.split(r"^#+ ", text_cells(path), flags=re.MULTILINE):
        counted = re.match(r"(\w+)(?: new)? words\b", section)
        if counted and OPENING in section:
            rows = list(explained(section[section.index(OPENING) :]))
            assert counted[1].lower() in ("the", NUMBERS[len(rows) - 1]), len(rows)


# -- complete -------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", FIELD)
def test_a_term_of_the_field_that_is_used_is_explained(word: str) -> None:
    used = users(word)
    assert not used or word.lower() in words(), f"explain {word} in a table of {used[0]}"


def test_the_list_holds_no_term_that_the_finished_kit_does_not_use() -> None:
    idle = [word for word in FIELD if not users(word)]
    assert not idle or not all(stop.written for stop in PATH), idle


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_abbreviation_is_used_that_nobody_explains(path: Path) -> None:
    said = " ".join(f"{entry.word} {entry.meaning}" for entry in entries())
    used = set(re.findall(r"\b[A-Z][A-Z-]*[A-Z]\b", prose(text_cells(path))))
    assert used - KNOWN - set(re.findall(r"[A-Z-]+[A-Z]", said)) == set()


def test_every_word_is_used_by_the_notebook_that_explains_it() -> None:
    assert [f"{e.notebook}: {e.word}" for e in entries() if len(uses(e)) < 2] == []


def uses(entry: Entry) -> list[str]:
    """A word as its notebook writes it; in code it may be one word."""
    text = (HERE / "source" / f"{entry.notebook}.py").read_text("utf-8")
    return re.findall(entry.word.strip("`").replace(" ", "[ _-]?"), text, re.IGNORECASE)

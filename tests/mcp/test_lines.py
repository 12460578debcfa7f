"""The line splitter: the same lines however the bytes are cut, and never more than the limit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.mcp.lines import LineSplitter, TooLong

FEW_BYTES = st.binary(max_size=60).map(lambda raw: raw.translate(bytes.maketrans(b"abc", b"\n\r ")))


def lines_of(chunks: list[bytes], limit: int = 1000) -> list[bytes | TooLong]:
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)]


@given(FEW_BYTES | st.text("\n\r é😀x", max_size=40).map(str.encode), st.integers(1, 12))
def test_every_split_point_gives_the_same_lines(raw: bytes, limit: int) -> None:
    whole = lines_of([raw], limit)
    for cut in range(len(raw) + 1):
        assert lines_of([raw[:cut], raw[cut:]], limit) == whole
    assert lines_of([raw[i : i + 1] for i in range(len(raw))], limit) == whole


@given(st.lists(st.dictionaries(st.text(), st.text(), min_size=1), max_size=5), st.data())
def test_messages_survive_any_chunking(messages: list[dict[str, str]], data: st.DataObject) -> None:
    raw = b"".join(json.dumps(m, ensure_ascii=False).encode("utf-8") + b"\n" for m in messages)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    chunks = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert [
        json.loads(line) for line in lines_of(chunks, 10**6) if isinstance(line, bytes)
    ] == messages


@pytest.mark.case("F09")
def test_a_carriage_return_before_the_line_end_goes_with_it() -> None:
    assert lines_of([b"one\r\ntwo\r", b"\nthree\n"]) == [b"one", b"two", b"three"]


@pytest.mark.case("F10")
def test_blank_lines_are_no_lines() -> None:
    assert lines_of([b"\n \n\t\r\n\r\none\n\n"]) == [b"one"]


@pytest.mark.case("F07")
def test_a_character_that_two_chunks_share_arrives_whole() -> None:
    first, second = "é".encode()[:1], "é".encode()[1:]
    assert lines_of([first, second + b"\n"]) == ["é".encode()]


def test_only_a_line_feed_ends_a_line() -> None:
    separators = "a\u2028b\u2029c\x0b\x0c\x85\x1cd".encode()
    assert lines_of([separators + b"\n"]) == [separators]


def test_half_a_line_is_no_line_and_is_kept_for_the_error_text() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b'{"id":1}\n{"id":2,' + b"x" * 200) == [b'{"id":1}']
    assert splitter.rest.startswith(b'{"id":2,')
    assert len(splitter.rest) == 80


@pytest.mark.case("F04")
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_the_limit_does_not_depend_on_the_chunks(size: int) -> None:
    raw = b"kept\n" + b"x" * 1000 + b"\n" + b"y" * 1001 + b"\nkept too\n"
    chunks = [raw[i : i + size] for i in range(0, len(raw), size)]
    assert lines_of(chunks, 1000) == [b"kept", b"x" * 1000, TooLong(b"y" * 80), b"kept too"]


@pytest.mark.case("F04")
def test_an_endless_line_is_told_at_once_and_takes_no_more_memory() -> None:
    splitter = LineSplitter(100)
    found = [line for _ in range(1000) for line in splitter.feed(b"x" * 64)]
    assert found == [TooLong(b"x" * 80)]
    assert splitter.rest == b""


@pytest.mark.case("F03")
def test_a_line_of_ten_mebibytes_in_small_chunks_is_joined_in_linear_time() -> None:
    splitter, chunk = LineSplitter(), b"x" * 4096
    for _ in range(2560):
        assert splitter.feed(chunk) == []
    assert splitter.feed(b"\n") == [chunk * 2560]

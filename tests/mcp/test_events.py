"""The event-stream parser, held to the standard: the same events however the bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.errors import MalformedMessage
from mini_agent.mcp.events import EventParser, StreamEvent

PIECES = st.sampled_from([
    b"data", b"event", b"id", b"retry", b":", b" ", b"\n", b"\r", b"\r\n", b"{}", b"x", b"\xc3\xa9",
    b"data: 1\n\n", b"data: 2\r\n", b"\xef\xbb\xbf", b"\x00",
])  # fmt: skip


def events_of(*chunks: bytes, limit: int = 1000) -> list[StreamEvent]:
    parser = EventParser(limit)
    return [event for chunk in chunks for event in parser.feed(chunk)]


def message(data: bytes) -> StreamEvent:
    return StreamEvent("message", data)


@pytest.mark.case("E03")
@given(st.lists(PIECES, max_size=14).map(b"".join))
def test_every_split_point_gives_the_same_events(raw: bytes) -> None:
    whole = events_of(raw)
    for cut in range(len(raw) + 1):
        assert events_of(raw[:cut], raw[cut:]) == whole
    assert events_of(*[raw[i : i + 1] for i in range(len(raw))]) == whole


@pytest.mark.case("E03")
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_all_three_line_ends_count(end: bytes) -> None:
    assert events_of(b"data: a" + end + end + b"data: b" + end + end) == [
        message(b"a"),
        message(b"b"),
    ]


def test_line_ends_may_be_mixed() -> None:
    assert events_of(b"data: a\r\n\ndata: b\n\r\ndata: c\r\rdata: d\n\n") == [
        message(b"a"), message(b"b"), message(b"c"), message(b"d"),
    ]  # fmt: skip


def test_a_line_end_that_two_chunks_share_is_one() -> None:
    assert events_of(b"data: a\r", b"\ndata: b\r", b"\n\r\n") == [message(b"a\nb")]


def test_an_event_that_ends_with_a_carriage_return_is_given_at_once() -> None:
    parser = EventParser()
    assert list(parser.feed(b"data: a\r\r")) == [message(b"a")]
    assert list(parser.feed(b"\ndata: b\r\r")) == [message(b"b")]  # that \n belonged to the \r


@pytest.mark.case("E07")
@pytest.mark.must("C54")
def test_comments_make_no_event() -> None:
    assert events_of(b": ping\n\n" * 100 + b":\r\n\r\n" + b"data: a\n: in between\n\n") == [
        message(b"a")
    ]


@pytest.mark.case("E06", "E08")
def test_the_type_is_message_unless_named_and_holds_for_one_event() -> None:
    assert events_of(b"data: a\n\nevent: ping\ndata\n\ndata: b\n\nevent: x\n\ndata: c\n\n") == [
        message(b"a"), StreamEvent("ping", b""), message(b"b"), message(b"c"),
    ]  # fmt: skip


@pytest.mark.case("E09")
@pytest.mark.parametrize(
    ("raw", "data"),
    [
        (b"data:x\n\n", b"x"),
        (b"data: x\n\n", b"x"),
        (b"data:  x \n\n", b" x "),
        (b"data\n\n", b""),
        (b"data:\n\n", b""),
        (b"data: a\ndata: b\n\n", b"a\nb"),
        (b"data\ndata\n\n", b"\n"),
        (b"data: a:b\n\n", b"a:b"),
        (b"id: 7\x00\nretry: abc\nwhat: ever\nlonely\ndata: x\n\n", b"x"),
        (b"\xef\xbb\xbfdata: x\n\n", b"x"),
        (b"DATA: no\ndata: x\n\n", b"x"),
    ],
)
def test_fields_are_read_as_the_standard_says(raw: bytes, data: bytes) -> None:
    assert events_of(raw) == [message(data)]


def test_a_byte_order_mark_counts_only_at_the_start() -> None:
    assert events_of(b"data: a\n\n\xef\xbb\xbfdata: b\n\n") == [message(b"a")]


def test_an_event_without_its_blank_line_is_never_given() -> None:
    assert events_of(b"data: a\n\ndata: b\n") == [message(b"a")]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_event_above_the_limit_is_refused_after_those_before_it(size: int) -> None:
    raw = b"data: kept\n\ndata: " + b"x" * 40 + b"\ndata: " + b"y" * 60 + b"\n\n"
    parser, found = EventParser(100), []
    with pytest.raises(MalformedMessage):
        for start in range(0, len(raw), size):
            found.extend(parser.feed(raw[start : start + size]))
    assert found == [message(b"kept")]


def test_comments_without_end_do_not_count_as_one_event() -> None:
    assert events_of(*[b": ping\n"] * 1000, b"data: a\n\n", limit=100) == [message(b"a")]

"""02.4: the door. Bytes become a message, or one kind of exception."""

import json

from pydantic_core import from_json

from exercises.machine import Task, doing, expect, refused, require
from mini_agent.errors import MalformedMessage
from mini_agent.mcp.messages import check_message, excerpt

TASK = Task(
    "02.4",
    "`decode`: a door that raises one thing only",
    level="demanding",
    minutes=25,
    section="`decode`: bytes become a message, or an exception",
    text="""
Write `decode(raw)` on top of Python's own `json`. Whatever bytes a server prints, one of two things
happens: the message comes back, or `MalformedMessage("what is wrong")` is raised. No other
exception, and no guess.

Its text is shown in a terminal: of the peer's bytes at most 80 characters stand in it, and none
that acts on a screen. `excerpt(raw)` gives just that.
""",
    hints=(
        "Two questions: what does `json.loads` accept that is no JSON in UTF-8? And what can it "
        "raise that is no ValueError? Its documentation answers the first, a line of a hundred "
        "thousand brackets the second.",
        "Given bytes, `json.loads` guesses between UTF-8, 16 and 32: decode them yourself. "
        "`parse_constant` is called for NaN and the infinities. Nesting that is too deep raises "
        "RecursionError.",
        "Three steps. Text from the bytes and a value from the text, with `parse_constant` set to "
        "a function that raises ValueError, inside one `try` that turns ValueError and "
        'RecursionError into MalformedMessage. Then the envelope: a dict, version "2.0", an id '
        "that is a string, an integer (no bool) or absent, a `method` that is a string or absent.",
    ),
)


@TASK.solution
def in_three_steps():
    def decode(raw):
        ### BEGIN SOLUTION
        def no_number(name):
            raise ValueError(f"JSON has no {name}")

        try:
            value = json.loads(raw.decode("utf-8"), parse_constant=no_number)
        except (ValueError, RecursionError) as cause:
            raise MalformedMessage(f"not JSON: {excerpt(raw)}") from cause
        if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
            raise MalformedMessage(f"no JSON-RPC 2.0 message: {excerpt(raw)}")
        if type(value.get("id")) not in (str, int, type(None)):
            raise MalformedMessage(f"an odd id: {excerpt(raw)}")
        if not isinstance(value.get("method", ""), str):
            raise MalformedMessage(f"an odd method: {excerpt(raw)}")
        return value
        ### END SOLUTION

    return decode


@TASK.right
def with_the_packages_parser():
    def decode(raw):
        try:
            return check_message(from_json(raw, allow_inf_nan=False))
        except ValueError:
            raise MalformedMessage("no JSON") from None

    return decode


# -- the check ------------------------------------------------------------------------------------


def line(rest):
    return b'{"jsonrpc":"2.0",' + rest + b"}"


def must_refuse(decode, raw):
    with doing(f"the bytes are {raw[:90]!r}"):
        return refused(MalformedMessage, decode, raw)


@TASK.part(
    "good messages come back whole",
    idea="Strict is not picky: a string is an id, an error may have none, a notification has none, "
    "and a member that we do not know is no reason to stop.",
)
def good_ones(decode):
    for rest in (
        '"id":1,"result":{"text":"déjà vu, one\u2028line"}',
        '"id":"a-1","result":{},"trace":"t"',
        '"id":null,"error":{"code":-32700,"message":"Parse error"}',
        '"method":"notifications/progress","params":{"progress":0.5}',
    ):
        raw = line(rest.encode())
        with doing(f"the bytes are {raw!r}"):
            expect(decode(raw), json.loads(raw))


@TASK.part(
    "no JSON at all",
    idea="A banner, another framing, half a message, nothing at all: the caller is told that the "
    "peer broke the format, and not which parser we happen to use.",
)
def no_json(decode):
    for raw in (b"Calendar server v1.2 ready", b"Content-Length: 20", b'{"jsonrpc":"2.0","i', b""):
        must_refuse(decode, raw)


@TASK.part(
    "not UTF-8",
    idea="MCP's messages are UTF-8. Given bytes, json.loads guesses UTF-16 and UTF-32 too, and a "
    "decoder that replaces what it cannot read hands on a text that nobody sent.",
)
def not_utf8(decode):
    good = '{"jsonrpc":"2.0","id":1,"result":{"text":"café"}}'
    for encoding in ("latin-1", "utf-16", "utf-32"):
        must_refuse(decode, good.encode(encoding))


@TASK.part(
    "numbers that JSON does not have",
    idea="Python's json reads NaN and Infinity, which are no JSON. A NaN equals nothing, not even "
    "itself, so it passes every comparison that should have stopped it.",
)
def no_numbers(decode):
    for number in (b"NaN", b"Infinity", b"-Infinity"):
        must_refuse(decode, line(b'"id":1,"result":{"hours":' + number + b"}"))


@TASK.part(
    "brackets without end",
    idea="Nesting that is too deep raises RecursionError, which is no ValueError. It is the peer "
    "who wrote it, so it is the peer's fault, and must not end the host.",
)
def too_deep(decode):
    for bracket in (b"[", b'{"a":'):
        must_refuse(decode, line(b'"id":1,"result":' + bracket * 100_000))


@TASK.part(
    "JSON that is no message",
    idea="JSON is not yet JSON-RPC: one object, version 2.0. A status page is JSON too.",
)
def no_message(decode):
    for raw in (b'[{"jsonrpc":"2.0","id":1,"result":{}}]', b'"ready"', b'{"status":"ok"}', b"null"):
        must_refuse(decode, raw)


@TASK.part(
    "ids and methods that are none",
    idea="An id is a string or an integer. True is an int in Python, and a method that is no "
    "string makes a message that is neither answer nor question.",
)
def odd_members(decode):
    for rest in (b'"id":true,"result":{}', b'"id":[1],"result":{}', b'"id":1,"method":7'):
        must_refuse(decode, line(rest))


@TASK.part(
    "its text is fit for a terminal",
    idea="The peer wrote those bytes. A terminal obeys control characters: with ESC in an error's "
    "text a server can wipe the screen, or write a line that looks like ours.",
)
def fit_for_a_terminal(decode):
    error = must_refuse(decode, b"\x1b[2J\x07ready\r\n" + b"x" * 10_000)
    text = str(error)
    require(text.isprintable(), "a text of printable characters", came=text[:100])
    require(len(text) <= 300, "at most 300 characters", came=f"{len(text)} characters")


# -- what people write ----------------------------------------------------------------------------


def strict(raw, *, parse=None, caught=(ValueError, RecursionError), envelope=check_message):
    """The solution with one piece changed, for the answers that get that piece wrong."""

    def no_number(name):
        raise ValueError(name)

    try:
        value = parse(raw) if parse else json.loads(raw.decode(), parse_constant=no_number)
    except caught as cause:
        raise MalformedMessage(f"not JSON: {excerpt(raw)}") from cause
    return envelope(value)


def no_number(name):
    raise ValueError(name)


@TASK.wrong("Strict is not picky")
def an_id_for_every_message():
    def decode(raw):
        value = strict(raw)
        if value.get("id") is None:
            raise MalformedMessage("no id")
        return value

    return decode


@TASK.wrong("which parser we happen to use")
def json_and_nothing_else():
    def decode(raw):
        return json.loads(raw)

    return decode


@TASK.wrong("nothing at all")
def an_empty_line_is_passed_over():
    def decode(raw):
        return strict(raw) if raw.strip() else None

    return decode


@TASK.wrong("guesses UTF-16")
def json_loads_on_the_bytes():
    def decode(raw):
        return strict(raw, parse=lambda raw: json.loads(raw, parse_constant=no_number))

    return decode


@TASK.wrong("a text that nobody sent")
def errors_replaced():
    def decode(raw):
        text = raw.decode("utf-8", "replace")
        return strict(text.encode())

    return decode


@TASK.wrong("which are no JSON")
def python_numbers():
    def decode(raw):
        return strict(raw, parse=lambda raw: json.loads(raw.decode()))

    return decode


@TASK.wrong("which is no ValueError")
def only_value_errors():
    def decode(raw):
        return strict(raw, caught=ValueError)

    return decode


@TASK.wrong("A status page is JSON too")
def any_object():
    def envelope(value):
        return check_message({"jsonrpc": "2.0", **value} if isinstance(value, dict) else value)

    def decode(raw):
        return strict(raw, envelope=envelope)

    return decode


@TASK.wrong("True is an int")
def isinstance_int():
    def envelope(value):
        if isinstance(value, dict) and value.get("id") is True:
            return value
        return check_message(value)

    def decode(raw):
        return strict(raw, envelope=envelope)

    return decode


@TASK.wrong("wipe the screen")
def the_bytes_as_they_came():
    def decode(raw):
        try:
            return strict(raw)
        except MalformedMessage as error:
            text = raw[:80].decode("utf-8", "replace")
            raise MalformedMessage(f"not JSON: {text}") from error

    return decode

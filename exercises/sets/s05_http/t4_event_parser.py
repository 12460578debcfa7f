"""05.4: events out of a stream, however it is cut."""

from exercises.machine import Task, doing, expect, refused, require
from mini_agent.errors import MalformedMessage
from mini_agent.mcp.events import StreamEvent

TASK = Task(
    "05.4",
    "`EventParser`: bytes in, events out",
    level="demanding",
    minutes=30,
    section="`EventParser`: bytes in, events out",
    text="""
Write `EventParser(limit)`. `feed(chunk)` takes bytes as a network happens to give them, and returns
a list of `StreamEvent(type, data)`: the events that this chunk ends.

- A line ends at `\\n`, at `\\r\\n` or at `\\r`, also mixed.
- A line is `name:value`; one space behind the colon does not belong to the value. `event` says the
  type, `data` adds a line of data. All other names are passed over, and so are lines that begin
  with a colon.
- A blank line ends the event. Its lines of data are joined with `\\n`. Without a line of data there
  is no event; without a type it is `"message"`.
- An event is handed out as soon as its blank line is there.
- An event of far more than `limit` bytes raises MalformedMessage, also when it never ends.

`type` is a text, `data` is bytes.
""",
    hints=(
        "Two jobs: bytes to lines, lines to events. What has to be remembered between two calls of "
        "`feed`? The first job needs two things, the second two.",
        "`splitlines(keepends=True)` on bytes cuts at the three line ends and at no other. The "
        "hard cut is between `\\r` and `\\n`: the line has ended already, and the `\\n` that comes "
        "next ends nothing. Remember that the last chunk ended with `\\r`. An empty chunk changes "
        "nothing.",
        "Keep the unended line, that flag, the type, and a list of data lines or None. At a line "
        "end: a blank line hands out an event if there are data lines and forgets type and data in "
        "any case; else cut at the first colon, drop one space, keep `event` or `data`. Measure "
        "the unended line and the data lines together, after every piece.",
    ),
)


@TASK.solution
def line_flag_type_data():
    class EventParser:
        def __init__(self, limit):
            self.limit = limit
            ### BEGIN SOLUTION
            self.line, self.after_cr = b"", False
            self.type, self.data = "", None
            ### END SOLUTION

        def feed(self, chunk):
            ### BEGIN SOLUTION
            found = []
            if self.after_cr and chunk.startswith(b"\n"):
                pieces = chunk[1:].splitlines(keepends=True)
            else:
                pieces = chunk.splitlines(keepends=True)
            if chunk:
                self.after_cr = chunk.endswith(b"\r")
            for piece in pieces:
                content = piece.rstrip(b"\r\n")
                self.line += content
                if len(self.line) + sum(map(len, self.data or [])) > self.limit:
                    raise MalformedMessage(f"an event of more than {self.limit} bytes")
                if content != piece:
                    line, self.line = self.line, b""
                    self.take(line, found)
            return found

        def take(self, line, found):
            if not line:
                if self.data is not None:
                    found.append(StreamEvent(self.type or "message", b"\n".join(self.data)))
                self.type, self.data = "", None
                return
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"event":
                self.type = value.decode("utf-8", "replace")
            elif name == b"data":
                self.data = [*(self.data or []), value]
            ### END SOLUTION

    return EventParser


@TASK.right
def byte_by_byte():
    class EventParser:
        def __init__(self, limit):
            self.limit, self.size, self.previous = limit, 0, 0
            self.line, self.fields = bytearray(), []

        def feed(self, chunk):
            return [event for byte in chunk for event in self.take(byte)]

        def take(self, byte):
            previous, self.previous = self.previous, byte
            if byte == 10 and previous == 13:
                return
            if byte not in (10, 13):
                self.line.append(byte)
                self.size += 1
                if self.size > 2 * self.limit:
                    raise MalformedMessage("too much")
                return
            name, _, value = bytes(self.line).partition(b":")
            if self.line:
                if name in (b"data", b"event"):
                    self.fields.append((name, value[value[:1] == b" " :]))
                else:
                    self.size -= len(self.line)
                self.line = bytearray()
                return
            data = [value for name, value in self.fields if name == b"data"]
            types = [value.decode() for name, value in self.fields if name == b"event"]
            self.fields, self.size = [], 0
            if data:
                yield StreamEvent(types[-1] if types else "message", b"\n".join(data))

    return EventParser


# -- the check ------------------------------------------------------------------------------------

RAW = (
    'event: start\r\ndata: {"é":1}\r\n\r\n: ping\n\ndata: 2\r\revent: change\ndata:x\n\n'
    'data: y\r\n\rdata: {"half":1}'
).encode()
WHOLE = [("start", '{"é":1}'.encode()), ("message", b"2"), ("change", b"x"), ("message", b"y")]


def fed(parser, chunk):
    came = parser.feed(chunk)
    require(isinstance(came, list), "a list", came=came, when=f"it is fed {chunk[:60]!r}")
    for event in came:
        require(isinstance(event, StreamEvent), "StreamEvents in it", came=event)
    return [(event.type, event.data) for event in came]


def events_of(EventParser, *chunks, limit=1000):
    parser = EventParser(limit)
    return [event for chunk in chunks for event in fed(parser, chunk)]


def must_give(EventParser, raw, *wanted):
    expect(events_of(EventParser, raw), list(wanted), when=f"it is fed {raw!r}")


@TASK.part(
    "an event: its type and its data",
    idea="A space behind the colon is for the eye, and may be missing: one goes, and no more. Data "
    "is bytes, since what they mean is for whoever reads them.",
)
def an_event(EventParser):
    must_give(EventParser, b'data: {"id":1}\n\n', ("message", b'{"id":1}'))
    must_give(EventParser, b"event: change\ndata: 1\n\n", ("change", b"1"))
    must_give(EventParser, b"data:1\nevent:change\n\n", ("change", b"1"))
    must_give(EventParser, b"data:  a: b \n\n", ("message", b" a: b "))


@TASK.part(
    "three line ends",
    idea="The standard for event streams allows all three, also mixed in one stream, and servers "
    "use them. U+2028 is no line end here, though Python's text would be cut at it.",
)
def three_line_ends(EventParser):
    for raw in (b"data: 1\n\ndata: 2\n\n", b"data: 1\r\n\r\ndata: 2\r\n\r\n"):
        must_give(EventParser, raw, ("message", b"1"), ("message", b"2"))
    must_give(EventParser, b"data: 1\r\rdata: 2\r\n\n", ("message", b"1"), ("message", b"2"))
    line = "data: one\u2028line\n\n".encode()
    must_give(EventParser, line, ("message", "one\u2028line".encode()))


@TASK.part(
    "lines of data are one text",
    idea="A server may break its JSON into lines; each is a line of data, and together they are "
    "one message. Joined with nothing between, two words become one.",
)
def lines_of_data(EventParser):
    must_give(EventParser, b'data: {"id":\ndata: 1}\n\n', ("message", b'{"id":\n1}'))
    must_give(EventParser, b"data: a\ndata\ndata: b\n\n", ("message", b"a\n\nb"))
    came = events_of(EventParser, b"data: a\nda", b"ta: b\n", b"\n")
    expect(came, [("message", b"a\nb")], when="two lines of data come in three chunks")


@TASK.part(
    "what says nothing is passed over",
    idea="Comments keep a connection warm, and other fields belong to other uses. Without data "
    "there is no event, and what was said of its type is over with it.",
)
def passed_over(EventParser):
    must_give(EventParser, b": still here\n\n:\n\n\n\n")
    must_give(EventParser, b"id: 7\nretry: 10\ndatum: 0\ndata: 1\n\n", ("message", b"1"))
    must_give(EventParser, b"event: change\n\ndata: 1\n\n", ("message", b"1"))


@TASK.part(
    "every cut gives the same events",
    idea="A network keeps bytes in order and nothing else. A cut may fall inside an é, or between "
    "\\r and \\n, which are one line end still. What has not ended is no event.",
)
def every_cut(EventParser):
    for cut in range(len(RAW) + 1):
        came = events_of(EventParser, RAW[:cut], b"", RAW[cut:])
        expect(came, WHOLE, when=f"cut between {RAW[:cut][-12:]!r} and {RAW[cut:][:12]!r}")
    single = [RAW[i : i + 1] for i in range(len(RAW))]
    expect(events_of(EventParser, *single), WHOLE, when="it is fed byte by byte")


@TASK.part(
    "an event comes at once",
    idea="The server may say nothing more for an hour. Who waits for what could follow a \\r, or "
    "for the next chunk, holds back an answer that is there.",
)
def at_once(EventParser):
    for raw in (b"data: 1\n\n", b"data: 1\r\r", b"data: 1\r\n\r"):
        must_give(EventParser, raw, ("message", b"1"))


@TASK.part(
    "an event without end is refused",
    idea="A server can send one line for ever, or lines of data and never a blank one. Who bounds "
    "neither lets it fill our memory.",
)
def without_end(EventParser):
    for name, chunk in {"one line": b"data: xxxxxxxx", "lines of data": b"data: x\n"}.items():
        parser = EventParser(100)
        when = f"{name} and no end, far more than the limit of 100 bytes"

        def feed_all(parser=parser, chunk=chunk):
            for _ in range(500):
                parser.feed(chunk)

        refused(MalformedMessage, feed_all, when=when)
    expect(events_of(EventParser, b"data: " + b"x" * 50 + b"\n\n", limit=100)[0][1], b"x" * 50)


@TASK.part(
    "what is passed over does not count",
    idea="A stream may live for days, and comments keep it warm. A limit is for one event; counted "
    "for the whole stream, every long conversation ends in an error.",
)
def days_of_comments(EventParser):
    parser = EventParser(100)
    with doing("500 comments and 100 short events came, the limit 100 bytes"):
        for _ in range(500):
            parser.feed(b": still here\n")
        came = [event for _ in range(100) for event in fed(parser, b"data: 1\n\n")]
    expect(len(came), 100, when="100 events came after 500 comments")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("one goes, and no more")
def every_space_goes():
    class EventParser(line_flag_type_data()):
        def take(self, line, found):
            name, colon, value = line.partition(b":")
            super().take(name + colon + value.strip(), found)

    return EventParser


@TASK.wrong("allows all three")
def lines_end_at_newline():
    class EventParser(line_flag_type_data()):
        def feed(self, chunk):
            found = []
            *ended, rest = (self.line + chunk).split(b"\n")
            self.line = b""
            for line in ended:
                self.take(line.removesuffix(b"\r"), found)
            super().feed(b"")
            self.line = rest
            if len(rest) + sum(map(len, self.data or [])) > self.limit:
                raise MalformedMessage("too long")
            return found

    return EventParser


@TASK.wrong("U+2028 is no line end")
def splitlines_of_text():
    class EventParser(line_flag_type_data()):
        def take(self, line, found):
            for part in line.decode("utf-8", "replace").splitlines() or [""]:
                super().take(part.encode(), found)

    return EventParser


@TASK.wrong("two words become one")
def joined_with_nothing():
    class EventParser(line_flag_type_data()):
        def take(self, line, found):
            super().take(line, found)
            self.data = [b"".join(self.data)] if self.data else self.data

    return EventParser


@TASK.wrong("together they are")
def the_last_line_of_data():
    class EventParser(line_flag_type_data()):
        def take(self, line, found):
            super().take(line, found)
            self.data = self.data[-1:] if self.data else self.data

    return EventParser


@TASK.wrong("is over with it")
def the_type_stays():
    class EventParser(line_flag_type_data()):
        def take(self, line, found):
            kept = self.type if self.data is None else ""
            super().take(line, found)
            self.type = self.type or kept

    return EventParser


@TASK.wrong("there is no event")
def a_blank_line_is_an_event():
    class EventParser(line_flag_type_data()):
        def take(self, line, found):
            if not line and self.data is None and self.type:
                found.append(StreamEvent(self.type, b""))
            super().take(line, found)

    return EventParser


@TASK.wrong("which are one line end still")
def a_line_end_in_two_is_two():
    class EventParser(line_flag_type_data()):
        def feed(self, chunk):
            self.after_cr = False
            return super().feed(chunk)

    return EventParser


@TASK.wrong("What has not ended is no event")
def what_looks_whole_is_an_event():
    class EventParser(line_flag_type_data()):
        def feed(self, chunk):
            found = super().feed(chunk)
            if self.line.startswith(b"data") and self.line.endswith(b"}"):
                found += super().feed(b"\n\n")
            return found

    return EventParser


@TASK.wrong("what could follow a")
def waits_behind_a_carriage_return():
    class EventParser(line_flag_type_data()):
        held = b""

        def feed(self, chunk):
            chunk, self.held = self.held + chunk, b""
            if chunk.endswith(b"\r"):
                chunk, self.held = chunk[:-1], b"\r"
            return super().feed(chunk)

    return EventParser


@TASK.wrong("Who bounds neither")
def only_a_line_is_bounded():
    class EventParser(line_flag_type_data()):
        def __init__(self, limit):
            super().__init__(10**9)
            self.longest = limit

        def feed(self, chunk):
            found = super().feed(chunk)
            if len(self.line) > self.longest:
                raise MalformedMessage("a line too long")
            return found

    return EventParser


@TASK.wrong("counted for the whole stream")
def counts_the_whole_stream():
    class EventParser(line_flag_type_data()):
        size = 0

        def feed(self, chunk):
            self.size += len(chunk)
            if self.size > 10 * self.limit:
                raise MalformedMessage("too much")
            return super().feed(chunk)

    return EventParser

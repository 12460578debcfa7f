"""04.2: a splitter that survives every split point."""

from exercises.machine import Task, expect, require
from mini_agent.mcp.lines import TooLong

TASK = Task(
    "04.2",
    "`LineSplitter`: lines, however the bytes are cut",
    level="solid",
    minutes=20,
    section="`LineSplitter`: chunks in, lines out",
    text="""
Write `LineSplitter(limit)`. `feed(chunk)` takes bytes as a pipe happens to give them, and returns
the lines that this chunk ends, a list of `bytes`.

- A line ends at `\\n`. The `\\n` goes, a `\\r` before it too, and blank lines are left out.
- A line of more than `limit` bytes is given up as soon as that is known: `TooLong(start)` stands in
  its place, once, and the rest of it is dropped. The next line is read as usual.

The check cuts the same bytes at every point, and wants the same lines each time.
""",
    hints=(
        "What must be remembered between two calls of `feed`? Two things, once lines can be too "
        "long.",
        "Work on bytes: a character may be cut in half, and `splitlines` cuts at more than `\\n`. "
        '`*ended, rest = chunk.split(b"\\n")` says which pieces of a chunk are ended.',
        "Keep the unended rest, and a flag: inside a line that was given up. A piece goes to the "
        "rest unless the flag is set; over the limit the rest is emptied, the flag set, TooLong "
        "handed out. A line end hands out the rest unless the flag is set, and clears both.",
    ),
)


@TASK.solution
def rest_and_flag():
    class LineSplitter:
        def __init__(self, limit):
            self.limit = limit
            self.rest = b""
            self.dropping = False

        def feed(self, chunk):
            ### BEGIN SOLUTION
            found = []
            *ended, last = chunk.split(b"\n")
            for piece in ended:
                self.keep(piece, found)
                line = self.rest.strip()
                if line and not self.dropping:
                    found.append(line)
                self.rest, self.dropping = b"", False
            self.keep(last, found)
            return found

        def keep(self, piece, found):
            if not self.dropping:
                self.rest += piece
                if len(self.rest) > self.limit:
                    found.append(TooLong(self.rest[:80]))
                    self.rest, self.dropping = b"", True
            ### END SOLUTION

    return LineSplitter


@TASK.right
def byte_by_byte():
    class LineSplitter:
        def __init__(self, limit):
            self.limit, self.line = limit, bytearray()

        def feed(self, chunk):
            return [found for byte in chunk if (found := self.take(byte))]

        def take(self, byte):
            if byte == 10:
                line, self.line = self.line, bytearray()
                return bytes(line or b"").rstrip(b"\r")
            if self.line is not None:
                self.line.append(byte)
                if len(self.line) > self.limit:
                    start, self.line = bytes(self.line[:10]), None
                    return TooLong(start)
            return None

    return LineSplitter


# -- the check ------------------------------------------------------------------------------------

RAW = '{"id":1}\n{"note":"one\u2028line, é"}\n{"id":2}\n{"half'.encode()
BLANKS = b'{"id":1}\r\n\n\r\n{"id":2}\n'
LINES = [b'{"id":1}', '{"note":"one\u2028line, é"}'.encode(), b'{"id":2}']


def lines_of(LineSplitter, *chunks, limit=1000):
    splitter, found = LineSplitter(limit), []
    for chunk in chunks:
        came = splitter.feed(chunk)
        require(isinstance(came, list), "a list", came=came, when=f"feed is given {chunk[:40]!r}")
        found += ["TooLong" if isinstance(line, TooLong) else line for line in came]
    return found


@TASK.part(
    "one chunk, its lines",
    idea="A line ends at \\n. Python's splitlines also cuts at U+2028 and at a lone \\r, which may "
    "stand inside a message.",
)
def one_chunk(LineSplitter):
    chunk = '{"id":1}\n{"note":"one\u2028line, é"}\n'.encode()
    expect(lines_of(LineSplitter, chunk), LINES[:2], when=f"it is fed {chunk!r}")
    expect(lines_of(LineSplitter, b'{"a"\r:1}\n'), [b'{"a"\r:1}'], when="a \\r stands inside")


@TASK.part(
    "Windows line ends and blank lines",
    idea="A server on Windows ends its lines with \\r\\n, and some print an empty line between two "
    "messages. Neither is a message.",
)
def blanks(LineSplitter):
    for cut in range(len(BLANKS) + 1):
        first, second = BLANKS[:cut], BLANKS[cut:]
        came = lines_of(LineSplitter, first, second)
        expect(came, [LINES[0], LINES[2]], when=f"it is fed {first!r}, then {second!r}")


@TASK.part(
    "every cut gives the same lines",
    idea="A pipe keeps bytes in order and forgets where a write ended. What has not ended yet must "
    "be kept, as bytes: a cut may fall inside a character.",
)
def every_cut(LineSplitter):
    for cut in range(len(RAW) + 1):
        came = lines_of(LineSplitter, RAW[:cut], RAW[cut:])
        expect(came, LINES, when=f"it is fed {RAW[:cut][-12:]!r}, then {RAW[cut:][:12]!r}")
    single = [RAW[i : i + 1] for i in range(len(RAW))]
    expect(lines_of(LineSplitter, *single), LINES, when="it is fed byte by byte")


@TASK.part(
    "the limit itself is allowed",
    idea="A limit is the longest that is allowed. The line end does not count, or the same line "
    "would pass or not by where the chunk was cut.",
)
def the_limit_is_allowed(LineSplitter):
    exact = b"x" * 10
    expect(lines_of(LineSplitter, exact + b"\n", limit=10), [exact], when="10 bytes, the limit 10")
    expect(lines_of(LineSplitter, exact, b"\n", limit=10), [exact], when="the end comes later")
    came = lines_of(LineSplitter, exact + b"x\n", limit=10)
    expect(came, ["TooLong"], when="11 bytes, the limit 10")


@TASK.part(
    "too long is known before the end",
    idea="A line may never end. Who waits for its end before judging its length keeps all of it, "
    "and a server can fill our memory.",
)
def known_before_the_end(LineSplitter):
    came = lines_of(LineSplitter, b"x" * 64, b"x" * 64, limit=100)
    expect(came, ["TooLong"], when="128 bytes came with no line end, the limit 100")


@TASK.part(
    "the rest of it is dropped, and the next line read",
    idea="What follows in the same line is no line of its own: it would be taken for a message, or "
    "reported again and again. The line end makes all good.",
)
def the_rest_is_dropped(LineSplitter):
    chunks = [*([b"x" * 64] * 10), b'{"id":1}\n{"id":', b"2}\n"]
    came = lines_of(LineSplitter, *chunks, limit=100)
    when = "640 bytes and an end of line came, then a good line, the limit 100"
    expect([line for line in came if line != "TooLong"], [LINES[2]], when=when)
    require(came.count("TooLong") <= 1, "TooLong at most once", came=came, when=when)


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("splitlines also cuts")
def by_splitlines_of_bytes():
    class LineSplitter(rest_and_flag()):
        def feed(self, chunk):
            found = []
            for line in super().feed(chunk):
                found += line.splitlines() if isinstance(line, bytes) else [line]
            return found

    return LineSplitter


@TASK.wrong("splitlines also cuts")
def by_splitlines_of_text():
    class LineSplitter(rest_and_flag()):
        def feed(self, chunk):
            found = []
            for line in super().feed(chunk):
                text = isinstance(line, bytes)
                found += [t.encode() for t in line.decode().splitlines()] if text else [line]
            return found

    return LineSplitter


@TASK.wrong("Neither is a message")
def blank_lines_are_lines():
    class LineSplitter(rest_and_flag()):
        def feed(self, chunk):
            found = []
            *ended, last = chunk.split(b"\n")
            for piece in ended:
                self.keep(piece, found)
                if not self.dropping:
                    found.append(self.rest)
                self.rest, self.dropping = b"", False
            self.keep(last, found)
            return found

    return LineSplitter


@TASK.wrong("forgets where a write ended")
def every_chunk_is_whole():
    class LineSplitter:
        def __init__(self, limit):
            self.limit = limit

        def feed(self, chunk):
            lines = [line.strip() for line in chunk.split(b"\n") if line.strip()]
            return [TooLong(line) if len(line) > self.limit else line for line in lines]

    return LineSplitter


@TASK.wrong("inside a character")
def decoded_chunk_by_chunk():
    class LineSplitter(rest_and_flag()):
        def feed(self, chunk):
            return super().feed(chunk.decode(errors="replace").encode())

    return LineSplitter


@TASK.wrong("longest that is allowed")
def one_less():
    class LineSplitter(rest_and_flag()):
        def __init__(self, limit):
            super().__init__(limit - 1)

    return LineSplitter


@TASK.wrong("fill our memory")
def judged_at_its_end():
    class LineSplitter(rest_and_flag()):
        def keep(self, piece, found):
            self.rest += piece

        def feed(self, chunk):
            found = super().feed(chunk)
            return [TooLong(line[:80]) if len(line) > self.limit else line for line in found]

    return LineSplitter


@TASK.wrong("again and again")
def reported_for_every_chunk():
    class LineSplitter(rest_and_flag()):
        def keep(self, piece, found):
            if self.dropping and piece:
                found.append(TooLong(piece[:80]))
            super().keep(piece, found)

    return LineSplitter


@TASK.wrong("no line of its own")
def goes_on_in_the_middle():
    class LineSplitter(rest_and_flag()):
        def keep(self, piece, found):
            self.dropping = self.dropping and len(piece) >= 64
            super().keep(piece, found)

    return LineSplitter

"""17.3: frames with a mark in front, and a reader that finds its way after a hole."""

import struct
import zlib

from exercises.machine import Task, expect, require

TASK = Task(
    "17.3",
    "`MarkedFrames`: back in step after a hole",
    level="demanding",
    minutes=35,
    section="A hole",
    text="""
A wire that loses bytes and goes on. A length holds only as long as nothing was lost before it, so
`marked` puts four bytes in front of each frame. Write `MarkedFrames`, its reader.

- `feed(chunk)` takes bytes, cut anywhere, and returns a list of the payloads that are whole now.
- A payload is handed out only if its checksum fits. What is broken raises nothing: it is skipped.
- Whatever was lost or changed, the next frame that arrives whole is handed out. It may have to
  wait for the bytes that a wrong length asks for, but never for more than `MOST`.
- A payload may hold any bytes, the mark and whole marked frames too.
- `skipped` is how many bytes belong to no frame whose payload was handed out. Noise counts as soon
  as it is known to be noise, and is not kept.

Then say for yourself: which flip does the mark make worse?
""",
    hints=(
        "There are three states: no mark in sight, a mark with too little behind it, a mark with a "
        "whole frame behind it. What may be thrown away in each?",
        "The mark says where a frame may begin, the checksum says that it did. When the checksum "
        "does not fit, you know nothing any more: not the length either. Where, then, does the "
        "search for the next mark begin?",
        "Loop: find the mark. None: keep the last three bytes, which may be the start of one, and "
        "stop. Skip what is before it. Header not complete: stop. Length above MOST: skip one "
        "byte, go on. Frame not complete: stop. Checksum fits: hand out, go on behind the frame; "
        "else skip one byte, go on.",
    ),
    given="MARK HEADER MOST marked",
)

MARK, HEADER, MOST = b"\xff\xfe\xfd\xfc", struct.Struct(">II"), 4096


def marked(payload):
    return MARK + HEADER.pack(len(payload), zlib.crc32(payload)) + payload


@TASK.solution
def mark_then_checksum():
    class MarkedFrames:
        def __init__(self):
            self.rest = b""
            self.skipped = 0

        def feed(self, chunk):
            ### BEGIN SOLUTION
            self.rest += chunk
            found, start = [], len(MARK) + HEADER.size
            while self.at_a_mark() and len(self.rest) >= start:
                size, checksum = HEADER.unpack_from(self.rest, len(MARK))
                if size <= MOST and len(self.rest) < start + size:
                    break
                payload = self.rest[start : start + size]
                if size <= MOST and zlib.crc32(payload) == checksum:
                    found.append(payload)
                    self.rest = self.rest[start + size :]
                else:
                    self.skip(1)
            return found

        def at_a_mark(self):
            place = self.rest.find(MARK)
            self.skip(max(0, len(self.rest) - len(MARK) + 1) if place < 0 else place)
            return place >= 0

        def skip(self, count):
            self.rest = self.rest[count:]
            self.skipped += count
            ### END SOLUTION

    return MarkedFrames


@TASK.right
def from_place_to_place():
    class MarkedFrames:
        def __init__(self):
            self.buffer, self.skipped = bytearray(), 0

        def feed(self, chunk):
            self.buffer.extend(chunk)
            found, at = [], 0
            while at < len(self.buffer):
                ahead = bytes(self.buffer[at : at + 4])
                if not MARK.startswith(ahead):
                    at, self.skipped = at + 1, self.skipped + 1
                    continue
                header = bytes(self.buffer[at + 4 : at + 12])
                if len(header) < 8:
                    break
                size, checksum = struct.unpack(">II", header)
                if size <= MOST and len(self.buffer) - at - 12 < size:
                    break
                payload = bytes(self.buffer[at + 12 : at + 12 + size])
                if size > MOST or zlib.crc32(payload) != checksum:
                    at, self.skipped = at + 1, self.skipped + 1
                    continue
                found.append(payload)
                at += 12 + size
            del self.buffer[:at]
            return found

    return MarkedFrames


# -- the check ------------------------------------------------------------------------------------

FIRST = b'{"id":3,"result":"09:00 Standup, 10:00 Budget, 14:00 Dentist"}'
SECOND, THIRD = b'{"id":5,"result":"nothing, all day"}', b'{"id":7,"result":"' + b"x" * 200 + b'"}'
LAST = b"y" * MOST  # as long as a frame may be: no wrong length asks for more than this
START = 12


def fed(reader, chunk, when):
    came = reader.feed(chunk)
    require(isinstance(came, list), "a list", came=came, when=when)
    return came


def payloads(MarkedFrames, *chunks, when):
    reader = MarkedFrames()
    return [payload for chunk in chunks for payload in fed(reader, chunk, when)]


def briefly(found):
    return [payload if len(payload) < 60 else payload[:20] + b"..." for payload in found]


def behind(MarkedFrames, spoiled, when):
    """The frame that was spoiled, three good ones behind it: those three must come."""
    raw = spoiled + marked(SECOND) + marked(THIRD) + marked(LAST)
    came = payloads(MarkedFrames, raw, when=when)
    expect(briefly(came), briefly([SECOND, THIRD, LAST]), when=when)


def flipped(raw, place, bit):
    return raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :]


@TASK.part(
    "frames in, payloads out, however they are cut",
    idea="A chunk may end in the middle of a mark, of a header, of a payload. The start of a mark "
    "is not noise yet: who throws it away loses a frame that was whole.",
)
def however_cut(MarkedFrames):
    raw = b"noise" + marked(FIRST) + marked(b"") + marked(SECOND)
    for cut in range(len(raw) + 1):
        when = f"the bytes come in two chunks, cut after byte {cut}"
        came = payloads(MarkedFrames, raw[:cut], raw[cut:], when=when)
        expect(came, [FIRST, b"", SECOND], when=when)
    single = [raw[place : place + 1] for place in range(len(raw))]
    came = payloads(MarkedFrames, *single, when="byte by byte")
    expect(came, [FIRST, b"", SECOND], when="the bytes come one by one")


@TASK.part(
    "a mark inside a payload is payload",
    idea="A mark says that a frame may begin here, and nothing more. As long as the length holds, "
    "what is inside it belongs to the frame, whatever it looks like.",
)
def a_mark_inside(MarkedFrames):
    for inside in (b"a" + MARK + b"b", marked(SECOND), MARK * 3):
        raw = marked(inside) + marked(THIRD)
        when = f"a payload is {inside!r}"
        came = payloads(MarkedFrames, raw, when=when)
        expect(briefly(came), briefly([inside, THIRD]), when=when)


@TASK.part(
    "a changed bit is never handed out",
    idea="The mark finds the frame, the checksum vouches for it: one does not replace the other. "
    "And this is what a mark makes worse: a bit that flips in it loses a payload of which every "
    "byte was good.",
)
def a_changed_bit(MarkedFrames):
    raw = marked(FIRST)
    for place in (*range(len(MARK)), *range(8, len(raw))):
        for bit in (0, 6):
            spoiled = flipped(raw, place, bit)
            behind(MarkedFrames, spoiled, f"bit {bit} of byte {place} of the first frame flips")


@TASK.part(
    "bytes are lost, and the next frame is read",
    idea="When a checksum does not fit, the length may be what is wrong. Who goes on where that "
    "length ends has believed it once more, and jumps over a good frame.",
)
def bytes_are_lost(MarkedFrames):
    raw = marked(FIRST)
    for place in range(START, len(raw) - 10):
        spoiled = raw[:place] + raw[place + 10 :]
        behind(MarkedFrames, spoiled, f"ten bytes are lost, from byte {place} of the first frame")
    for bit in range(8):
        behind(MarkedFrames, flipped(raw, 7, bit), f"bit {bit} of the first length flips")


@TASK.part(
    "a length above MOST is none",
    idea="After a hole any four bytes stand where the length should be. Who waits for a gigabyte "
    "waits for ever and keeps all that comes meanwhile; who raises gives up the frames behind.",
)
def a_length_above_most(MarkedFrames):
    raw = marked(FIRST)
    for place in range(4, 7):
        spoiled = raw[:place] + raw[place + 10 :]
        behind(MarkedFrames, spoiled, f"ten bytes are lost, from byte {place} of the first frame")
    for place, bit in ((4, 7), (5, 0), (6, 5)):
        behind(MarkedFrames, flipped(raw, place, bit), f"bit {bit} of byte {place} flips")


@TASK.part(
    "what was skipped is counted",
    idea="A reader that goes on must say that it did. The caller of the lost answer hears its "
    "deadline and no reason; a count that grows is how anybody learns that the wire loses bytes.",
)
def what_was_skipped(MarkedFrames):
    broken = flipped(marked(FIRST), 7, 1)  # its length, two less
    for spoiled, when in (
        (b"noise", "five bytes of noise"),
        (broken, "a broken frame"),
    ):
        reader = MarkedFrames()
        fed(reader, marked(SECOND) + spoiled + marked(THIRD), when)
        expect(reader.skipped, len(spoiled), when=f"{when}, between two good frames")


@TASK.part(
    "noise is not kept",
    idea="A mark may never come. Who keeps everything until it does can be filled with bytes by "
    "whoever is at the other end.",
)
def noise_is_not_kept(MarkedFrames):
    reader, when = MarkedFrames(), "16,000 bytes come, and no mark in them"
    for _ in range(16):
        fed(reader, b"z" * 1000, when)
    require(reader.skipped >= 15_990, "nearly all of it skipped", came=reader.skipped, when=when)


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("not noise yet")
def half_a_mark_is_noise():
    class MarkedFrames(mark_then_checksum()):
        def at_a_mark(self):
            place = self.rest.find(MARK)
            self.skip(len(self.rest) if place < 0 else place)
            return place >= 0

    return MarkedFrames


@TASK.wrong("may begin here")
def cut_at_the_marks():
    class MarkedFrames(mark_then_checksum()):
        def feed(self, chunk):
            found = []
            for payload in super().feed(chunk):
                found += [piece for piece in payload.split(MARK) if piece or not payload]
            return found

    return MarkedFrames


def by_rule(believe, behind_the_broken=lambda rest, end: 1, too_long=lambda reader: reader.skip(1)):
    """The solution with another rule for what is good, and for where to go on."""

    class MarkedFrames(mark_then_checksum()):
        def feed(self, chunk):
            self.rest += chunk
            found = []
            while self.at_a_mark() and len(self.rest) >= START:
                size, checksum = HEADER.unpack_from(self.rest, len(MARK))
                end = START + size
                if size > MOST and too_long is not None:
                    too_long(self)
                elif len(self.rest) < end:
                    break
                elif believe(self.rest, end, checksum):
                    found.append(self.rest[START:end])
                    self.rest = self.rest[end:]
                else:
                    self.skip(behind_the_broken(self.rest, end))
            return found

    return MarkedFrames


def fits(rest, end, checksum):
    return zlib.crc32(rest[START:end]) == checksum


@TASK.wrong("one does not replace the other")
def the_next_mark_vouches():
    def in_step(rest, end, checksum):
        return fits(rest, end, checksum) or rest[end : end + 4] == MARK

    MarkedFrames = by_rule(in_step)
    return MarkedFrames


@TASK.wrong("believed it once more")
def on_where_the_length_ends():
    MarkedFrames = by_rule(fits, lambda rest, end: end)
    return MarkedFrames


@TASK.wrong("waits for ever")
def any_length_is_waited_for():
    MarkedFrames = by_rule(fits, too_long=None)
    return MarkedFrames


@TASK.wrong("gives up the frames behind")
def too_long_is_an_error():
    def give_up(reader):
        raise ValueError("a frame that is too long")

    MarkedFrames = by_rule(fits, too_long=give_up)
    return MarkedFrames


@TASK.wrong("must say that it did")
def only_noise_is_counted():
    class MarkedFrames(mark_then_checksum()):
        def feed(self, chunk):
            before = self.skipped
            found = super().feed(chunk)
            if self.skipped - before > 30 and found:
                self.skipped = before
            return found

    return MarkedFrames


@TASK.wrong("Who keeps everything")
def kept_until_a_mark_comes():
    class MarkedFrames(mark_then_checksum()):
        def at_a_mark(self):
            place = self.rest.find(MARK)
            self.skip(max(0, place))
            return place >= 0

    return MarkedFrames

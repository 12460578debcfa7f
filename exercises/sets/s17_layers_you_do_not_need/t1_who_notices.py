"""17.1: ten mishaps, and who is the first to notice each."""

import struct
import zlib

from exercises.machine import Task, expect
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.errors import MalformedMessage, McpError
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.lines import LineSplitter
from mini_agent.mcp.messages import check_message, decode, encode, parse_response
from mini_agent.mcp.shapes import parse_call_result

TASK = Task(
    "17.1",
    "Ten mishaps: who notices?",
    level="warm-up",
    minutes=10,
    section="The question, for each layer",
    text="""
The answer about Tuesday, with the id 3, comes through a pipe, and another answer right behind it.
To each of these stacks something else happens on the way. Who is the first to notice?

- `"stack"`: splitting or loading refuses it, by the format or by the checksum
- `"schema"`: the client's schemas refuse what was loaded
- `"transport"`: the pipe ends, and half a message is there
- `"deadline"`: nothing is refused, and whoever waits for 3 waits in vain
- `"nobody"`: each caller has an answer, or each change is applied, and that is all

The stacks are those of the notebook. The check runs them.
""",
    hints=(
        "Two questions for each row. Is what arrives still good JSON or CBOR, in a frame with a "
        "checksum that fits? And does the answer 3 arrive at all?",
        "A checksum speaks of bytes that changed on the way. It says nothing about what the server "
        "meant, about the order, or about a message that was never there. And a reader who "
        "believes a length that is too long refuses nothing.",
        "stack twice, schema once, transport once, deadline twice, nobody four times.",
    ),
)

JSON_QUOTE = "JSON lines: the first quote arrives as a #"
JSON_ID = "JSON lines: the id 3 arrives as a 2"


@TASK.stub
def nothing_said_yet():
    notices = {
        "JSON lines: the 1 of 10:00 arrives as a 0": ...,
        "CBOR: the 1 of 10:00 arrives as a 0": ...,
        "JSON in frames: the 1 of 10:00 arrives as a 0": ...,
        "JSON lines: the first quote arrives as a #": ...,
        "JSON lines: the id 3 arrives as a 2": ...,
        "JSON in frames: the length arrives 65,536 too long": ...,
        "JSON in frames: the server sends an empty structuredContent": ...,
        "JSON lines: the server dies in the middle of a line": ...,
        "JSON in frames: the two answers change places": ...,
        "JSON in frames: of three changes the second is lost": ...,
    }
    return notices


@TASK.solution
def as_it_runs():
    notices = {
        "JSON lines: the 1 of 10:00 arrives as a 0": "nobody",
        "CBOR: the 1 of 10:00 arrives as a 0": "nobody",
        "JSON in frames: the 1 of 10:00 arrives as a 0": "stack",
        "JSON lines: the first quote arrives as a #": "stack",
        "JSON lines: the id 3 arrives as a 2": "deadline",
        "JSON in frames: the length arrives 65,536 too long": "deadline",
        "JSON in frames: the server sends an empty structuredContent": "schema",
        "JSON lines: the server dies in the middle of a line": "transport",
        "JSON in frames: the two answers change places": "nobody",
        "JSON in frames: of three changes the second is lost": "nobody",
    }
    return notices


@TASK.right
def by_who_notices():
    whose = {
        "stack": ("JSON in frames: the 1 of 10:00 arrives as a 0", JSON_QUOTE),
        "schema": ("JSON in frames: the server sends an empty structuredContent",),
        "transport": ("JSON lines: the server dies in the middle of a line",),
        "deadline": (JSON_ID, "JSON in frames: the length arrives 65,536 too long"),
    }
    known = {name: who for who, names in whose.items() for name in names}
    notices = {name: known.get(name, "nobody") for name in as_it_runs()}
    return notices


# -- the check: the notebook's stacks, and what happens to them -----------------------------------

HEADER, MOST = struct.Struct(">II"), 2**20


def framed(message):
    payload = encode(message)
    return HEADER.pack(len(payload), zlib.crc32(payload)) + payload


def line(message):
    return encode(message) + b"\n"


class Frames:
    """The notebook's, with CRC-32."""

    def __init__(self):
        self.rest = b""

    def feed(self, chunk):
        self.rest += chunk
        while len(self.rest) >= HEADER.size:
            size, checksum = HEADER.unpack_from(self.rest)
            if size > MOST:
                raise MalformedMessage(f"a frame of {size:,} bytes")
            if len(self.rest) < (end := HEADER.size + size):
                return
            payload, self.rest = self.rest[HEADER.size : end], self.rest[end:]
            if zlib.crc32(payload) != checksum:
                raise MalformedMessage("the checksum does not fit")
            yield payload


class Items:
    """The notebook's: CBOR, which knows its own length. Whole chunks are enough here."""

    rest = b""

    def feed(self, chunk):
        import io

        import cbor2

        reader = io.BytesIO(chunk)
        while reader.tell() < len(chunk):
            try:
                yield cbor2.load(reader)
            except cbor2.CBORDecodeError as cause:
                raise MalformedMessage("this is no CBOR") from cause


def packed_as_cbor(message):
    import cbor2

    return cbor2.dumps(message)


STACKS = {
    "JSON lines": (line, LineSplitter, decode),
    "JSON in frames": (framed, Frames, decode),
    "CBOR": (packed_as_cbor, Items, check_message),
}


def flipped(raw, place, bit=0):
    return raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :]


def of_1000(raw):
    return flipped(raw, raw.index(b"10:00"))


def of_the_quote(raw):
    place = raw.index(b'"')
    return raw[:place] + b"#" + raw[place + 1 :]


def of_the_id(raw):
    return raw.replace(b'"id":3', b'"id":2').replace(b'"id": 3', b'"id": 2')


def of_the_length(raw):
    return flipped(raw, 1)


ON_THE_WAY = {
    "the 1 of 10:00 arrives as a 0": of_1000,
    "the first quote arrives as a #": of_the_quote,
    "the id 3 arrives as a 2": of_the_id,
    "the length arrives 65,536 too long": of_the_length,
}


async def two_answers():
    """What a calendar answers to 3 and 5, and the tool that promised it."""
    wire = InMemoryTransport(calendar_server())
    async with McpClient(wire, server="calendar") as client:
        tools = {tool.name: tool for tool in await client.connect()}
        for date in ("2026-08-04", "2026-08-05", "2026-08-06"):
            await client.call("calendar_query", {"date": date})
    said = {m["id"]: m for _, m in wire.transcript if "result" in m}
    return said[3], said[5], tools["calendar_query"]


def sent(mishap, pack, tuesday, behind):
    """The bytes that arrive."""
    if mishap in ON_THE_WAY:
        return ON_THE_WAY[mishap](pack(tuesday)) + pack(behind)
    if mishap == "the server sends an empty structuredContent":
        result = {**tuesday["result"], "structuredContent": {}}
        return pack({**tuesday, "result": result}) + pack(behind)
    if mishap == "the server dies in the middle of a line":
        return pack(tuesday)[:100]
    if mishap == "the two answers change places":
        return pack(behind) + pack(tuesday)
    changes = [
        {"jsonrpc": "2.0", "method": "changed", "params": {"at": at, "title": title}}
        for at, title in (("10:00", "Budget"), ("14:00", None), ("16:00", "Review"))
    ]
    return pack(changes[0]) + pack(changes[2]) + pack(tuesday)


async def who_notices(row):
    stack, mishap = row.split(": ", 1)
    pack, splitter, load = STACKS[stack]
    tuesday, behind, query = await two_answers()
    reader = splitter()
    try:
        got = [load(piece) for piece in reader.feed(sent(mishap, pack, tuesday, behind))]
    except MalformedMessage:
        return "stack"
    if reader.rest and "dies" in mishap:
        return "transport"
    ours = [message for message in got if message.get("id") == 3]
    if not ours:
        return "deadline"
    try:
        parse_call_result(parse_response(ours[0]), query)
    except McpError:
        return "schema"
    return "nobody"


async def compare(notices, *rows):
    for row in rows:
        expect(notices.get(row), await who_notices(row), when=row)


@TASK.part(
    "a bit of a value",
    idea="A meeting at 00:00 is as good a message as one at 10:00. No format contradicts it, and "
    "being binary is no protection; only who has computed a number of the bytes can tell.",
)
async def a_bit_of_a_value(notices):
    rows = [row for row in as_it_runs() if "10:00" in row]
    await compare(notices, *rows)


@TASK.part(
    "a bit that the reading rests on",
    idea="A format notices what breaks the format. An id that changed breaks nothing: nobody takes "
    "the answer. And who believes a length that is too long waits for bytes that nobody sends: "
    "only a deadline ends both, so no checksum replaces it.",
)
async def a_bit_of_the_form(notices):
    await compare(notices, JSON_QUOTE, JSON_ID)
    await compare(notices, "JSON in frames: the length arrives 65,536 too long")


@TASK.part(
    "nothing was changed on the way",
    idea="A checksum says that the bytes are those that were sent, and they may have been sent "
    "wrong: that is the schema's. Nor does any message say that nobody is there any more: that is "
    "the transport's. These two are the layers that we do need.",
)
async def nothing_changed(notices):
    await compare(notices, "JSON in frames: the server sends an empty structuredContent")
    await compare(notices, "JSON lines: the server dies in the middle of a line")


@TASK.part(
    "every message is whole",
    idea="Each frame is good by itself, so none notices what is wrong between them. For answers "
    "that does no harm: each belongs to its id. A lost change does: changes need "
    "numbers.",
)
async def every_message_whole(notices):
    await compare(notices, "JSON in frames: the two answers change places")
    await compare(notices, "JSON in frames: of three changes the second is lost")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("being binary is no protection")
def cbor_notices():
    notices = {**as_it_runs(), "CBOR: the 1 of 10:00 arrives as a 0": "stack"}
    return notices


@TASK.wrong("No format contradicts it")
def the_schema_notices_midnight():
    notices = {**as_it_runs(), "JSON lines: the 1 of 10:00 arrives as a 0": "schema"}
    return notices


@TASK.wrong("nobody takes the answer")
def the_id_is_checked_by_the_schema():
    notices = {**as_it_runs(), JSON_ID: "schema"}
    return notices


@TASK.wrong("only a deadline ends both")
def a_frame_notices_everything():
    notices = {**as_it_runs(), "JSON in frames: the length arrives 65,536 too long": "stack"}
    return notices


@TASK.wrong("may have been sent wrong")
def the_checksum_vouches_for_the_server():
    row = "JSON in frames: the server sends an empty structuredContent"
    notices = {**as_it_runs(), row: "stack"}
    return notices


@TASK.wrong("nobody is there any more")
def half_a_line_is_bad_json():
    notices = {**as_it_runs(), "JSON lines: the server dies in the middle of a line": "stack"}
    return notices


@TASK.wrong("what is wrong between them")
def frames_notice_a_loss():
    notices = {**as_it_runs(), "JSON in frames: of three changes the second is lost": "stack"}
    return notices


@TASK.wrong("each belongs to its id")
def the_order_matters():
    notices = {**as_it_runs(), "JSON in frames: the two answers change places": "schema"}
    return notices

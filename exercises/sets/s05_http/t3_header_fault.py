"""05.3: the server's side of the mirrored headers."""

import base64
import binascii
import re

from exercises.machine import Task, doing, require
from mini_agent.mcp.headers import NAMED_BY, standard_headers
from mini_agent.mcp.messages import META, build_meta, build_request

TASK = Task(
    "05.3",
    "`header_fault`: why a gateway may trust a header",
    level="solid",
    minutes=20,
    section="Why say it twice?",
    text="""
A gateway decides by headers and opens no body. That is safe only if the server behind it compares
the two. Write the server's side, `header_fault(headers, message)`: a few words on why these headers
do not fit this body, `""` when they do.

- `MCP-Protocol-Version` and `Mcp-Method` say the version and the method of the body; `Mcp-Name`
  says the name, for the methods in `NAMED_BY`. All of them are required.
- `headers` is a dict as it came. The names of headers may be in large or small letters.
- `Mcp-Name` may be in base64, also where that was not needed. What stands in it is compared.
- A client may send anything in a header, and an exception is no answer.

`message` is a good request. With no fault the server runs it.
""",
    hints=(
        "What do the three headers have to say? Take that from the body. Then compare with what "
        "came, header by header.",
        "`standard_headers(message)` gives one way to write them, and there are others: another "
        "case of the names, base64 where plain would do. So decode what came, do not encode what "
        "you expect. `base64.b64decode` skips what is no base64 unless it is told to `validate`.",
        "Make the names small first. A header that is not there is a fault. For `Mcp-Name`, if it "
        "begins with =?base64? and ends with ?=, decode what is between, and take ValueError "
        "(UnicodeDecodeError is one) for a fault. Then the texts must be equal, letter by letter.",
    ),
)


@TASK.solution
def decode_and_compare():
    def header_fault(headers, message):
        ### BEGIN SOLUTION
        sent = {name.lower(): value for name, value in headers.items()}
        params, method = message["params"], message["method"]
        wanted = {
            "mcp-protocol-version": params["_meta"][f"{META}protocolVersion"],
            "mcp-method": method,
        }
        if method in NAMED_BY:
            wanted["mcp-name"] = params[NAMED_BY[method]]
        for name, value in wanted.items():
            if name not in sent:
                return f"{name} is missing"
            text = sent[name]
            encoded = re.fullmatch(r"=\?base64\?(.*)\?=", text)
            if encoded and name == "mcp-name":
                try:
                    text = base64.b64decode(encoded[1], validate=True).decode()
                except ValueError:
                    return f"{name} holds no base64 of a text"
            if text != value:
                return f"{name} does not say what the body says"
        return ""
        ### END SOLUTION

    return header_fault


@TASK.right
def every_spelling_that_is_right():
    def header_fault(headers, message):
        wanted = standard_headers(message)
        for key, plain in wanted.items():
            values = [text for name, text in headers.items() if name.casefold() == key.casefold()]
            if len(values) != 1:
                return f"{key}: {len(values)} of them"
            allowed = {plain}
            if key == "Mcp-Name":
                name = message["params"].get("name", message["params"].get("uri"))
                allowed.add(f"=?base64?{base64.b64encode(name.encode()).decode()}?=")
            if values[0] not in allowed:
                return f"{key} says something else"
        return ""

    return header_fault


def faults_of(headers, message, without=""):
    """The same with one rule left out, for the answers that forget it."""
    small = str if without == "case" else str.lower
    sent = {small(name): value for name, value in headers.items()}
    params, method = message["params"], message["method"]
    wanted = {
        "MCP-Protocol-Version": params["_meta"][f"{META}protocolVersion"],
        "Mcp-Method": method,
    }
    if method in NAMED_BY or without == "named":
        wanted["Mcp-Name"] = params.get(NAMED_BY.get(method, ""), "")
    for name, value in wanted.items():
        if small(name) not in sent and without != "required":
            return "missing"
        text = sent.get(small(name), value)
        inside = text[9:-2] if text.startswith("=?base64?") and text.endswith("?=") else None
        if inside is not None and name == "Mcp-Name":
            expected = binascii.Error if without == "exception" else ValueError
            try:
                text = base64.b64decode(inside, validate=without != "validate").decode()
            except expected:
                return "no base64"
        same = str.lower if without == "letters" else str
        if same(text) != same(value) and name != without:
            return "another value"
    return ""


# -- the check ------------------------------------------------------------------------------------


def calling(name="calendar_query"):
    params = {"name": name, "arguments": {"date": "2026-08-03"}}
    return build_request(1, "tools/call", params, meta=build_meta())


def reading(uri):
    return build_request(2, "resources/read", {"uri": uri}, meta=build_meta())


def listing():
    return build_request(3, "tools/list", {}, meta=build_meta())


def encoded(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return f"=?base64?{base64.b64encode(raw).decode()}?="


def judged(header_fault, headers, message):
    with doing(f"the headers are {headers} and the body calls for {message['method']}"):
        came = header_fault(dict(headers), message)
    require(isinstance(came, str), 'a text, "" for no fault', came=came)
    return came


def must_fit(header_fault, headers, message):
    came = judged(header_fault, headers, message)
    name = message["params"].get("name") or message["params"].get("uri") or "no name"
    when = f"the headers are {headers} and the body says {message['method']}, {name}"
    require(came == "", 'no fault, ""', came=came, when=when)


def must_be_refused(header_fault, headers, message):
    came = judged(header_fault, headers, message)
    name = message["params"].get("name") or message["params"].get("uri") or "no name"
    when = f"the headers are {headers} and the body says {message['method']}, {name}"
    require(came != "", "a fault, in words", came='no fault, ""', when=when)


@TASK.part(
    "what a good client sends, fits",
    idea="Only methods that are about one thing have a name to mirror. A server that asks for more "
    "than the revision does refuses good clients.",
)
def a_good_client(header_fault):
    for message in (calling(), listing(), reading("desk://plan"), calling("añadir cita")):
        must_fit(header_fault, standard_headers(message), message)


@TASK.part(
    "each of the three is required",
    idea="A header that is left out is a lie as well: the gateway saw nothing to hold back. What "
    "is absent must not count as right.",
)
def each_is_required(header_fault):
    for missing in standard_headers(calling()):
        headers = {k: v for k, v in standard_headers(calling()).items() if k != missing}
        must_be_refused(header_fault, headers, calling())


@TASK.part(
    "each of the three is compared",
    idea="The gateway lets a query through, and the body deletes. Version and method can lie as "
    "well as the name, and any of them may be what somebody on the way decides by.",
)
def each_is_compared(header_fault):
    lies = {"Mcp-Name": "calendar_query", "Mcp-Method": "tools/list"}
    lies["MCP-Protocol-Version"] = "2025-11-25"
    deleting = calling("calendar_delete")
    for name, lie in lies.items():
        must_be_refused(header_fault, {**standard_headers(deleting), name: lie}, deleting)


@TASK.part(
    "values are compared letter by letter",
    idea="Names of headers are alike in large and small letters; what they hold is not. "
    "`Delete` and `delete` are two tools.",
)
def letter_by_letter(header_fault):
    headers = {**standard_headers(calling()), "Mcp-Name": "Calendar_Query"}
    must_be_refused(header_fault, headers, calling())


@TASK.part(
    "header names in any case",
    idea="HTTP does not tell Mcp-Name from mcp-name, and HTTP/2 sends every name in small letters.",
)
def in_any_case(header_fault):
    for spelled in (str.lower, str.upper):
        headers = {spelled(name): v for name, v in standard_headers(calling()).items()}
        must_fit(header_fault, headers, calling())


@TASK.part(
    "base64 is read, not expected",
    idea="A client may encode a name that needed none. Compared as they stand, an honest client is "
    "refused; not decoded at all, a hidden name walks past.",
)
def base64_is_read(header_fault):
    headers = {**standard_headers(calling()), "Mcp-Name": encoded("calendar_query")}
    must_fit(header_fault, headers, calling())
    headers["Mcp-Name"] = encoded("calendar_delete")
    must_be_refused(header_fault, headers, calling())


@TASK.part(
    "bytes that are no text are a fault",
    idea="A header is somebody else's text. One that does not decode is a fault to be reported, "
    "and an exception here is a server that anybody can make fail.",
)
def no_text(header_fault):
    for value in (encoded(b"\xff\xfe"), "=?base64?x?="):
        headers = {**standard_headers(calling()), "Mcp-Name": value}
        must_be_refused(header_fault, headers, calling())


@TASK.part(
    "two decoders may not differ",
    idea="Python skips what is no base64, others do not. If the gateway reads one name and the "
    "server another, the comparison proves nothing: what is not clean is refused.",
)
def not_clean(header_fault):
    inside = base64.b64encode(b"calendar_query").decode()
    headers = {**standard_headers(calling()), "Mcp-Name": f"=?base64?{inside[:5]}*{inside[5:]}?="}
    must_be_refused(header_fault, headers, calling())


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("refuses good clients")
def a_name_on_every_request():
    def header_fault(headers, message):
        return faults_of(headers, message, without="named")

    return header_fault


@TASK.wrong("must not count as right")
def what_is_absent_is_fine():
    def header_fault(headers, message):
        return faults_of(headers, message, without="required")

    return header_fault


@TASK.wrong("can lie as well")
def only_the_name_is_compared():
    def header_fault(headers, message):
        first = faults_of(headers, message, without="MCP-Protocol-Version")
        return first and faults_of(headers, message, without="Mcp-Method")

    return header_fault


@TASK.wrong("two tools")
def all_in_small_letters():
    def header_fault(headers, message):
        return faults_of(headers, message, without="letters")

    return header_fault


@TASK.wrong("in small letters")
def as_it_is_written():
    def header_fault(headers, message):
        return faults_of(headers, message, without="case")

    return header_fault


@TASK.wrong("an honest client")
def as_our_own_client_would_write_it():
    def header_fault(headers, message):
        sent = {name.lower(): value for name, value in headers.items()}
        for name, value in standard_headers(message).items():
            if sent.get(name.lower()) != value:
                return f"{name} does not fit"
        return ""

    return header_fault


@TASK.wrong("that anybody can make fail")
def only_what_base64_raises():
    def header_fault(headers, message):
        return faults_of(headers, message, without="exception")

    return header_fault


@TASK.wrong("what is not clean")
def python_is_kind():
    def header_fault(headers, message):
        return faults_of(headers, message, without="validate")

    return header_fault

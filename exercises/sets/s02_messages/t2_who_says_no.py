"""02.2: twelve lines from servers, and who refuses each."""

from exercises.machine import Task, doing, expect
from mini_agent.errors import JsonRpcError, MalformedMessage
from mini_agent.mcp.messages import decode, parse_response

TASK = Task(
    "02.2",
    "Twelve lines: who says no?",
    level="solid",
    minutes=10,
    section='`parse_response`: the answer, or whose "no" it is',
    text="""
Each of these lines came as the answer to request 1. Say for each who refuses it, before you run
anything:

| write | when |
|---|---|
| `"decode"` | the bytes are no message |
| `"parse_response"` | a message, but no answer to a request |
| `"the peer"` | a good answer, and it says no: JsonRpcError |
| `"nobody"` | a good answer; what it says is for the layers above |

The check then runs `decode` and `parse_response` on every line.
""",
    hints=(
        "`decode` looks at the envelope alone: JSON, one object, version, id. `parse_response` "
        "looks at what an answer holds. Neither looks inside a result further than `resultType`.",
        'An `error` object is the peer\'s own no, whatever its text says. `"isError": true` stands '
        "in a result.",
        "Four lines are for `decode`, four for `parse_response`, two are the peer's, two nobody's. "
        "JSON-RPC 2.0, section 5: the member `error` must not exist when there was no error. A "
        "member that is null exists.",
    ),
    given="LINES",
)

LINES = {
    "a banner": b"Calendar server v1.2 ready",
    "a batch": b'[{"jsonrpc":"2.0","id":1,"result":{}}]',
    "the id true": b'{"jsonrpc":"2.0","id":true,"result":{}}',
    "not a number": b'{"jsonrpc":"2.0","id":1,"result":{"hours":NaN}}',
    "both": b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-1,"message":"?"}}',
    "an error that is null": b'{"jsonrpc":"2.0","id":1,"result":{},"error":null}',
    "a promise": b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-9"}}',
    "a request": b'{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}}',
    "no such tool": b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool"}}',
    "no id": b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}',
    "no resultType": b'{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"hours":3}}}',
    "a tool that failed": b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}',
}


@TASK.stub
def nothing_said_yet():
    says_no = {
        "a banner": ...,
        "a batch": ...,
        "the id true": ...,
        "not a number": ...,
        "both": ...,
        "an error that is null": ...,
        "a promise": ...,
        "a request": ...,
        "no such tool": ...,
        "no id": ...,
        "no resultType": ...,
        "a tool that failed": ...,
    }
    return says_no


@TASK.solution
def as_they_run():
    says_no = {
        "a banner": "decode",
        "a batch": "decode",
        "the id true": "decode",
        "not a number": "decode",
        "both": "parse_response",
        "an error that is null": "parse_response",
        "a promise": "parse_response",
        "a request": "parse_response",
        "no such tool": "the peer",
        "no id": "the peer",
        "no resultType": "nobody",
        "a tool that failed": "nobody",
    }
    return says_no


@TASK.right
def by_who_says_it():
    who = {
        "decode": ["a banner", "a batch", "the id true", "not a number"],
        "parse_response": ["both", "an error that is null", "a promise", "a request"],
        "the peer": ["no such tool", "no id"],
        "nobody": ["no resultType", "a tool that failed"],
    }
    says_no = {name: refuser for refuser, names in who.items() for name in names}
    return says_no


# -- the check ------------------------------------------------------------------------------------


def who_refuses(raw):
    try:
        message = decode(raw)
    except MalformedMessage:
        return "decode"
    try:
        parse_response(message)
    except JsonRpcError:
        return "the peer"
    except MalformedMessage:
        return "parse_response"
    return "nobody"


def compare(says_no, *names):
    for name in names:
        with doing(f"the line is {LINES[name].decode()}"):
            expect(says_no.get(name), who_refuses(LINES[name]))


@TASK.part(
    "bytes that are no message",
    idea="decode judges what every message must be: JSON in UTF-8, one object, version 2.0, an id "
    "that is a string or an integer. Python is laxer: its json reads NaN, and True == 1.",
)
def no_message(says_no):
    compare(says_no, "a banner", "a batch", "the id true", "not a number")


@TASK.part(
    "messages that are no answer",
    idea="An answer holds either a result or an error: a member that is null is there. What it "
    "means must be known: a guess at an unknown kind of result misleads every step after it.",
)
def no_answer(says_no):
    compare(says_no, "both", "an error that is null", "a promise", "a request")


@TASK.part(
    "the peer's own no",
    idea="An error object arrived whole, so nothing is malformed: the peer understood, or could "
    "not read us, and says so. It may lack the id, since a request that was not read has none.",
)
def the_peers_no(says_no):
    compare(says_no, "no such tool", "no id")


@TASK.part(
    "answers, though they look odd",
    idea="An absent resultType means complete. isError stands in a result: the tool ran and could "
    "not do it, which is business, and nothing that the protocol refuses.",
)
def good_answers(says_no):
    compare(says_no, "no resultType", "a tool that failed")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("True == 1")
def what_python_reads_is_good():
    says_no = {**as_they_run(), "the id true": "nobody", "not a number": "nobody"}
    return says_no


@TASK.wrong("a member that is null is there")
def null_counts_as_absent():
    says_no = {**as_they_run(), "an error that is null": "nobody"}
    return says_no


@TASK.wrong("a guess at an unknown kind of result")
def a_promise_is_an_empty_answer():
    says_no = {**as_they_run(), "a promise": "nobody"}
    return says_no


@TASK.wrong("nothing is malformed")
def an_error_without_an_id_is_malformed():
    says_no = {**as_they_run(), "no id": "parse_response"}
    return says_no


@TASK.wrong("which is business")
def a_tool_error_is_the_peers_no():
    says_no = {**as_they_run(), "a tool that failed": "the peer"}
    return says_no

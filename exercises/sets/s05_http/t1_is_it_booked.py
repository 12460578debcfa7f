"""05.1: twelve replies to a booking, and whether the lunch is booked."""

import functools

import httpx

from exercises.machine import Task, expect
from mini_agent import draw
from mini_agent.errors import McpError
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.messages import encode
from mini_agent.trace import Trace

TASK = Task(
    "05.1",
    "Twelve replies: is the lunch booked?",
    level="warm-up",
    minutes=8,
    section="`refusal`: a status and no message",
    text="""
Our POST says: book a lunch. Each of these came back. Say for each whether the lunch is booked:
`"yes"`, `"no"`, or `"perhaps"` where the server may have acted and nobody here can know.

The check then sends the booking to a server that replies so, and reads `may_have_acted`.
""",
    hints=(
        "For each, ask in this order: did an answer of MCP come? If not: could the request have "
        "reached the server that books, and who spoke in its place?",
        "A 4xx says that the request was refused before anything was done, and so does a redirect "
        "that nobody follows. A 5xx says that something broke, and not before what.",
        "Two times yes. Perhaps: the page under 200, the cut stream, the connection that breaks, "
        "and both 5xx. The rest is no.",
    ),
)


@TASK.stub
def nothing_said_yet():
    booked = {
        "200, the answer as JSON": ...,
        "200, an event stream: progress, then the answer": ...,
        "200, an answer with isError: the hour is taken": ...,
        "200, a page that asks for a password": ...,
        "200, an event stream: progress, then a cut": ...,
        "no connection to that address": ...,
        "a connection, and it breaks": ...,
        "307, ask at another address": ...,
        "401, with a challenge": ...,
        "429, come again in an hour": ...,
        "502, a page of a gateway": ...,
        "500, a JSON-RPC error: internal error (-32603)": ...,
    }
    return booked


@TASK.solution
def as_it_runs():
    booked = {
        "200, the answer as JSON": "yes",
        "200, an event stream: progress, then the answer": "yes",
        "200, an answer with isError: the hour is taken": "no",
        "200, a page that asks for a password": "perhaps",
        "200, an event stream: progress, then a cut": "perhaps",
        "no connection to that address": "no",
        "a connection, and it breaks": "perhaps",
        "307, ask at another address": "no",
        "401, with a challenge": "no",
        "429, come again in an hour": "no",
        "502, a page of a gateway": "perhaps",
        "500, a JSON-RPC error: internal error (-32603)": "perhaps",
    }
    return booked


@TASK.right
def by_what_is_known():
    known = {"200, the answer as JSON", "200, an event stream: progress, then the answer"}
    refused = {"200, an answer with isError: the hour is taken", "no connection to that address"}
    refused |= {"307, ask at another address", "401, with a challenge"}
    refused |= {"429, come again in an hour"}
    booked = {
        reply: "yes" if reply in known else "no" if reply in refused else "perhaps"
        for reply in REPLIES
    }
    return booked


# -- the check ------------------------------------------------------------------------------------


class Parts(httpx.AsyncByteStream):
    """A body that comes in parts; an exception among them is raised."""

    def __init__(self, *parts):
        self.parts = parts

    async def __aiter__(self):
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            yield part


def message(**members):
    return {"jsonrpc": "2.0", "id": 1, **members}


def result(text, **more):
    content = [{"type": "text", "text": text}]
    return message(result={"resultType": "complete", "content": content, **more})


def stream(*parts):
    body = [b"data: " + encode(p) + b"\n\n" if isinstance(p, dict) else p for p in parts]
    return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=Parts(*body))


def raises(error):
    raise error


PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
CHALLENGE = {"WWW-Authenticate": "Bearer"}
ELSEWHERE = {"Location": "https://elsewhere.example/mcp"}
REPLIES = {
    "200, the answer as JSON": lambda: httpx.Response(200, json=result("Booked.")),
    "200, an event stream: progress, then the answer": lambda: stream(PROGRESS, result("Booked.")),
    "200, an answer with isError: the hour is taken": lambda: httpx.Response(
        200, json=result("The hour is taken.", isError=True)
    ),
    "200, a page that asks for a password": lambda: httpx.Response(200, html="<h1>Password</h1>"),
    "200, an event stream: progress, then a cut": lambda: stream(
        PROGRESS, httpx.ReadError("connection reset")
    ),
    "no connection to that address": lambda: raises(httpx.ConnectError("nobody listens")),
    "a connection, and it breaks": lambda: raises(httpx.ReadError("connection reset")),
    "307, ask at another address": lambda: httpx.Response(307, headers=ELSEWHERE),
    "401, with a challenge": lambda: httpx.Response(401, headers=CHALLENGE),
    "429, come again in an hour": lambda: httpx.Response(429, headers={"Retry-After": "3600"}),
    "502, a page of a gateway": lambda: httpx.Response(502, html="<h1>Bad Gateway</h1>"),
    "500, a JSON-RPC error: internal error (-32603)": lambda: httpx.Response(
        500, json=message(error={"code": -32603, "message": "Internal error"})
    ),
}


async def whether_booked(reply, trace):
    web = httpx.AsyncClient(transport=httpx.MockTransport(lambda request: REPLIES[reply]()))
    transport = HttpTransport("https://calendar.example/mcp", client=web)
    async with web, McpClient(transport, server="calendar", trace=trace) as client:
        try:
            said = await client.call("calendar_create", {"title": "Lunch"})
        except McpError as error:
            return "perhaps" if error.may_have_acted else "no"
    return "no" if said.is_error else "yes"


async def compare(booked, *replies):
    for reply in replies:
        trace = Trace()
        wanted = await whether_booked(reply, trace)
        picture = functools.partial(draw.sequence, trace)
        expect(booked.get(reply), wanted, when=f"the reply is {reply}", draw=picture)


@TASK.part(
    "an answer came",
    idea="An answer settles it, and JSON or event stream is the server's choice. isError is an "
    "answer too: the tool itself says that it did not do it.",
)
async def an_answer_came(booked):
    await compare(booked, "200, the answer as JSON")
    await compare(booked, "200, an event stream: progress, then the answer")
    await compare(booked, "200, an answer with isError: the hour is taken")


@TASK.part(
    "refused before anything was done",
    idea="Who was never reached has done nothing. A 4xx refuses the request first, and a redirect "
    "sends us away: it is not followed, so nothing was asked over there.",
)
async def refused_first(booked):
    await compare(booked, "no connection to that address", "307, ask at another address")
    await compare(booked, "401, with a challenge", "429, come again in an hour")


@TASK.part(
    "nobody said",
    idea="The request had left. From this side, a reply that was lost looks just like a request "
    "that never arrived, and a good status over a page is no answer of the server.",
)
async def nobody_said(booked):
    await compare(booked, "200, a page that asks for a password")
    await compare(booked, "200, an event stream: progress, then a cut")
    await compare(booked, "a connection, and it breaks")


@TASK.part(
    "something broke on the other side",
    idea="A gateway does not know what the server behind it has done, and an internal error says "
    "that the server broke, not how far it had come.",
)
async def it_broke_over_there(booked):
    await compare(booked, "502, a page of a gateway")
    await compare(booked, "500, a JSON-RPC error: internal error (-32603)")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("An answer settles it")
def a_stream_is_never_sure():
    reply = "200, an event stream: progress, then the answer"
    booked = {**as_it_runs(), reply: "perhaps"}
    return booked


@TASK.wrong("the tool itself says")
def the_status_is_200():
    booked = {**as_it_runs(), "200, an answer with isError: the hour is taken": "yes"}
    return booked


@TASK.wrong("refuses the request first")
def every_error_is_a_perhaps():
    booked = {**as_it_runs(), "429, come again in an hour": "perhaps"}
    booked["401, with a challenge"] = "perhaps"
    return booked


@TASK.wrong("it is not followed")
def the_redirect_is_followed():
    booked = {**as_it_runs(), "307, ask at another address": "perhaps"}
    return booked


@TASK.wrong("looks just like")
def no_answer_no_lunch():
    booked = {**as_it_runs(), "a connection, and it breaks": "no"}
    booked["200, an event stream: progress, then a cut"] = "no"
    return booked


@TASK.wrong("is no answer of the server")
def a_good_status_is_a_yes():
    booked = {**as_it_runs(), "200, a page that asks for a password": "yes"}
    return booked


@TASK.wrong("not how far")
def an_error_object_is_a_no():
    booked = {**as_it_runs(), "500, a JSON-RPC error: internal error (-32603)": "no"}
    return booked


@TASK.wrong("A gateway does not know")
def a_gateway_says_no():
    booked = {**as_it_runs(), "502, a page of a gateway": "no"}
    return booked

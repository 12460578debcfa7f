"""03.2: a transport around another one, that keeps a transcript."""

import asyncio
from dataclasses import replace

from exercises.machine import Task, expect, refused_async, require
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent import draw
from mini_agent.errors import TransportClosed
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.messages import build_meta, build_notification, build_request
from mini_agent.mcp.transport import NO_ENVELOPE, FakeTransport, OneListener
from mini_agent.trace import Trace

TASK = Task(
    "03.2",
    "`Recording`: a transport around any other",
    level="solid",
    minutes=20,
    section="`McpTransport`",
    text="""
Write `Recording(inner)`: a transport that hands everything to `inner` and keeps a `transcript`, a
list of pairs in the order in which things happened:

| pair | when |
|---|---|
| `("sent", message)` | before it is handed on |
| `("received", message)` | a response, and also what the listener hears |
| `("failed", error)` | `inner` raised an McpError or anything else that ends a call |

Whoever uses it must not notice. A transport has five members: `send`, `close`, `listener`, `trace`,
`mirrors_envelope`.
""",
    hints=(
        "Go through the five members one by one and ask what the client does with it: three of "
        "them are attributes that the client sets or reads.",
        "`listener` and `trace` are set by the client and used by `inner`, so both need a setter "
        "that passes on. What `inner` hears must go into the transcript on its way.",
        "In the setter of `listener`, give `inner.listener` a function of yours that appends to "
        "the transcript and calls the client's. In `send`, use `try`, `except BaseException`, "
        "append, `raise` with nothing behind it.",
    ),
)


@TASK.stub
def two_of_the_five():
    class Recording:
        def __init__(self, inner):
            self.inner = inner
            self.transcript = []

        async def send(self, message, *, envelope=NO_ENVELOPE):
            raise NotImplementedError  # your code here

        async def close(self):
            raise NotImplementedError  # your code here

        # and three more

    return Recording


@TASK.solution
def member_by_member():
    class Recording:
        def __init__(self, inner):
            self.inner = inner
            self.transcript = []

        async def send(self, message, *, envelope=NO_ENVELOPE):
            self.transcript.append(("sent", message))
            try:
                response = await self.inner.send(message, envelope=envelope)
            except BaseException as error:  # a cancel as well; it goes on as it came
                self.transcript.append(("failed", error))
                raise
            if response is not None:
                self.transcript.append(("received", response))
            return response

        async def close(self):
            await self.inner.close()

        @property
        def mirrors_envelope(self):
            return self.inner.mirrors_envelope

        @property
        def trace(self):
            return self.inner.trace

        @trace.setter
        def trace(self, trace):
            self.inner.trace = trace

        @property
        def listener(self):
            return self.inner.listener

        @listener.setter
        def listener(self, listener):
            def hear(message):
                self.transcript.append(("received", message))
                listener(message)

            self.inner.listener = hear

    return Recording


@TASK.right
def with_a_listener_of_its_own():
    class Recording(OneListener):
        def __init__(self, inner):
            object.__setattr__(self, "inner", inner)
            self.transcript = []
            self.inner.listener = self.take
            self.mirrors_envelope = inner.mirrors_envelope

        def __setattr__(self, name, value):
            if name == "trace":
                self.inner.trace = value
            super().__setattr__(name, value)

        def take(self, message):
            self.keep("received", message)
            if self.listener is not None:
                self.listener(message)

        def keep(self, what, item):
            if item is not None:
                self.transcript.append((what, item))
            return item

        async def send(self, message, *, envelope=NO_ENVELOPE):
            self.keep("sent", message)
            try:
                return self.keep("received", await self.inner.send(message, envelope=envelope))
            except (Exception, asyncio.CancelledError) as error:
                self.keep("failed", error)
                raise

        async def close(self):
            await self.inner.close()

    return Recording


# -- the check ------------------------------------------------------------------------------------

RESULT = {"result": {"resultType": "complete", "content": []}}


def asking(request_id=1):
    params = {"name": "calendar_query", "arguments": {"date": "2026-08-03"}}
    return build_request(request_id, "tools/call", params, meta=build_meta())


@TASK.part(
    "both sides are in the transcript, in order",
    idea="A record is worth its order: what was sent stands there before it leaves, or a crash "
    "between the two leaves no trace of it. A notification has no answer to write down.",
)
async def both_sides(Recording):
    seen = []

    def count(request):
        seen.append(len(recording.transcript))
        return RESULT

    recording = Recording(FakeTransport([count]))
    cancelled = build_notification("notifications/cancelled", {"requestId": 7})
    response = await recording.send(asking(1))
    expect(await recording.send(cancelled), None, when="a notification was sent")
    expect(
        recording.transcript,
        [("sent", asking(1)), ("received", response), ("sent", cancelled)],
    )
    expect(seen, [1], when="the server got the request and we counted the pairs so far")


@TASK.part(
    "a failure goes on as it came",
    idea="The same object: class, attributes and traceback say what happened, and the client adds "
    "to it. None in its place is a dead connection that looks like an empty answer.",
)
async def a_failure_goes_on(Recording):
    broken = TransportClosed("it broke", exit_code=3)
    recording = Recording(FakeTransport([broken]))
    error = await refused_async(TransportClosed, recording.send(asking()))
    require(error is broken, "the same exception object", came="another one of its class")
    expect([what for what, _ in recording.transcript], ["sent", "failed"])


@TASK.part(
    "the listener hears, and the transcript has it before the answer",
    idea="The client sets the listener on the outside; the inner transport calls its own. A "
    "message that answers nobody is heard before its send returns, and stands there in the record.",
)
async def the_listener_hears(Recording):
    progress = build_notification("notifications/progress", {"progressToken": 1, "progress": 0.5})
    heard = []
    recording = Recording(FakeTransport([[progress, RESULT]]))
    recording.listener = heard.append
    await recording.send(asking())
    expect(heard, [progress], when="a notification came before the answer")
    expect([what for what, _ in recording.transcript], ["sent", "received", "received"])
    expect(recording.transcript[1][1], progress, when="a notification came before the answer")


class WithHeaders(FakeTransport):
    mirrors_envelope = True

    async def send(self, message, *, envelope=NO_ENVELOPE):
        self.envelope = dict(envelope)
        return await super().send(message)


@TASK.part(
    "headers travel as they do without it",
    idea="The client asks mirrors_envelope whether headers travel, and hands them to send. A "
    "wrapper that answers no, or drops them, makes a request that the server refuses.",
)
async def headers_travel(Recording):
    inner = WithHeaders([RESULT])
    recording = Recording(inner)
    expect(recording.mirrors_envelope, True, when="the inner transport mirrors")
    expect(Recording(FakeTransport([])).mirrors_envelope, False, when="the inner one does not")
    await recording.send(asking(), envelope={"Mcp-Param-Region": "north"})
    expect(inner.envelope, {"Mcp-Param-Region": "north"})


@TASK.part(
    "a cancel reaches the server",
    idea="Cancelling send is the cancel. Who shields the inner send, or lets it go on in a task of "
    "its own, leaves the server at work for nobody; who swallows the CancelledError goes on as if "
    "there were an answer.",
)
async def a_cancel_reaches_the_server(Recording):
    at_work, stopped = asyncio.Event(), asyncio.Event()

    async def never_answers(arguments, context):
        at_work.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    server = calendar_server()
    server.tools[0] = replace(server.tools[0], run=never_answers)
    recording = Recording(InMemoryTransport(server))
    task = asyncio.create_task(recording.send(asking()))
    await at_work.wait()
    task.cancel()
    await asyncio.wait([task], timeout=1)
    require(task.done() and task.cancelled(), "a task that is cancelled", came=task)
    await asyncio.wait([waiting := asyncio.create_task(stopped.wait())], timeout=1)
    require(waiting.done(), "the server's tool stopped", came="it is still at work")
    await recording.close()


@TASK.part(
    "close closes what is inside",
    idea="The client knows the outer transport only. If its close ends there, the server's process "
    "outlives everybody.",
)
async def close_closes(Recording):
    inner = FakeTransport([RESULT])
    recording = Recording(inner)
    await recording.close()
    await recording.close()
    expect(inner.closed, True, when="close was called twice")


@TASK.part(
    "the trace is whole",
    idea="The client sets trace on its transport. Where the inner one never gets it, the drawing "
    "lacks the layer that saw the bytes.",
)
async def the_trace_is_whole(Recording):
    trace = Trace()
    recording = Recording(InMemoryTransport(calendar_server()))
    async with McpClient(recording, server="calendar", trace=trace) as client:
        await client.call("calendar_query", {"date": "2026-08-04"})
    came = [event.what for event in trace.events if event.layer == "transport"]
    expect(came, ["sent", "received"], draw=lambda: draw.sequence(trace))


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("before it leaves")
def written_down_afterwards():
    class Recording(member_by_member()):
        async def send(self, message, *, envelope=NO_ENVELOPE):
            begin = len(self.transcript)
            try:
                response = await self.inner.send(message, envelope=envelope)
                self.transcript += [("received", response)] if response else []
                return response
            except BaseException as error:
                self.transcript.append(("failed", error))
                raise
            finally:
                self.transcript.insert(begin, ("sent", message))

    return Recording


@TASK.wrong("looks like an empty answer")
def the_failure_swallowed():
    class Recording(member_by_member()):
        async def send(self, message, *, envelope=NO_ENVELOPE):
            try:
                return await super().send(message, envelope=envelope)
            except TransportClosed:
                return None

    return Recording


@TASK.wrong("The same object")
def wrapped_in_another():
    class Recording(member_by_member()):
        async def send(self, message, *, envelope=NO_ENVELOPE):
            try:
                return await super().send(message, envelope=envelope)
            except TransportClosed as error:
                raise TransportClosed(f"recording: {error}") from error

    return Recording


@TASK.wrong("sets the listener on the outside")
def a_listener_that_stays_outside():
    class Recording(member_by_member()):
        listener = None

    return Recording


@TASK.wrong("or drops them")
def headers_dropped():
    class Recording(member_by_member()):
        async def send(self, message, *, envelope=NO_ENVELOPE):
            return await super().send(message)

    return Recording


@TASK.wrong("mirrors_envelope")
def a_fixed_no():
    class Recording(member_by_member()):
        mirrors_envelope = False

    return Recording


@TASK.wrong("Cancelling send is the cancel")
def the_inner_send_shielded():
    class Recording(member_by_member()):
        async def send(self, message, *, envelope=NO_ENVELOPE):
            return await asyncio.shield(super().send(message, envelope=envelope))

    return Recording


@TASK.wrong("as if there were an answer")
def the_cancel_swallowed():
    class Recording(member_by_member()):
        async def send(self, message, *, envelope=NO_ENVELOPE):
            try:
                return await super().send(message, envelope=envelope)
            except asyncio.CancelledError:
                return None

    return Recording


@TASK.wrong("outlives everybody")
def close_ends_here():
    class Recording(member_by_member()):
        async def close(self):
            self.closed = True

    return Recording


@TASK.wrong("saw the bytes")
def a_trace_of_its_own():
    class Recording(member_by_member()):
        trace = None

    return Recording

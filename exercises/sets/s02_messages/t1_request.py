"""02.1: one request that needs nothing before it."""

from exercises.machine import Task, expect, require, shown
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.messages import META, PROTOCOL_VERSION, build_meta

TASK = Task(
    "02.1",
    "A request that a stranger understands",
    level="warm-up",
    minutes=5,
    section="`build_request`",
    text="""
Write `ask(request_id, day)`: the message that calls the tool `calendar_query` with `day` as its
`date`. Make a plain dict, without `build_request`. Ten servers stand behind one address, none of
them remembers anything, and any of them may get it.

`META` is the prefix of the protocol's own keys, `PROTOCOL_VERSION` the version.
""",
    hints=(
        "Look at `request` in notebook 02: what stands at the top of the message, what inside "
        "`params`?",
        "Four keys at the top: `jsonrpc`, `id`, `method`, `params`. The method is the same for "
        "every tool of every server. Who asks, and in which version, stands in `params` too.",
        'The method is "tools/call". `params` has `name`, `arguments` and `_meta`; `_meta` has two '
        'keys, `META + "protocolVersion"` and `META + "clientCapabilities"`, the second an empty '
        "object.",
    ),
)

NEEDED = {f"{META}protocolVersion": PROTOCOL_VERSION, f"{META}clientCapabilities": {}}


@TASK.solution
def a_plain_dict():
    def ask(request_id, day):
        ### BEGIN SOLUTION
        meta = {f"{META}protocolVersion": PROTOCOL_VERSION, f"{META}clientCapabilities": {}}
        params = {"name": "calendar_query", "arguments": {"date": day}, "_meta": meta}
        return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
        ### END SOLUTION

    return ask


@TASK.right
def step_by_step_with_more_in_meta():
    def ask(request_id, day):
        message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {}}
        message["params"]["name"] = "calendar_query"
        message["params"]["arguments"] = {"date": day}
        message["params"]["_meta"] = build_meta(client_info={"name": "me", "version": "1"})
        return message

    return ask


# -- the check ------------------------------------------------------------------------------------


def asked(ask, request_id=1, day="2026-08-04"):
    """The learner's message, once it has the members that the parts look into."""
    message = ask(request_id, day)
    require(isinstance(message, dict), "a dict", came=message)
    require(isinstance(message.get("params"), dict), "a dict under params", came=message)
    return message


@TASK.part(
    "the call finds its tool",
    idea="All tools share one method, tools/call. Which tool it is stands in params.name, and what "
    "it gets in params.arguments.",
)
async def the_calendar_answers(ask):
    message = asked(ask)
    members = {"jsonrpc", "id", "method", "params"}
    require(members <= set(message), f"the members {', '.join(sorted(members))}", came=message)
    params = {**message["params"], "_meta": build_meta()}
    response = await InMemoryTransport(calendar_server()).send({**message, "params": params})
    came = response.get("error") or response["result"]["content"][0]["text"]
    found = response.get("result", {}).get("structuredContent", {}).get("appointments")
    when = f"the calendar gets {shown(message)}, with a _meta that the check fills in"
    require(found, "the appointments of that day", came=shown(came), when=when)


@TASK.part(
    "each request says version and capabilities",
    idea="There is no handshake that a server could remember. Each request must say all that the "
    "server needs, the second as well as the first.",
)
def every_request_says_it(ask):
    for number in (1, 2, 3):
        meta = asked(ask, number)["params"].get("_meta", {})
        came = {key: meta[key] for key in NEEDED if key in meta}
        expect(came, NEEDED, when=f"it is request {number} of this client")


@TASK.part(
    "the id goes out as it came in",
    idea='The ids 7 and "7" differ on the wire. An answer to the one finds nobody who waits for '
    "the other.",
)
def the_id_is_kept(ask):
    for request_id in (7, "7"):
        expect(asked(ask, request_id).get("id"), request_id)


@TASK.part(
    "two requests share nothing",
    idea="A message is a value, and it may still wait to be sent. Who fills in one dict again and "
    "again changes what was already handed over.",
)
def two_requests_share_nothing(ask):
    first, _ = asked(ask, 1), asked(ask, 2, "2026-08-05")
    came = first["params"].get("arguments")
    expect(came, {"date": "2026-08-04"}, when="a second request was made after the first")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("one method, tools/call")
def the_tool_as_the_method():
    def ask(request_id, day):
        return {**a_plain_dict()(request_id, day), "method": "calendar_query"}

    return ask


@TASK.wrong("in params.arguments")
def input_as_a_model_says_it():
    def ask(request_id, day):
        message = a_plain_dict()(request_id, day)
        message["params"]["input"] = message["params"].pop("arguments")
        return message

    return ask


@TASK.wrong("no handshake")
def without_meta():
    def ask(request_id, day):
        message = a_plain_dict()(request_id, day)
        del message["params"]["_meta"]
        return message

    return ask


@TASK.wrong("the second as well as the first")
def introduces_itself_once():
    known = set()

    def ask(request_id, day):
        message = a_plain_dict()(request_id, day)
        if known:
            del message["params"]["_meta"]
        known.add("us")
        return message

    return ask


@TASK.wrong("differ on the wire")
def every_id_a_text():
    def ask(request_id, day):
        return a_plain_dict()(str(request_id), day)

    return ask


@TASK.wrong("again and again")
def one_template_filled_in():
    arguments = {}

    def ask(request_id, day):
        arguments["date"] = day
        message = a_plain_dict()(request_id, day)
        message["params"]["arguments"] = arguments
        return message

    return ask

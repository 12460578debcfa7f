"""01.2: nine changes behind an MCP server, and what of each reaches the host."""

import httpx

from exercises.machine import Task, expect
from fake_servers import declare
from fake_servers.calendar import Calendar
from fake_servers.core import Server
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.client import McpClient

TASK = Task(
    "01.2",
    "Nine changes: what reaches the host?",
    level="solid",
    minutes=10,
    section="The same swap behind MCP",
    text="""
North's calendar stands behind an MCP server. One of these changes, and whoever runs the server has
mended it where they could. A host lists the tools, asks for robin's Monday and for kim's, and is
refused the second. What is different in the messages that pass?

| write | when |
|---|---|
| `"nothing"` | the same to the letter |
| `"a result"` | the model reads something else |
| `"the list"` | the model is offered something else, and the host must read its rules again |

The check makes each change and compares every message.
""",
    hints=(
        "Ask of each: is it knowledge of the service, or is it something that the server tells? "
        "The first ends at the server.",
        "A refusal's status and its fields are the service's. Its words are for the model to read.",
        "Four change nothing, three a list, two a result.",
    ),
)


@TASK.stub
def nothing_said_yet():
    changes = {
        "the key moves from a header into the address": ...,
        "the service moves to another host name": ...,
        "the service calls the field title summary": ...,
        "a refusal comes with status 200, and says so inside": ...,
        "the service words its refusal otherwise": ...,
        "the service has rooms, and the tool shows them": ...,
        "the tool has another name": ...,
        "the tool wants a reason as well, and must have it": ...,
        "the description of the tool has a word more": ...,
    }
    return changes


@TASK.solution
def as_they_pass():
    changes = {
        "the key moves from a header into the address": "nothing",
        "the service moves to another host name": "nothing",
        "the service calls the field title summary": "nothing",
        "a refusal comes with status 200, and says so inside": "nothing",
        "the service words its refusal otherwise": "a result",
        "the service has rooms, and the tool shows them": "a result",
        "the tool has another name": "the list",
        "the tool wants a reason as well, and must have it": "the list",
        "the description of the tool has a word more": "the list",
    }
    return changes


@TASK.right
def by_what_is_different():
    told = ["the service words its refusal otherwise"]
    told += ["the service has rooms, and the tool shows them"]
    changes = dict.fromkeys(as_they_pass(), "nothing") | dict.fromkeys(told, "a result")
    changes |= {name: "the list" for name in changes if "the tool " in name and name not in told}
    return changes


# -- the check ------------------------------------------------------------------------------------

DAY = "2026-08-03"


def service(change):
    """North, with that change."""
    calendar = Calendar()

    def answer(request):
        asked = request.url.params
        key = asked.get("key") if "key moves" in change else request.headers.get("X-Api-Key")
        if key != "key-17":
            return httpx.Response(401, json={"text": "unknown key"})
        if asked["owner"] != "robin":
            why = "no" if "otherwise" in change else f"this key may not read {asked['owner']}"
            inside = "inside" in change
            said = {"ok": False, "why": why} if inside else {"text": why}
            return httpx.Response(200 if inside else 403, json=said)
        found, title = calendar.on(asked["date"], "robin"), "title"
        title = "summary" if "summary" in change else title
        events = [{"start": a.start, title: a.title, "room": "2"} for a in found]
        return httpx.Response(200, json={"events": events})

    return answer


def fetch(change):
    """The tool behind the server, mended."""
    place = "south.example" if "host name" in change else "north.example"
    in_address = "key moves" in change
    headers = {} if in_address else {"X-Api-Key": "key-17"}

    async def run(arguments, context):
        params = {"date": arguments["date"], "owner": arguments["owner"]}
        params |= {"key": "key-17"} if in_address else {}
        async with httpx.AsyncClient(transport=httpx.MockTransport(service(change))) as http:
            answer = await http.get(f"https://{place}/events", params=params, headers=headers)
        said = answer.json()
        if "events" not in said:
            return declare.Output(said.get("text") or said.get("why"), is_error=True)
        lines = [f"{e['start']} {e.get('title') or e.get('summary')}" for e in said["events"]]
        if "rooms" in change:
            lines = [
                f"{line}, room {e['room']}" for line, e in zip(lines, said["events"], strict=True)
            ]
        return "\n".join(lines) or "nothing"

    return run


def server(change):
    needed = ["date", "owner"] + (["reason"] if "reason" in change else [])
    schema = {"properties": {name: {"type": "string"} for name in needed}, "required": needed}
    name = "calendar_search" if "another name" in change else "calendar_query"
    told = (
        "The appointments of a whole day." if "a word more" in change else "Appointments of a day."
    )
    tool = declare.Tool(name, told, fetch(change), {"type": "object", **schema})
    return Server("calendar", tools=[tool])


async def passed(change):
    """The list, and the results of the two calls."""
    wire = InMemoryTransport(server(change))
    async with McpClient(wire, server="calendar") as client:
        (tool,) = await client.connect()
        results = []
        for owner in ("robin", "kim"):
            given = {"date": DAY, "owner": owner, "reason": "a plan"}
            given = {name: given[name] for name in tool.input_schema["required"]}
            results.append(await client.call(tool.name, given))
    return tool, results


async def what_differs(change):
    (old_tool, old_results), (new_tool, new_results) = await passed(""), await passed(change)
    if old_tool != new_tool:
        return "the list"
    return "nothing" if old_results == new_results else "a result"


async def compare(changes, *starts):
    for start in starts:
        change = next(known for known in as_they_pass() if known.startswith(start))
        expect(changes.get(change), await what_differs(change), when=change)


@TASK.part(
    "what is known of the service ends at the server",
    idea="Key, address, field names, the shape of a refusal: whoever runs the server knows them, "
    "and rewrites them once. No host has a line about them, so no host changes one.",
)
async def ends_at_the_server(changes):
    await compare(changes, "the key moves", "the service moves", "the service calls", "a refusal")


@TASK.part(
    "what is said goes through",
    idea="A server hides how a service says something, not what it says. The words go to the "
    "model, which is whom they are for; and what a tool shows is for whoever runs the server to "
    "say.",
)
async def what_is_said(changes):
    await compare(changes, "the service words", "the service has rooms")


@TASK.part(
    "what is offered is the host's business",
    idea="Name, arguments and description are what a model chooses by and what rules are written "
    "about. Whoever runs the server can change them at any time, and the host has allowed another "
    "tool than this one.",
)
async def what_is_offered(changes):
    await compare(changes, "the tool has another name", "the tool wants", "the description")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("no host changes one")
def a_refusal_is_seen_by_its_status():
    name = "a refusal comes with status 200, and says so inside"
    changes = {**as_they_pass(), name: "a result"}
    return changes


@TASK.wrong("no host changes one")
def the_host_knows_the_address():
    changes = {**as_they_pass(), "the service moves to another host name": "the list"}
    return changes


@TASK.wrong("not what it says")
def a_server_hides_all():
    changes = {**as_they_pass(), "the service words its refusal otherwise": "nothing"}
    return changes


@TASK.wrong("what a model chooses by")
def a_word_is_nothing():
    changes = {**as_they_pass(), "the description of the tool has a word more": "nothing"}
    return changes

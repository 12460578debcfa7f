"""The capstone: attach a service of your own choosing, with policy, tests and checklist."""

import contextlib
import inspect
import sys
from pathlib import Path

import mini_agent
from exercises import capstone_server
from exercises.machine import Task, doing, expect, require
from mini_agent.agent import run_agent
from mini_agent.approval import scripted
from mini_agent.catalog import pin, review
from mini_agent.design_notes import Notes, accept, write  # noqa: F401 - for the live cell
from mini_agent.design_notes.acceptance import (
    DECIDED,
    chain_faults,
    checklist_faults,
    draft_faults,
    entries,
    template_faults,
)
from mini_agent.host import Host
from mini_agent.hosting.naming import exposed_names
from mini_agent.mcp import McpClient, StdioTransport, mcp_tool_to_tool
from mini_agent.mcp.shapes import parse_tools
from mini_agent.model_client import ScriptedModel
from mini_agent.reviewing.checklist import code
from mini_agent.types import Text, ToolCall

TASK = Task(
    "capstone",
    "A service of your own, through the whole chain",
    level="demanding",
    minutes=120,
    section="Now yours",
    notebook="19_design_notes",
    text="""
Choose a service that you would like an agent to use: small, with something to read and something to
change. Then, a step at a time, with the check after each:

1. **The server.** `capstone_server.py` lies beside this notebook, a template. Write yours in its
   place: two tools or more. `command` may start any other program that speaks the protocol.
2. **The calls.** Give each tool, in `examples`, arguments of a call that works. The check makes
   them in this order, on a fresh process, those that write as well: **test data only**.
3. **The policy.** Decide about each tool. Whatever can change something is asked about or denied.
   What is allowed changes nothing, and answers the same as long as nobody writes.
4. **The tests.** The second cell writes the notes, with a test file for your first tool. It is
   yours to change, and stays when the notes are written again.
5. **The checklist.** A reason of its own for each decision, for the person who sees the card.
6. **The notes.** Purpose, owner, and `notes.failing(…)` for each of the eight failures.

Notebook 19 does steps 3 to 6 for a mail server. The solution shown here is the calendar's.
""",
    hints=(
        "Each step rests on a notebook: the server on 04, the calls on 07 and 09, the policy on 11 "
        "and 12, the tests on 10, the rest on 19. Run the cell that writes the notes after each "
        "change of `my_notes`.",
        "What says readOnlyHint of itself is still only a claim. And a test must say what happens "
        "on each of the two paths: on a broken client some test has to turn red.",
        "`my_notes` reviews, then decides about every tool with a `why` that stands nowhere else, "
        "then makes Notes with purpose, owner and examples, then says something of your own for "
        "each name in `FAILURES`. `print(accept(folder))` says what is missing in the folder.",
    ),
    live="""
# Writes the notes into the folder, and says what they lack.
async with McpClient(StdioTransport(capstone["command"])) as client:
    print(accept(await write(await my_notes(client), capstone["folder"])))
""",
)


@TASK.stub
def the_template():
    async def my_notes(client):
        reviewed = await review(client, server="mine")  # the name that your host gives it
        examples = {}
        return Notes(reviewed, examples=examples)

    capstone = {
        "command": [sys.executable, "capstone_server.py"],
        "notes": my_notes,
        "folder": "capstone-notes",
    }
    return capstone


@TASK.solution
def the_calendar():
    async def my_notes(client):
        mine = await review(client, server="calendar")
        mine = mine.decide("calendar_query", "allow", why="It only reads.", read_only=True)
        mine = mine.decide("calendar_create", "ask", why="It writes what others will see.")
        mine = mine.decide("calendar_delete", "deny", why="It cannot be undone.")
        lunch = {"title": "Lunch", "start": "2026-08-04T12:00", "end": "2026-08-04T12:30"}
        examples = {
            "calendar_query": {"date": "2026-08-04"},
            "calendar_create": lunch,
            "calendar_delete": {"id": "apt-3"},
        }
        return Notes(mine, "Robin's day.", "Robin, who runs it.", examples)

    kit = Path(mini_agent.__file__).parents[1]
    capstone = {
        "command": [sys.executable, "-m", "fake_servers.calendar"],
        "notes": my_notes,
        "folder": kit / "notebooks" / "design-notes-example",
    }
    return capstone


# -- the check ------------------------------------------------------------------------------------

ORIGINALS = Path(capstone_server.__file__).parent
TEMPLATE = {pin(t) for t in parse_tools([t.to_wire() for t in capstone_server.SERVER.tools])[0]}


def entry(capstone, name):
    require(name in capstone, f"an entry {name!r}", came=sorted(map(str, capstone)))
    return capstone[name]


def client_of(capstone, server="mine"):
    """A client of the server, which is started beside the notebook, or else the template itself."""
    command = entry(capstone, "command")
    require(isinstance(command, list) and command, "a list: program, arguments", came=command)
    command = [str(word) for word in command]
    here = all(Path(word).exists() for word in command if word.endswith(".py"))
    return McpClient(StdioTransport(command, cwd=None if here else ORIGINALS), server=server)


async def notes_of(client, capstone):
    """What the learner's notes say of the server behind ``client``."""
    if TEMPLATE & {pin(tool) for tool in await client.connect()}:
        raise NotImplementedError  # the first part says so
    make = entry(capstone, "notes")
    require(inspect.iscoroutinefunction(make), "an async function of a client", came=make)
    with doing("the notes are made of what your server lists"):
        notes = await make(client)
    require(isinstance(notes, Notes), "Notes, made of the review", came=notes)
    return notes


def calls_of(notes, names, turn):
    """A call of each tool, in the order of the examples."""
    wanted = {tool.name: tool for tool in notes.tools}
    missing = sorted(wanted.keys() - notes.examples.keys())
    require(not missing, "an example for every tool", came=f"none for {', '.join(missing)}")
    known = [name for name in notes.examples if name in wanted]
    for name in known:
        fault = wanted[name].input_validator.fault(notes.examples[name])
        require(not fault, "arguments that its schema takes", came=fault, when=name)
    return [ToolCall(f"{turn}-{name}", names[name], notes.examples[name]) for name in known]


def answers(model, turn):
    """What the model was told after that turn: by the tool's own name, content and is_error."""
    blocks = model.requests[turn].messages[-1]["content"]
    return {
        block["tool_use_id"].partition("-")[2]: (block["content"], block.get("is_error", False))
        for block in blocks
    }


@TASK.part(
    "1 · a server of your own answers over stdio",
    idea="The chain begins with a process that says what it offers. Two kinds of tools make it "
    "worth a policy: one that only reads, and one that can change something, for which somebody "
    "has to answer.",
    seconds=30,
    real_time=True,
)
async def listed(capstone):
    with doing("your server is started and asked for its tools"):
        async with client_of(capstone) as client:
            tools = await client.connect()
    left = [tool.name for tool in tools if pin(tool) in TEMPLATE]
    yours = "tools of your own, in capstone_server.py or wherever `command` says"
    require(not left, yours, came=f"the template's: {', '.join(left)}")
    kinds = {bool(tool.annotations.get("readOnlyHint")) for tool in tools}
    wanted = "a tool whose readOnlyHint is true, and one that does not say so"
    require(len(kinds) == 2, wanted, came=f"only {', '.join(tool.name for tool in tools)}")


@TASK.part(
    "2 · each tool is adapted and run by the loop",
    idea="An example is a call that works, on the real process, through adapter and loop. What "
    "you show to those who decide must have happened once.",
    seconds=30,
    real_time=True,
)
async def run_once(capstone):
    async with client_of(capstone) as client:
        notes = await notes_of(client, capstone)
        adapted = {tool.name: mcp_tool_to_tool(client, tool) for tool in notes.tools}
        names = {name: tool.spec.name for name, tool in adapted.items()}
        model = ScriptedModel([calls_of(notes, names, "once"), [Text("Done.")]])
        with doing("a model makes the calls of your examples, one after the other"):
            await run_agent("Do it.", model=model, tools=list(adapted.values()))
    for name, (content, is_error) in answers(model, 1).items():
        require(not is_error, "a result", came=f"a tool error: {content}", when=name)


@TASK.part(
    "3 · whatever writes is asked about or denied",
    idea="The model makes the call, the policy decides. That a tool only reads is the server's own "
    "claim: what is allowed may change nothing, whatever its annotation says.",
    seconds=30,
    real_time=True,
)
async def policy(capstone):
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(client_of(capstone))
        notes = await notes_of(client, capstone)
        hosted = client_of(capstone, notes.server)
        rules, no = notes.review.policy(), scripted([])
        host = Host({notes.server: hosted}, policy=rules, approver=no)
        await stack.enter_async_context(host)
        names = {name: told for (_, name), told in exposed_names(notes.review.names).items()}
        turns = [calls_of(notes, names, "first"), calls_of(notes, names, "again")]
        model, hook = ScriptedModel([*turns, [Text("Done.")]]), host.before_tool_call
        with doing("a model makes every call twice, and whoever is asked says no"):
            await run_agent("Do it.", model=model, tools=host.tools, before_tool_call=hook)
    first, again = answers(model, 1), answers(model, 2)
    said = {tool.name for tool in notes.tools if tool.annotations.get("readOnlyHint")}
    ran = [name for name, (_, is_error) in first.items() if not is_error]
    came = [name for name in ran if name not in said]
    expect(came, [], when="every tool is called, and nobody says yes: what ran and may write")
    for name in ran:
        expect(again[name], first[name], when=f"{name} is called again, and nobody has said yes")


def folder_of(capstone):
    folder = Path(entry(capstone, "folder"))
    if not folder.is_dir():
        raise NotImplementedError  # the cell above the check makes it
    return folder


def nothing_missing(faults):
    found = list(faults)
    require(not found, "nothing missing in the folder", came="; ".join(found))


@TASK.part(
    "4 · the three tests turn red on a broken client",
    idea="A connection that fails, a tool that says no, a break in the middle of a call: each test "
    "asserts who is told. One that stays green when the client swallows errors has looked at "
    "nothing.",
    seconds=100,
)
def tests(capstone):
    nothing_missing(draft_faults(folder_of(capstone)))


@TASK.part(
    "5 · every decision is taken, with a reason of its own",
    idea="A reason is what a person reads on the card, months from now. And the checklist that "
    "they signed must say what the host does today: write it again after each decision.",
    seconds=30,
    real_time=True,
)
async def checklist(capstone):
    folder = folder_of(capstone)
    nothing_missing([*checklist_faults(folder), *template_faults(folder, "checklist.md")])
    async with client_of(capstone) as client:
        notes = await notes_of(client, capstone)
    written = entries((folder / "checklist.md").read_text("utf-8"))
    decided = {name: DECIDED.search(body) for name, kind, body in written if kind == "tool"}
    came = {name: found and found["decision"] for name, found in decided.items()}
    wanted = {code(t.name): notes.review.item(t.name, "tool").decision for t in notes.tools}
    expect(came, wanted, when="the decisions in checklist.md, beside those of your notes")


@TASK.part(
    "6 · the chain with both paths, in your own words",
    idea="Somebody who was not there must be able to disagree: what the service is for, whose it "
    "is, what becomes of each failure. The template's text is nobody's decision.",
    seconds=30,
)
def chain(capstone):
    folder = folder_of(capstone)
    nothing_missing([*chain_faults(folder), *template_faults(folder, "notes.md")])

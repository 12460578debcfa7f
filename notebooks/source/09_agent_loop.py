# %% [markdown]
# # 09 · What is the loop, once all else has a home?
#
# At the end you hold `run_agent`: some forty lines, over a dozen small functions, that ask a model,
# run the tools it wants, and answer every call exactly once, whatever goes wrong. About 50 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="loop")

# %% [markdown]
# Messages, transports, clients and adapters live below the lit layer. The model's provider is hidden
# behind an object with one method. We take all of that as done, and look at what is left.

# %% [markdown]
# ## Twelve words
#
# | word | what it is here |
# |---|---|
# | conversation | the messages between user, model and tools; what a model sees of a run |
# | context | all that a model reads before one answer; its size has a limit |
# | turn | one answer of a model: texts, calls, and the reason why it stopped |
# | stop reason | why a turn ended: all was said, a tool is wanted, or there was no more room |
# | turn limit | how many turns one run may take |
# | block | a piece of a message: `text`, `tool_use` or `tool_result` |
# | `tool_use` | the block in which a model asks for a tool, under an id |
# | `tool_result` | the block that answers a `tool_use`, under the same id, in the next message |
# | batch | all the calls of one turn |
# | hook | a function of the host that is asked before each call |
# | marker | a fixed sentence that a model reads in place of an error's details |
# | session file | a conversation on disk, written again after every turn |

# %% [markdown]
# ## A tool
#
# To the loop, a tool is a spec for the model and a function that returns a ToolResult. This one
# reads a dict. A remote calendar would look no different from above.

# %%
from mini_agent.types import Done, Text, Tool, ToolCall, ToolResult, ToolSpec

DAYS = {"2026-08-03": ["09:00 Team standup", "14:00 Dentist"], "2026-08-05": []}


async def look_up(arguments):
    day = arguments.get("date")
    if day not in DAYS:
        return ToolResult(f"{day!r} is not a day like 2026-08-03", is_error=True)
    return ToolResult("; ".join(DAYS[day]) or "nothing")


query = Tool(ToolSpec("calendar_query", "The appointments of a day."), look_up)
await query.execute({"date": "2026-08-03"})

# %% [markdown]
# ## A model
#
# ScriptedModel is a model that is a list: one list of events for each turn. It says the last line,
# Done, by itself. The loop cannot tell it from a real one.

# %%
from mini_agent.model_client import ScriptedModel


def asks(day, call_id="t1", name="calendar_query"):
    return ToolCall(call_id, name, {"date": day})


model = ScriptedModel([[Text("Let me look."), asks("2026-08-03")]])
async for event in model.stream(system="", messages=[], tools=[]):
    print(event)

# %% [markdown]
# ## A conversation
#
# It is a list of dicts in Anthropic's shape. The model's call becomes a `tool_use` block in its own
# message. The answer is a `tool_result` block in ours, and the id ties the two together.

# %%
from mini_agent.blocks import result_block, text_block, tool_use_block, tool_use_ids

print(tool_use_block(asks("2026-08-03")))
print(result_block(asks("2026-08-03"), ToolResult("09:00 Team standup; 14:00 Dentist")))

# %% [markdown]
# Two helpers for this page: one makes the model's message out of its turn, one prints a
# conversation.


# %%
def said(turn):
    spoken = [event for event in turn if not isinstance(event, Done)]
    return [text_block(e.text) if isinstance(e, Text) else tool_use_block(e) for e in spoken]


def show(messages):
    for message in messages:
        for block in message["content"]:
            tied = block.get("id") or block.get("tool_use_id") or ""
            told = block.get("text") or block.get("name") or block["content"]
            print(f"{message['role']:<10}{block['type']:<12}{tied:<4}{told.strip()}")


show([{"role": "assistant", "content": said([Text("Let me look."), asks("2026-08-03")])}])

# %% [markdown]
# ## The naive loop
#
# Ask the model. Run what it wants. Tell it. Again, until it wants nothing more. That is the whole
# idea, and it fits in some ten lines.

# %%
PROMPT = "What is on Monday?"


async def naive_agent(prompt, model, tools):
    messages = [{"role": "user", "content": [text_block(prompt)]}]
    while True:
        specs = [tool.spec for tool in tools.values()]
        stream = model.stream(system="", messages=messages, tools=specs)
        turn = [event async for event in stream]
        messages.append({"role": "assistant", "content": said(turn)})
        calls = [event for event in turn if isinstance(event, ToolCall)]
        if not calls:
            return messages
        done = [result_block(c, await tools[c.name].execute(c.input)) for c in calls]
        messages.append({"role": "user", "content": done})


# %% [markdown]
# It works.

# %%
ANSWER = [Text("A standup and the dentist.")]
model = ScriptedModel([[Text("Let me look."), asks("2026-08-03")], ANSWER])
good = await naive_agent(PROMPT, model, {"calendar_query": query})
show(good)

# %% [markdown]
# For a demonstration this would do. Four things break it. None of them is exotic, and each needs
# something that the ten lines do not have.

# %% [markdown]
# ## Break 1: a name that the model invented
#
# Models misremember names. `calendar_find` is close, and a person would understand. Python does not.

# %% tags=["raises-exception"]
model = ScriptedModel([[asks("2026-08-03", name="calendar_find")]])
await naive_agent(PROMPT, model, {"calendar_query": query})

# %% [markdown]
# A slip of the model has stopped the program. Had the model been told that there is no such tool, and
# which there are, it could have asked again.

# %% [markdown]
# ## Break 2: an exception loses the conversation
#
# First the model books something, then it looks at a calendar whose service is down. The error
# text holds a host name and a password. Such texts often do.


# %%
class ServiceDown(Exception):
    pass


booked, boom = [], ServiceDown("db-7.internal refused the password 'hunter2'")


async def book(arguments):
    booked.append(arguments["date"])
    return ToolResult("booked")


async def fall_over(arguments):
    raise boom


create = Tool(ToolSpec("calendar_create", "Books an hour."), book)
broken = Tool(ToolSpec("calendar_query", "The appointments of a day."), fall_over)

# %% tags=["raises-exception"]
model = ScriptedModel([[asks("2026-08-05", name="calendar_create"), asks("2026-08-05", "t2")]])
await naive_agent(PROMPT, model, {"calendar_create": create, "calendar_query": broken})

# %% [markdown]
# The exception is right: the caller must hear of it. But `messages` was a local variable. What the
# model booked is booked, and nothing on our side remembers that it was asked for.

# %%
booked

# %% [markdown]
# ## Break 3: a `tool_use` without its `tool_result`
#
# So somebody saves the conversation as far as it came. Tomorrow the user goes on with it.

# %%
calls = [asks("2026-08-05", name="calendar_create"), asks("2026-08-05", "t2")]
saved = [
    {"role": "user", "content": [text_block(PROMPT)]},
    {"role": "assistant", "content": said(calls)},
    {"role": "user", "content": [text_block("Are you still there?")]},
]
show(saved)

# %% [markdown]
# The kit has a fake of Anthropic's endpoint, and it refuses what the real one refuses. We ask it
# for its verdict on these three messages.

# %%
from fake_servers.anthropic_api import refusal

body = {"model": "any", "max_tokens": 100, "stream": True, "messages": saved}
refusal("POST", "/v1/messages", {"x-api-key": "none"}, body)

# %% [markdown]
# Status 400. A conversation only ever grows, so every later request holds the same hole and is
# refused too. This session is dead, and no new message can revive it.

# %% [markdown]
# ## Break 4: no turn limit
#
# A model that asks the same question for ever. Only the end of the script stops this loop. A real
# model has no script, and every turn of it is paid for.


# %%
def once_more(request):
    return [asks("2026-08-03", f"t{len(request.messages)}")]


try:
    await naive_agent(PROMPT, ScriptedModel([once_more] * 100), {"calendar_query": query})
except AssertionError as error:
    print(error)

# %% [markdown]
# ## The invariant: one result for each call
#
# Breaks 1 to 3 are one problem. Whatever happens to a call, the next message must hold its result,
# once and in order. That can be checked by a small function, so we write it before the loop.


# %%
def result_ids(message):
    blocks = message["content"]
    return [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]


def torn(messages):
    after = [*messages[1:], {"content": []}]
    pairs = [(tool_use_ids(m), result_ids(n)) for m, n in zip(messages, after, strict=True)]
    return [pair for pair in pairs if pair[0] != pair[1]]


assert torn(good) == []
torn(saved)

# %% [markdown]
# Two calls asked, none answered. From here on, every conversation that a run leaves behind on this
# page goes through `torn`.

# %% [markdown]
# ## `Run`
#
# Now the package's own loop, from the inside out: one call, then a batch, then a turn, then the whole.
# What all of them work with is a value: the tools, whom to ask, whom to tell, where to write it down.

# %%
import inspect

from mini_agent.calls import Decided, Run, ToolFinished
from mini_agent.trace import Trace, following

print(inspect.getsource(Run))

# %% [markdown]
# ## `execute`
#
# One call, one tool. The tool gets a copy of the arguments. If it changes them, the conversation
# stays as the model said it. The imports come first, for all the definitions that follow.

# %%
import asyncio
import contextlib
import copy
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from typing import TypeAlias

from mini_agent.blocks import Block, add_text, text_of
from mini_agent.calls import check_event
from mini_agent.session import SessionError, load_session, save_session
from mini_agent.types import Approval, BeforeToolCall, Message, ModelClient, ModelEvent


# %% include mini_agent.calls.execute
def run_with(*tools, hook=None):
    return Run({tool.spec.name: tool for tool in tools}, hook, None, Trace())


await execute(run_with(query), asks("2026-08-03"))

# %% [markdown]
# A tool that returns something else is the host's mistake. It is an exception now, and not some odd
# text in front of the model later.


# %% tags=["raises-exception"]
async def sloppy(arguments):
    return "09:00 Team standup"


await execute(run_with(Tool(query.spec, sloppy)), asks("2026-08-03"))

# %% [markdown]
# ## `ask_hook`
#
# May this call run? Without a hook the answer is yes, and says so: the default is to allow. Notebook
# 11 is about changing that.

# %% include mini_agent.calls.NOBODY_ASKED ask_hook
await ask_hook(run_with(query), asks("2026-08-03"))

# %% [markdown]
# A hook may be a function or a coroutine function, and must answer with an Approval. `True` is none:
# a hook that is written wrongly must not approve anything.

# %% tags=["raises-exception"]
await ask_hook(run_with(query, hook=lambda call: True), asks("2026-08-03"))

# %% [markdown]
# ## `tell`
#
# Somebody may want to watch while it happens, such as a terminal that prints the text as it comes.
# `tell` hands over a copy of each event: the model's own, and two that the loop adds.

# %% include mini_agent.calls.AgentEvent OnEvent tell
heard = []
await tell(Run({}, None, heard.append, Trace()), Text("Let me look."))
heard

# %% [markdown]
# ## `prepare`
#
# It returns None for: go ahead. Otherwise it returns the result that tells the model why not. This
# mends break 1, and makes a refusal of the host something that the model can work with.

# %% include mini_agent.calls.prepare
print(await prepare(run_with(query), asks("2026-08-03")))
print(await prepare(run_with(query), asks("2026-08-03", name="calendar_find")))

# %%
no = run_with(query, hook=lambda call: Approval(False, "not before breakfast"))
await prepare(no, asks("2026-08-03"))

# %% [markdown]
# ## `marks`
#
# And when a tool raises? The model must get a result, but not the error's text: that is the host's
# business, and here it holds a password. Fixed sentences take its place.

# %% include mini_agent.calls.FAILED SKIPPED CANCELLED SKIPPED_AFTER_CANCEL NOT_RUN marks
print(marks(boom))
print(marks(asyncio.CancelledError()))

# %% [markdown]
# ## `skip`
#
# After a failure the rest of the batch is not run: nobody knows what it relied on. Those calls are
# answered all the same. `following` puts the call's id on what the trace notes meanwhile.

# %% include mini_agent.calls.skip
results = []
skip(run_with(query), [asks("2026-08-05", "t2")], results, SKIPPED)
results

# %% [markdown]
# ## `answer_one`
#
# Prepare, execute, record. It catches BaseException, since a cancelled call needs its result as well,
# and it raises again what it caught.

# %% include mini_agent.calls.answer_one
results = []
try:
    await answer_one(run_with(broken), asks("2026-08-05"), results)
except ServiceDown as error:
    print("the same object:", error is boom)
print(results[0]["content"])

# %% [markdown]
# ## `answer`
#
# The whole batch, one call after another, so that two questions to a person never race. Here is the
# batch of break 2 with a third call behind it.


# %% include mini_agent.calls.answer
def three(day):
    book_it = "calendar_create"
    return [asks(day, "t1", book_it), asks(day, "t2"), asks(day, "t3", book_it)]


results = []
try:
    await answer(run_with(create, broken), three("2026-08-05"), results)
except ServiceDown:
    show([{"role": "user", "content": results}])

# %% [markdown]
# Does it hold for every batch? A call can go five ways. Three calls make 125 batches, few enough to
# try them all.

# %%
from collections import Counter
from contextlib import suppress
from itertools import product

FIVE = ("works", "says no", "raises", "is denied", "is unknown")


async def say_no(arguments):
    return ToolResult("no such day", is_error=True)


functions = {"works": look_up, "says no": say_no, "raises": fall_over, "is denied": look_up}
run = run_with(
    *(Tool(ToolSpec(name, ""), function) for name, function in functions.items()),
    hook=lambda call: Approval(call.name != "is denied"),
)

# %%
last_words = Counter()
for names in product(FIVE, repeat=3):
    calls, results = [asks("2026-08-03", f"t{n}", name) for n, name in enumerate(names)], []
    with suppress(ServiceDown):
        await answer(run, calls, results)
    assert [r["tool_use_id"] for r in results] == ["t0", "t1", "t2"]
    last_words[results[-1]["content"][:24]] += 1
last_words

# %% [markdown]
# Every batch has three results. 45 of the 125 end in a skipped call: those in which one of the first
# two raised.

# %% [markdown]
# ## `ask_model`
#
# One turn of the model. Its text comes in pieces: `add_text` joins them. The calls are collected and
# run only when the turn is over, which `note_turn` then traces. If anything raises, `close_after`
# closes the stream.

# %% include mini_agent.agent.note_turn
noted = run_with(query)
note_turn(noted, said([Text("Let me look."), asks("2026-08-03")]))
print(noted.trace.table())

# %% include mini_agent.agent.close_after ask_model

# %%
model = ScriptedModel([[Text("Let me "), Text("look."), asks("2026-08-03")]])
content, calls, stop_reason = await ask_model(run_with(query), model, "", [])
show([{"role": "assistant", "content": content}])
print(stop_reason, len(calls))

# %% [markdown]
# ## `keep` and `by_name`
#
# `keep` adds the finished messages and saves the conversation. `kept` does so at the end of a `with`,
# exception or not. `by_name` refuses two tools of one name: the model could not say which it means.

# %% include mini_agent.agent.keep kept by_name
messages = []
keep(messages, None, user=[text_block(PROMPT)], assistant=[])
print(messages)

# %% tags=["raises-exception"]
by_name([query, broken])

# %% [markdown]
# ## `run_agent`
#
# Everything has a home now. What is left is the order of things. Look at `kept`: whether `answer`
# returns or raises, the model's message and its results are kept together, before the caller hears of
# it.

# %%
from pathlib import Path

from mini_agent.agent import AgentResult
from mini_agent.types import CUT_SHORT

print(inspect.getsource(AgentResult))

# %% include mini_agent.agent.run_agent
model = ScriptedModel([[Text("Let me look."), asks("2026-08-03")], ANSWER])
result = await run_agent(PROMPT, model=model, tools=[query])

# %% [markdown]
# The same two turns as before, and the same conversation as the naive loop's. On a good day the two
# cannot be told apart.

# %%
assert result.messages == good and torn(result.messages) == []
print(result.stop_reason, "|", result.text)

# %% [markdown]
# > **Beside the text.** The chapter behind these notebooks describes this loop in TypeScript. It
# > names the function that answers failed and skipped calls `recordFailedCallAndSkippedCalls`. Ours
# > is split in two, `marks` and `skip`, since a cancelled batch and a cut answer need it as well.

# %% [markdown]
# ## `import mini_agent.agent` loads no MCP
#
# The loop knows Tool and ToolSpec. To see that it knows no more, we import it in a fresh process and
# list what came with it.

# %% tags=["covers-layer-loop-knows-tools"]
import sys

code = "import mini_agent.agent, sys; print(*sorted(sys.modules))"
pipe = asyncio.subprocess.PIPE
fresh = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=pipe)
modules = (await fresh.communicate())[0].decode().split()
assert not {"mini_agent.mcp", "mcp", "httpx", "httpx2", "anthropic"} & set(modules)
print(*[name for name in modules if name.startswith("mini_agent")], sep="\n")

# %% [markdown]
# No `mini_agent.mcp` and nothing below it: no adapter, no client, no transport. The `assert` has
# looked for `anthropic` and the HTTP libraries too, and found none.

# %% [markdown]
# ## Every way through it
#
# Now the failures, one run each. `play` runs the loop on a session file, so that we can read the
# conversation even when the run raised. It catches the exception only to show it to you.

# %%
import tempfile

box = tempfile.TemporaryDirectory()
runs = {}


async def play(name, turns, *tools, **options):
    options = {"session_path": Path(box.name, name), "trace": Trace()} | options
    try:
        run = run_agent(PROMPT, model=ScriptedModel(turns), tools=tools, **options)
        end = (await run).stop_reason
    except Exception as error:
        end = error
    runs[name] = load_session(options["session_path"])
    assert torn(runs[name]) == []
    return end, options["trace"]


# %% [markdown]
# ### A tool error: the loop goes on
#
# The tool says no, and says why. That is a result like any other. The model reads it and asks
# again.

# %% tags=["covers-tool-error-loop-goes-on"]
turns = [[asks("next Monday")], [asks("2026-08-03", "t2")], ANSWER]
end, trace = await play("tool error", turns, query)
show(runs["tool error"])
end

# %% [markdown]
# ### A thrown error: the run ends
#
# Break 2 again: the first call books, the second raises, the third is never run. The caller gets the
# very object that the tool raised.

# %% tags=["covers-same-exception-to-the-caller"]
end, trace = await play("thrown error", [three("2026-08-05")], create, broken)
assert end is boom
print(repr(end))

# %% [markdown]
# And this is what a model would be shown of it. The booking is there, and so is the failure, by its
# marker. The password is nowhere.

# %% tags=["covers-failed-and-skipped-calls-recorded"]
import json

show(runs["thrown error"])
assert "hunter2" not in json.dumps(runs["thrown error"])

# %%
draw.sequence(trace)

# %% [markdown]
# Blue and solid would be a tool error, red and dotted is this one. The drawing comes from the trace.
# The password is not in there either: the loop writes down the class of an error and not its text.

# %% [markdown]
# ### A denial, and a name that does not exist
#
# Both are tool errors: the call was not run, the model is told why, the loop goes on. Here the hook
# is the kit's smallest, which denies `bash` by its name.

# %%
from mini_agent.approval import deny_bash_by_default
from mini_agent.tools import bash_tool, read_tool

wants_bash = ToolCall("t1", "bash", {"command": "rm -rf ."})
turns = [[wants_bash, asks("2026-08-03", "t2", "calendar_find")], [Text("I may not.")]]
shell = bash_tool(box.name)
end, trace = await play("denial", turns, query, shell, before_tool_call=deny_bash_by_default)
show(runs["denial"])

# %% [markdown]
# ### The turn limit
#
# Break 4, mended. At the limit the last calls are still run and answered. The stop reason is ours,
# since the model never stopped.

# %%
end, trace = await play("turn limit", [once_more] * 100, query, max_turns=3)
show(runs["turn limit"][-2:])
end

# %% [markdown]
# ### `max_tokens`: an answer that was cut
#
# The model ran out of room in the middle of its turn. A call before the cut looks complete. It may
# be half of what the model meant to do, so it is not run. `CUT_SHORT` lists such stop reasons.

# %%
turns = [[Text("I book both"), asks("2026-08-05", name="calendar_create"), Done("max_tokens")]]
booked.clear()
end, trace = await play("max_tokens", turns, create)
show(runs["max_tokens"][-1:])
end, booked

# %% [markdown]
# ### Cancellation
#
# The user presses stop. We wait until the tool is at work, then cancel the task. Both calls get
# their result, and CancelledError reaches whoever awaits.

# %%
started = asyncio.Event()


async def hang(arguments):
    started.set()
    await asyncio.Event().wait()  # nobody sets this one


# %%
two = [[asks("2026-08-03"), asks("2026-08-05", "t2")]]
slow = Tool(query.spec, hang)
task = asyncio.create_task(play("cancelled", two, slow))
await started.wait()
task.cancel()
await asyncio.wait([task])
runs["cancelled"] = load_session(Path(box.name, "cancelled"))
show(runs["cancelled"][-1:])
assert task.cancelled()

# %% [markdown]
# `play` did not catch it: CancelledError is no Exception. That is why the session was loaded by hand
# here.

# %% [markdown]
# ## `read` and `bash`: the two local tools
#
# The kit has two tools of its own. They return text, as every tool does. We give them a workspace
# with one file, and put another file outside it.

# %%
workspace = Path(box.name, "workspace")
workspace.mkdir()
(workspace / "notes.txt").write_text("Monday: standup, then the dentist at 14:00.\n")
Path(box.name, "private.txt").write_text("the safe opens with 4711\n")
(workspace / "link.txt").symlink_to(Path(box.name, "private.txt"))
read, bash = read_tool(workspace), bash_tool(workspace)
print((await read.execute({"path": "notes.txt"})).content)

# %% [markdown]
# A long file is cut, and the cut is visible. Otherwise one log file would fill the model's whole
# context.

# %% tags=["covers-read-and-bash-return-text"]
print((await read_tool(workspace, limit=7).execute({"path": "notes.txt"})).content)
print((await bash.execute({"command": "echo found; echo 'disk is slow' >&2"})).content)

# %% [markdown]
# `bash` joins standard output, standard error and how the command ended. A command that fails is a
# tool error: the model reads it and can try another one.

# %% tags=["covers-bash-failure-is-a-tool-error"]
await bash.execute({"command": "echo 'no such table' >&2; exit 3"})

# %% [markdown]
# `link.txt` lies in the workspace and points out of it. `read` follows every link first and checks
# then. The answer is a tool error, so the loop goes on and the model can choose another file.

# %% tags=["covers-symlink-escape-is-a-tool-error"]
escape = [ToolCall("t1", "read", {"path": "link.txt"})]
honest = [ToolCall("t2", "read", {"path": "notes.txt"})]
end, trace = await play("symlink", [escape, honest, ANSWER], read)
show(runs["symlink"])

# %% [markdown]
# `bash` only starts in the workspace. A shell can go anywhere, and no check of the command's text
# would hold it. That is what the hook was for.

# %%
print((await bash.execute({"command": "cat ../private.txt"})).content)

# %% [markdown]
# It inherits little, at least: `PATH`, the language, the time zone, and a few more by name. A key in
# the host's environment is none of its business.

# %%
import os

os.environ["DEMO_API_KEY"] = "sk-demo"
command = 'echo "the key is: $DEMO_API_KEY"'
print((await bash.execute({"command": command})).content)
del os.environ["DEMO_API_KEY"]

# %% [markdown]
# ## The session file
#
# One JSON line for each message. The file is replaced as a whole, at the prompt and after every turn:
# after a crash it holds the old conversation or the new one, and never half of one.

# %%
for line in Path(box.name, "thrown error").read_text().splitlines():
    print(line if len(line) < 88 else line[:87] + "…")

# %% [markdown]
# That run has failed, and yet its conversation is well formed. So it goes on: the same file, a new
# prompt. The model sees what came before, with the marker in it.

# %%
session = Path(box.name, "thrown error")
model = ScriptedModel([[Text("The service was down. Shall I try again?")]])
result = await run_agent("And?", model=model, tools=[query], session_path=session)
assert model.requests[0].messages[:-1] == runs["thrown error"]
assert torn(result.messages) == []
show(result.messages[-3:])

# %% [markdown]
# `load_session` accepts only what the model's service would accept. We cut the second line short, as
# a slip in an editor might, and start. The error names file and line.

# %% tags=["covers-session-file-fails-at-start"]
from contextlib import chdir

first, second, *rest = session.read_text().splitlines(keepends=True)
damaged = "".join([first, second[:40] + "\n", *rest])
session.write_text(damaged)
model = ScriptedModel([ANSWER])
try:
    with chdir(box.name):
        await run_agent(PROMPT, model=model, tools=[query], session_path="thrown error")
except SessionError as error:
    print(f"{type(error).__name__}:", str(error).replace("; ", ";\n  "))

# %% [markdown]
# The model was not asked, no tool has run, and the file is as it was. What fails at start should fail
# at start, and not in the middle of a round.

# %%
assert model.requests == [] and session.read_text() == damaged
print(len(damaged.splitlines()), "lines, untouched")

# %% [markdown]
# ## The same loop, somebody else's tool
#
# Nothing on this page used MCP. Now a calendar server, through the client of notebook 06 and the
# adapter of notebook 07. The loop gets other tools in its list, and that is all it notices.

# %%
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp import McpClient, mcp_tool_to_tool


async def play_remote(name, turns, transport):
    trace = Trace()
    async with McpClient(transport, server="calendar", trace=trace) as client:
        listed = await client.connect(discover=False)
        tools = [mcp_tool_to_tool(client, tool) for tool in listed]
        end, _ = await play(name, turns, *tools, trace=trace)
    return end, trace


# %% [markdown]
# The model wants to delete an appointment that is not there. The server says no. That is a tool
# error, from the server all the way up to the model.

# %%
gone = [ToolCall("t1", "calendar_delete", {"id": "apt-99"})]
turns = [gone, [Text("There is no such appointment.")]]
end, trace = await play_remote("MCP tool error", turns, InMemoryTransport(calendar_server()))
draw.chain(trace)

# %% [markdown]
# And now the process behind the tool dies in the middle of the call; FakeTransport plays it from a
# list. The loop has not one line for it, and takes its other path: marker, skip, raise.

# %%
from mini_agent.errors import TransportClosed
from mini_agent.mcp.transport import FakeTransport

schema = {"name": "calendar_query", "inputSchema": {"type": "object"}}
died = TransportClosed("the process ended", exit_code=1)
dies = FakeTransport([{"result": {"tools": [schema]}}, died])
end, trace = await play_remote("MCP thrown error", two, dies)
assert end is died
draw.chain(trace)

# %% [markdown]
# Which failures take which of the two paths is the whole of notebook 10.

# %% [markdown]
# ## All of them
#
# Every run that `play` has made so far, the last result in it, and the invariant once more: nothing
# is torn.

# %%
for name, messages in runs.items():
    last = [block for message in messages for block in message["content"] if "is_error" in block]
    print(f"{name:<17} torn: {torn(messages)}  {last[-1]['content'].strip()}")
    assert torn(messages) == []

# %% [markdown]
# ## Try it
#
# Change what `look_up_badly` does: return a ToolResult with `is_error`, return None, empty its
# arguments. Can you tear the conversation?


# %%
async def look_up_badly(arguments):
    raise KeyError("date")


turns = [[asks("2026-08-03"), asks("2026-08-05", "t2")], ANSWER]
end, trace = await play("try it", turns, Tool(query.spec, look_up_badly))
show(runs["try it"])
repr(end)

# %%
box.cleanup()
print("cleaned up")

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `run_agent` | ask, answer, keep, again; at most `max_turns` times |
# | `ask_model` | one turn: content blocks, calls, why it stopped |
# | `answer`, `answer_one` | a batch and a call: one result each, on every path |
# | `prepare`, `ask_hook` | does the tool exist, may it run |
# | `execute` | the tool itself; what it returns must be a ToolResult |
# | `marks`, `skip` | what the model is told in place of a failure |
# | `keep` | the conversation, whole after every turn |

# %% [markdown]
# ## Where the official SDK differs
#
# The MCP SDK has no loop: that is the host's. The anthropic package has one, its tool runner. It
# catches what a tool raises and shows the model its `repr`; it has no turn limit unless you set one.
# We raise instead, since a dead connection is for the caller, and a password for nobody.
#
# Specification: server/tools, "Error Handling": the client should give the model tool
# execution errors, and may give it protocol errors.

# %% [markdown] taken="mini_agent.agent"
# ## Taken from the modules without showing it
#
# From `mini_agent.agent`. The modules `blocks`, `session` and `tools` have no part here: the page uses
# them and looks at what they do.
#
# | name | why |
# |---|---|
# | `AgentResult` | a dataclass, imported; its source is printed above |

# %% [markdown] taken="mini_agent.calls"
# From `mini_agent.calls`.
#
# | name | why |
# |---|---|
# | `Run` | a dataclass, imported; its source is printed above |
# | `check_event` | refuses, before anything runs, an event that no message can hold |
# | `Decided`, `ToolFinished` | dataclasses, imported: the two events that `tell` adds to the model's |

# %% [markdown]
# ## Exercises and next
#
# `exercises/09_agent_loop.ipynb` has 4 tasks, each with a check that answers:
#
# - **09.1** Eleven things that happen to a run (warm-up, 8 minutes)
# - **09.2** `answer_one`: one result, whatever happens (solid, 15 minutes)
# - **09.3** A conversation with holes in it (solid, 20 minutes)
# - **09.4** `Stoppable`: an end between two turns (demanding, 25 minutes)
#
# Next: **10, Whose fault was it, and who must know?** Every failure of the chain, run and drawn.

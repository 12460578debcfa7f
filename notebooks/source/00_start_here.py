# %% [markdown]
# # 00 · What am I about to build?
#
# At the end of this page you have seen one full round: a model asks for a tool, somebody else's
# server answers, a person approves a change, and a drawing shows exactly that. About 5 minutes. No
# key, no account, no network.

# %% tags=["covers-layers-talk-to-neighbours"]
from mini_agent import draw

draw.layers(lit="loop")

# %% [markdown]
# Five layers stand between an agent and a service that somebody else runs. Each talks only to its
# neighbours. In the notebooks that follow you build the upper four, and break each of them.

# %% [markdown]
# ## Is this machine ready?

# %%
from mini_agent.doctor import report

print(report())

# %% [markdown]
# A line that begins with FAIL names the one command that mends it. Once every line says OK, these
# notebooks give the same output on your machine as here.

# %% [markdown]
# ## The words
#
# | word | what it is here |
# |---|---|
# | server | a program that offers tools to others; in these notebooks most often a calendar |
# | tool | a named action that a model may ask for, such as `calendar_query` |
# | MCP | Model Context Protocol: the messages between a client and a server, and what they mean |
# | model | a program that reads a conversation and answers, or asks for a tool; a script can play it |
# | loop | the part that asks the model, runs the tools it wants, tells it what came of them, and asks again |
# | agent | a program in which a model works with tools: the loop and all that it needs |
# | host | the program that the user runs: it picks the servers and says what needs approval |
# | adapter | the part that makes a tool for the loop out of a tool that a server lists |
# | client | the part of a host that speaks MCP with one server: it asks what there is, and calls it |
# | transport | the part that carries messages between a client and a server, such as through a pipe |
# | layer | a part that speaks only with the part above it and the part below it |
# | trace | the record of a run, written by all layers; tables and drawings are made of it |

# %% [markdown]
# ## One round, in ten lines
#
# The user wants to know whether Monday at 15:00 is free, and to book it. Looking is allowed. Booking
# needs a yes, so a card appears and the script presses its Approve button. `await` waits for an
# answer without stopping anything else; notebook 03 explains it.

# %% tags=["covers-full-round-with-a-fake-model"]
from mini_agent.agent import run_agent
from mini_agent.approval import calendar_policy, guard
from mini_agent.demo import PROMPT, SERVER, demo_model
from mini_agent.mcp import McpClient, StdioTransport, mcp_tool_to_tool
from mini_agent.trace import Trace
from mini_agent.widgets import ask_in_notebook

trace = Trace()
calendar = McpClient(StdioTransport(SERVER), server="calendar", trace=trace)
tools = [mcp_tool_to_tool(calendar, tool) for tool in await calendar.connect()]
policy = calendar_policy(create="ask")
hook = guard(policy, ask_in_notebook(press=["approve"]), server="calendar")
result = await run_agent(
    PROMPT, model=demo_model(), tools=tools, before_tool_call=hook, trace=trace
)
print(result.text)

# %% [markdown]
# That was a real child process, real messages and a real button. Only the model and the finger were
# scripts. In a saved copy of this page the card is a line of text; run the cell to see it.

# %% [markdown]
# ## What happened
#
# Nobody drew this by hand. Every layer writes to one trace, and the drawing is made from it. Time
# runs downwards.

# %% tags=["covers-one-request-through-the-stack"]
draw.sequence(trace)

# %% [markdown]
# And this is the booking alone, as one call that passed down through the layers and came back up.

# %%
draw.chain(trace)

# %% [markdown]
# ## What the model saw
#
# The model sees only this conversation. It does not see the protocol, the process, or the card.
# Nothing in it says whether a tool is remote or local.

# %% tags=["covers-remote-tool-looks-local"]
for message in result.messages:
    for block in message["content"]:
        told = block.get("text") or block.get("input") or block.get("content")
        print(f"{message['role']:<10} {block['type']:<12} {str(told).splitlines()[0][:70]}")

# %% [markdown]
# Each `tool_use` has one `tool_result` in the message after it. The loop keeps that true when a call
# is denied, when it fails, and when it is never run. Notebook 09 shows each.

# %% [markdown]
# ## The same round, and a person says no
#
# A fresh server, a fresh trace, one word changed.

# %%
denied = Trace()
async with McpClient(StdioTransport(SERVER), server="calendar", trace=denied) as fresh:
    tools = [mcp_tool_to_tool(fresh, tool) for tool in await fresh.connect()]
    hook = guard(policy, ask_in_notebook(press=["deny"]), server="calendar")
    second = await run_agent(
        PROMPT, model=demo_model(), tools=tools, before_tool_call=hook, trace=denied
    )
print(second.text)

# %% tags=["covers-host-keeps-control"]
draw.chain(denied)

# %% [markdown]
# The call went no further than the loop. Nothing was sent, and the model was told why, so that it
# can tell the user.

# %% [markdown]
# ## Look closer at Monday
#
# This is what the server returned for that day. Read the entry at 11:00.

# %% tags=["covers-a-strangers-invitation"]
monday = await calendar.call("calendar_query", {"date": "2026-08-03"})
print(monday.content[0]["text"])

# %% [markdown]
# A stranger wrote that invitation, and it gives orders to your model. The connection works
# perfectly, and that is the problem: a working protocol is not safety. Notebooks 11 and 12 are
# about it.

# %% [markdown]
# ## And when it breaks?
#
# Two paths, never mixed. When the tool ran and could not do it, the model is told why. When the call
# itself was refused, garbled or lost, the caller gets an exception. You need not know the names yet;
# see which side each path ends on.

# %% tags=["covers-where-each-error-stops"]
draw.error_paths()

# %%
await calendar.close()

# %% [markdown]
# ## Your turn to press
#
# Run this cell and press a button yourself. It starts a fresh calendar, waits for you, and denies
# after a minute.

# %% tags=["nbval-skip", "skip-execution"]
async with McpClient(StdioTransport(SERVER), server="calendar") as fresh:
    mine = await run_agent(
        PROMPT,
        model=demo_model(),
        tools=[mcp_tool_to_tool(fresh, tool) for tool in await fresh.connect()],
        before_tool_call=guard(policy, ask_in_notebook(timeout=60), server="calendar"),
    )
print(mine.text)

# %% [markdown]
# ## What changed
#
# Nothing was built yet. This is where you build what you saw.
#
# | you have seen | you build it in |
# |---|---|
# | messages | 02 |
# | a transport, and what a process or a network can do to it | 03, 04, 05 |
# | a client, and the adapter that makes a tool of what it lists | 06, 07 |
# | a model client and the loop | 08, 09 |
# | both error paths | 10 |
# | approval, and the trust boundary | 11, 12 |

# %% [markdown]
# ## Where the official SDK differs
#
# The official Python SDK gives you the client and both transports (our 02 to 06). The loop, the
# adapter, approval and the trace are the host's: there you are on your own, with 07 and 09 to 12.

# %% [markdown]
# ## Exercises and next
#
# 1. In the ten lines, leave out `before_tool_call`. What is booked, and who was asked?
# 2. Change `create="ask"` to `create="deny"`. Who says no now, and does a card appear?
#
# Next: **01, Why not just call that API?** With one day, go 02, 03, 06, 07, 09, 10, 11, 12, 19.

"""A small source notebook that uses every part of the machine, and the flags it is run with."""

CI_FLAGS = ("--nbval-current-env", "--nbval-cell-timeout=60", "-n", "2", "--dist", "loadfile")

SAMPLE = """\
# %% [markdown]
# # What does a response hold?
#
# This takes 2 minutes.

# %%
from __future__ import annotations

import asyncio
import os

from IPython.display import SVG
from ipywidgets import Button

from mini_agent.mcp.messages import _malformed, check_message, excerpt, parse_error
from mini_agent.workbook import part_of

# %% include mini_agent.mcp.messages.parse_response
parse_response({"jsonrpc": "2.0", "id": 1, "result": {"ok": True}})

# %% [markdown]
# The peer may also say no.

# %% tags=["raises-exception"]
parse_response({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}})

# %% include mini_agent.trace.Trace(__init__, add) Trace.events
from collections import deque
from time import time as now
print("a class and its part", Trace.events.fget.__qualname__)

# %%
button = Button(description="Approve")
clicked = asyncio.get_running_loop().create_future()
button.on_click(lambda _: clicked.set_result("yes"))
display(button)
asyncio.get_running_loop().call_later(0.02, button.click)
await clicked

# %%
for n in range(50):
    print("line", n, flush=True)
    await asyncio.sleep(0)

# %% tags=["nbval-skip", "skip-execution"]
await asyncio.Event().wait()

# %%
os.path.basename(os.getcwd())
"""

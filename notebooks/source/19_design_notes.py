# %% [markdown]
# # 19 · What will you build?
#
# At the end you hold design notes of a service of your own: the call chain with both error paths, three
# tests, and a trust checklist. A check reads them and says what is missing. About 60 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers()

# %% [markdown]
# No layer is lit. This time you walk through all of them, with a service that you choose.

# %% [markdown]
# ## Four words
#
# | word | what it is |
# |---|---|
# | design notes | what was decided before anything is built, written down so that somebody can disagree |
# | acceptance | the check of design notes: the chain with both paths, three tests, the trust checklist |
# | owner | the layer, or the person, that has to deal with a failure |
# | worked example | a task done in full for another service, to compare with |

# %% [markdown]
# ## The worked example
#
# The calendar's notes are a folder in this kit, `notebooks/design-notes-example`. We ask the check about
# it. It draws nothing and believes nothing: it reads the drawings and runs the tests.

# %%
from pathlib import Path

import mini_agent
from mini_agent.design_notes import Notes, accept, write

example = Path(mini_agent.__file__).parents[1] / "notebooks" / "design-notes-example"
print(accept(example))

# %% [markdown]
# Three items, and each holds. The files behind them:

# %%
for path in sorted(example.iterdir()):
    if path.is_file():
        print(path.name)

# %% [markdown]
# ## A service, in a few lines
#
# Ours is a mail server with three tools. Go through it once as it is; further down, "Now yours" is the
# place for your own. Of a tool we need its name, one sentence, and what it takes. No server has to run.

# %%
from mini_agent.mcp import McpTool


def takes(*names):
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": list(names)}


READS = {"readOnlyHint": True, "openWorldHint": False}
TOOLS = [
    McpTool("mail_search", "Find letters.", takes("text"), annotations=READS),
    McpTool("mail_send", "Send a letter.", takes("to", "text")),
    McpTool("mail_delete", "Delete a letter for good.", takes("id")),
]

# %% [markdown]
# Arguments that fit, one for each tool. The drawings come from real calls, so the calls must be possible.

# %%
EXAMPLES = {
    "mail_search": {"text": "invoice"},
    "mail_send": {"to": "kim", "text": "Thank you."},
    "mail_delete": {"id": "m-1"},
}

# %% [markdown]
# ## The first version says what is missing
#
# `review_of` is the review of notebook 12 for a list that is at hand. We review ours, write the notes as
# they are, and ask.

# %%
import tempfile

from mini_agent.catalog import Catalogue, review_of

proposed = review_of("mail", Catalogue(tools=TOOLS))
folder = tempfile.TemporaryDirectory()
notes = Notes(proposed, examples=EXAMPLES)
draft = await write(notes, Path(folder.name) / "draft")
print(accept(draft))

# %% [markdown]
# The drawings and the tests are there, made for your tools. What nobody can make for you is the rest:
# what the service is for, what you decide, and what your host does about each failure.

# %% [markdown]
# ## Decide
#
# Each tool gets a decision and a reason of its own. The reason is what a person will read on the card,
# months from now, without you. `read_only` is your word, beside the tool's own, that it changes nothing.

# %%
decided = proposed.decide(
    "mail_search", "allow", why="It only reads, and only the signed-in user's box.", read_only=True
)
decided = decided.decide("mail_send", "ask", why="What is sent cannot be taken back.")
decided = decided.decide("mail_delete", "deny", why="Nobody has needed it so far.")
print(decided.table().split("\n\n")[0])

# %% [markdown]
# The review also asks ten questions, as in notebook 12. Two it has answered from the list of tools. These
# it cannot.

# %%
for question in decided.questions:
    if question.is_open:
        print(question.number, question.asks)

# %% [markdown]
# We answer two. An open one is no disgrace: it stays in the notes, and says open.

# %%
decided = decided.answer(3, "A token of the signed-in user, exchanged for one of the mail service.")
decided = decided.answer(9, "The user's session at the mail service is ended; that takes a minute.")
print("still open:", [question.number for question in decided.questions if question.is_open])

# %% [markdown]
# ## Who owns each failure
#
# Eight failures, each with its owner and the usual answer; notebook 15 runs them all. First we say what
# the service is for and who runs it, which the notes need too.

# %%
notes = Notes(decided, "Letters for the support team.", "The mail team.", EXAMPLES)
for row in notes.failures:
    print(f"{row.what} · {row.owner}\n    {row.answer}")

# %% [markdown]
# What our service does stands beside it in the notes. "We retry" is no answer for a letter that may have
# been sent.

# %%
OURS = {
    "invalid arguments": "Each argument is a text; anything else is refused here.",
    "expired or foreign token": "Signed in again, once; then the run ends.",
    "user without access": "The box of somebody else looks like an empty one.",
    "server unavailable": "Only mail_search is tried again, twice.",
    "timeout after a write": "Each letter has a key; the outbox is asked before it is sent again.",
    "malformed response": "The run ends; the server's release is in the record.",
    "hostile text in a result": "A letter is a stranger's text: sending is asked about, each time.",
    "a tool's schema changed": "Withheld; the mail team is told.",
}
for what, ours in OURS.items():
    notes = notes.failing(what, ours)

# %% [markdown]
# ## Write, and ask again

# %% tags=["covers-design-notes-of-your-own"]
mine = await write(notes, Path(folder.name) / "mail")
print(accept(mine))

# %% [markdown]
# What it drew for `mail_send`, when the connection breaks in the middle of the call. The trace is of a
# real call on a fake transport.

# %%
from mini_agent.design_notes.folder import drawn

drawings = await drawn(notes)
drawings["protocol-error-mail_send"]

# %% [markdown]
# And this is the test file's last case. It is yours to change; writing the notes again leaves it as it is.

# %%
text = (mine / "test_mail.py").read_text("utf-8")
print(text[text.index("def test_a_transport_that") :])

# %% [markdown]
# ## What it refuses
#
# A check that always says yes is worth nothing. Here are five ways to fool it. First three, on copies:
# one reason for two tools, "fine" as the reason of an allow, a drawing that lost its protocol error.

# %%
import shutil

from mini_agent.design_notes.acceptance import (
    chain_faults,
    checklist_faults,
    draft_faults,
    template_faults,
)


def spoiled(name, *changes):
    copy = Path(shutil.copytree(mine, tempfile.mkdtemp(dir=folder.name), dirs_exist_ok=True))
    text = (copy / name).read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (copy / name).write_text(text, "utf-8")
    return copy


# %%
SEND = "What is sent cannot be taken back."
same = spoiled("checklist.md", (SEND, "Nobody has needed it so far."))
allowed = spoiled("checklist.md", ("**ask**", "**allow**"), (SEND, "fine"))
half = spoiled("chain.svg", ("PROTOCOL ERROR: an exception", "ERROR"))
for faults, copy in ((checklist_faults, same), (checklist_faults, allowed), (chain_faults, half)):
    print(*faults(copy), sep="\n")

# %% [markdown]
# The fourth: tests that look at nothing. They are run on three clients that handle errors wrongly, and
# must turn red on each.

# %%
(draft / "test_mail.py").write_text(
    "from mini_agent.mcp import McpClient\n"
    + "".join(f"\n\ndef test_{n}():\n    assert McpClient\n" for n in range(3)),
    "utf-8",
)
print(*draft_faults(draft), sep="\n")

# %% [markdown]
# And the fifth, text that was there before you wrote anything, you have seen in the first version.

# %%
print(*template_faults(draft, "notes.md"))

# %% [markdown]
# ## Now yours
#
# Put your service in the place of the parcels.

# %% tags=["nbval-skip", "skip-execution"]
TOOLS = [
    McpTool("parcel_find", "Say where a parcel is.", takes("number"), annotations=READS),
    McpTool("parcel_send_back", "Send a parcel back.", takes("number")),
]
EXAMPLES = {"parcel_find": {"number": "P-1"}, "parcel_send_back": {"number": "P-1"}}
yours = review_of("parcels", Catalogue(tools=TOOLS))

# %% [markdown]
# You have a server that runs? Then its own list is better than one typed by hand. Name the command that
# starts it, and take what `review` returns as `yours`; `EXAMPLES` must then fit its tools.

# %% tags=["nbval-skip", "skip-execution"]
import sys

from mini_agent.catalog import review
from mini_agent.mcp import McpClient, StdioTransport

command = [sys.executable, "-m", "fake_servers.calendar"]
async with McpClient(StdioTransport(command)) as client:
    print((await review(client, server="calendar")).table())

# %% [markdown]
# Say what you know, as we did: a decision for each tool, answers, a purpose, an owner, eight failures.
# Then run the cell, read what is missing, say more, and run it again. It writes into the folder
# `design-notes` beside this notebook.

# %% tags=["nbval-skip", "skip-execution"]
yours = yours.decide("parcel_find", "allow", why="", read_only=True)
notes = Notes(yours, purpose="", owner="", examples=EXAMPLES)
notes = notes.failing("server unavailable", "")
print(accept(await write(notes, "design-notes")))

# %% [markdown]
# Open `notes.html` in that folder: one page, with the drawings inside, to send to whoever has to agree.

# %% [markdown]
# ## Try it
#
# Question 10 is "What happens when it is unavailable or compromised?". Answer it for your service, in one
# sentence that says who is told. Then read your notes as that person would.

# %%
answered = decided.answer(
    10, "It can send letters in a user's name; the mail team is told at once."
)
print([question.number for question in answered.questions if question.is_open])

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `Notes` | a description, a review with your decisions, who owns each failure |
# | `write` | drawings from real calls, a test file, the checklist, two pages |
# | `accept` | reads the folder, runs the tests on good and broken clients, says what is missing |

# %% [markdown]
# ## Where the official SDK differs
#
# It has nothing of this, and need not: design notes are about your host and your service. The SDK, or
# this kit's client, is what they are about to use.

# %% [markdown]
# ## Taken from the modules without showing it
#
# `mini_agent.design_notes` is used here and not pasted. What it checks is what the notebooks before this
# one built: 10 has the two paths and the three tests, 12 has the checklist.

# %% [markdown]
# ## Exercises and next
#
# The exercise is your own service: `exercises/capstone.ipynb` starts from a server of thirty lines and
# checks the whole chain. When the check says that all three items hold, give the page to a colleague,
# and change what they do not believe.

# %% [markdown] glossary
# ## Appendix: the words
#
# Every word of the field in these notebooks, and the notebook that introduces it.

"""16.3: from a server's menu to a system text, by a person's hand."""

import inspect
import itertools

from exercises.machine import Task, doing, expect, refused_async, require
from mini_agent.errors import JsonRpcError
from mini_agent.mcp import McpClient
from mini_agent.mcp.resources import prompt_text
from mini_agent.mcp.transport import FakeTransport

TASK = Task(
    "16.3",
    "A person begins",
    level="demanding",
    minutes=25,
    section="`prompt_text`: into the system text",
    text="""
Write `system_text(client, pick, fill, show)`: what a person chose to begin with, as text for
`run_agent(system=…)`, or None. The last three are coroutine functions, and each asks the person.

- `await pick(prompts)` gets what the server lists, and returns one of them, or None.
- `await fill(gap)` is asked once for each of its arguments, in order, and returns a text. A gap
  that is left empty is not sent. (The `arguments` of a prompt may be absent: then it has none.)
- `await show(text)` gets the prompt as text, and returns the text to use, changed perhaps, or None.
- None of the person ends it: the answer is None, and nothing more is asked, of anybody.
- A prompt with a message that is not of the type `text` raises ValueError, before it is shown.
- What the server refuses is for the program: the McpError comes through.
""",
    hints=(
        "Follow one text from the server to the model. At which step could it become another one "
        "than the person has read?",
        "What `show` returns is what is used, and it is the only text there is: the server is "
        "asked once. Of an image `prompt_text` makes a line in brackets: nobody sees the image.",
        "List, pick, stop at None. Fill each gap and keep what is not empty. Get the prompt once. "
        "Look at the type of each message's content. Then return whatever `show` says to "
        "`prompt_text` of it.",
    ),
)


@TASK.solution
def step_by_step():
    async def system_text(client, pick, fill, show):
        ### BEGIN SOLUTION
        chosen = await pick(await client.list_prompts())
        if chosen is None:
            return None
        given = {}
        for gap in chosen.get("arguments", []):
            if said := await fill(gap):
                given[gap["name"]] = said
        prompt = await client.get_prompt(chosen["name"], given)
        if any(message["content"]["type"] != "text" for message in prompt["messages"]):
            raise ValueError(f"{chosen['name']} holds more than text")
        return await show(prompt_text(prompt))
        ### END SOLUTION

    return system_text


@TASK.right
def with_match():
    async def system_text(client, pick, fill, show):
        match await pick(await client.list_prompts()):
            case None:
                return None
            case {"name": name, **rest}:
                gaps = rest.get("arguments") or ()
        given = {gap["name"]: await fill(gap) for gap in gaps}
        prompt = await client.get_prompt(name, {k: v for k, v in given.items() if v != ""})
        paragraphs = []
        for message in prompt["messages"]:
            if message["content"]["type"] != "text":
                raise ValueError(name)
            paragraphs.append(prompt_text({"messages": [message]}))
        text = await show("\n\n".join(paragraphs))
        return None if text is None else text

    return system_text


# -- the check ------------------------------------------------------------------------------------

GAPS = [{"name": "order_id", "required": True}, {"name": "note", "required": False}]
MENU = [
    {"name": "review", "description": "Review a change.", "arguments": GAPS},
    {"name": "brief", "description": "A brief of the day.", "arguments": []},
    {"name": "poster", "description": "A poster, to be discussed.", "arguments": []},
    {"name": "motto", "description": "The motto of the house."},
]


def said(text, role="user"):
    return {"role": role, "content": {"type": "text", "text": text}}


PICTURE = {"role": "user", "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}}


class Scene:
    """A server that says another text each time, a person with a plan, and what happened."""

    def __init__(self, system_text, picks=None, fills=None, shows=lambda text: text):
        self.system_text, self.picks, self.shows = system_text, picks, shows
        self.fills = fills or {}
        self.happened, self.menu, self.shown, self.sent = [], None, [], []
        self.client = McpClient(FakeTransport(itertools.repeat(self.reply)), server="desk")

    def reply(self, request):
        match request["method"]:
            case "server/discover":
                result = {"supportedVersions": ["2026-07-28"], "capabilities": {"prompts": {}}}
            case "prompts/list":
                result = {"prompts": [dict(prompt) for prompt in MENU]}
            case "prompts/get":
                return self.fetched(request["params"])
            case "tools/list":
                result = {"tools": []}
            case other:
                raise AssertionError(f"nobody needs {other} here")
        return {"result": result}

    def fetched(self, params):
        self.happened.append("get")
        self.sent.append((params["name"], params.get("arguments") or {}))
        if params["name"] == "review" and "order_id" not in (params.get("arguments") or {}):
            return {"error": {"code": -32602, "message": "order_id is missing"}}
        messages = [said(f"Text {len(self.sent)} of {params['name']}."), said("Yes?", "assistant")]
        return {"result": {"messages": messages + [PICTURE] * (params["name"] == "poster")}}

    async def pick(self, prompts):
        self.happened.append("pick")
        self.menu = prompts
        return next((dict(p) for p in MENU if p["name"] == self.picks), None)

    async def fill(self, gap):
        require(isinstance(gap, dict) and "name" in gap, "fill gets one argument", came=gap)
        self.happened.append(f"fill {gap['name']}")
        return self.fills.get(gap["name"], "")

    async def show(self, text):
        require(isinstance(text, str), "show gets a text", came=text)
        self.happened.append("show")
        self.shown.append(text)
        return self.shows(text)

    async def run(self):
        came = self.system_text(self.client, self.pick, self.fill, self.show)
        return await came if inspect.isawaitable(came) else came


@TASK.part(
    "the person picks",
    idea="A prompt is for people: nothing is fetched before somebody picked it, and nothing is "
    "taken because it is first, or the only one. A menu that nobody picks from begins nothing.",
)
async def the_person_picks(system_text):
    scene = Scene(system_text)
    with doing("the person picks nothing"):
        came = await scene.run()
    expect(scene.menu, MENU, when="pick is called: what it gets")
    expect(scene.happened, ["pick"], when="the person picks nothing")
    expect(came, None, when="the person picks nothing")


@TASK.part(
    "gaps are filled, empty ones are not sent",
    idea="Absent and empty are two things: a server reads an empty text as the answer. Each gap is "
    "asked for, the optional ones too, since only the person knows.",
)
async def gaps(system_text):
    scene = Scene(system_text, "review", {"order_id": "ord_4821"})
    with doing("the person fills one of two gaps"):
        await scene.run()
    asked = [step for step in scene.happened if step.startswith("fill")]
    expect(asked, ["fill order_id", "fill note"], when="the prompt has two gaps")
    wanted = ("review", {"order_id": "ord_4821"})
    expect(scene.sent[:1], [wanted], when="the note is left empty: what is sent")


@TASK.part(
    "a prompt may have no arguments",
    idea="The list of arguments may be absent, which is an empty one. Who takes it for granted "
    "fails at the first prompt that needs nothing.",
)
async def no_arguments(system_text):
    scene = Scene(system_text, "motto")
    with doing("the person picks motto, which is listed without arguments"):
        await scene.run()
    expect(scene.sent[:1], [("motto", {})], when="motto is picked, which has no arguments")


@TASK.part(
    "what was shown is what is used",
    idea="A server may say something else the second time. The text that the person has read is "
    "the one that is used: it is fetched once, and whole.",
)
async def shown_is_used(system_text):
    scene = Scene(system_text, "brief")
    with doing("the person says yes to the text"):
        came = await scene.run()
    wanted = "user: Text 1 of brief.\n\nassistant: Yes?"
    expect(scene.shown, [wanted], when="show is called: what the person reads")
    expect(came, wanted, when="the person says yes to the text")


@TASK.part(
    "the person has the last word",
    idea="The system text is where a model listens best, and these are the words of a server. So "
    "the person's version is used, and nothing where the person says no.",
)
async def last_word(system_text):
    scene = Scene(system_text, "brief", shows=lambda text: "Be brief.")
    with doing("the person changes the text"):
        expect(await scene.run(), "Be brief.", when="the person changes the text")
    scene = Scene(system_text, "brief", shows=lambda text: None)
    with doing("the person says no to the text"):
        expect(await scene.run(), None, when="the person says no to the text")


@TASK.part(
    "half a prompt is another prompt",
    idea="An image in a system text is a line that says there was one. Nobody sees it, and the "
    "rest speaks of it: say so, and let the person choose something else.",
)
async def an_image(system_text):
    scene = Scene(system_text, "poster")
    when = "the third message of the prompt is an image"
    await refused_async(ValueError, scene.run(), when=when)
    expect(scene.shown, [], when=f"{when}: what the person was shown")


@TASK.part(
    "a refusal is for the program",
    idea="No model has seen any of this, so no model can mend it. Taken for None, a server that "
    "says no looks like a person who changed their mind.",
)
async def a_refusal(system_text):
    scene = Scene(system_text, "review")
    when = "the person leaves a required gap empty, and the server refuses"
    await refused_async(JsonRpcError, scene.run(), when=when)


# -- what people write ----------------------------------------------------------------------------


def variant(*, gaps_of=None, keep=bool, after=None, checks=True):
    """The solution with one of its steps done in another way."""

    async def system_text(client, pick, fill, show):
        chosen = await pick(await client.list_prompts())
        if chosen is None:
            return None
        gaps = chosen.get("arguments", []) if gaps_of is None else gaps_of(chosen)
        given = {gap["name"]: await fill(gap) for gap in gaps}
        given = {name: value for name, value in given.items() if keep(value)}
        prompt = await client.get_prompt(chosen["name"], given)
        if checks and any(m["content"]["type"] != "text" for m in prompt["messages"]):
            raise ValueError("more than text")
        text = prompt_text(prompt)
        shown = await show(text)
        return shown if after is None else await after(client, chosen, given, text, shown)

    return system_text


@TASK.wrong("before somebody picked it")
def a_menu_with_texts():
    async def system_text(client, pick, fill, show):
        for prompt in await client.list_prompts():
            if not prompt.get("arguments"):
                await client.get_prompt(prompt["name"])
        return await variant()(client, pick, fill, show)

    return system_text


@TASK.wrong("begins nothing")
def the_first_will_do():
    async def system_text(client, pick, fill, show):
        async def picked(prompts):
            return await pick(prompts) or prompts[1]

        return await variant()(client, picked, fill, show)

    return system_text


@TASK.wrong("Absent and empty are two things")
def empty_texts_are_sent():
    async def system_text(client, pick, fill, show):
        async def filled(gap):
            return await fill(gap) or ("" if gap["required"] else " ")

        return await variant()(client, pick, filled, show)

    return system_text


@TASK.wrong("the optional ones too")
def required_gaps_alone():
    system_text = variant(gaps_of=lambda p: [g for g in p.get("arguments", []) if g["required"]])
    return system_text


@TASK.wrong("takes it for granted")
def every_prompt_has_arguments():
    system_text = variant(gaps_of=lambda prompt: prompt["arguments"])
    return system_text


@TASK.wrong("something else the second time")
def fetched_again_after_the_yes():
    async def again(client, chosen, given, text, shown):
        if shown != text:
            return shown
        return prompt_text(await client.get_prompt(chosen["name"], given))

    system_text = variant(after=again)
    return system_text


@TASK.wrong("and whole")
def its_first_message():
    async def system_text(client, pick, fill, show):
        async def shorter(text):
            return await show(text.split("\n\n")[0])

        return await variant()(client, pick, fill, shorter)

    return system_text


@TASK.wrong("the person's version is used")
def a_yes_to_the_original():
    async def original(client, chosen, given, text, shown):
        return None if shown is None else text

    system_text = variant(after=original)
    return system_text


@TASK.wrong("nothing where the person says no")
def no_change_is_a_yes():
    async def kept(client, chosen, given, text, shown):
        return shown or text

    system_text = variant(after=kept)
    return system_text


@TASK.wrong("Nobody sees it")
def a_line_for_the_image():
    system_text = variant(checks=False)
    return system_text


@TASK.wrong("changed their mind")
def a_refusal_is_none():
    async def system_text(client, pick, fill, show):
        try:
            return await variant()(client, pick, fill, show)
        except JsonRpcError:
            return None

    return system_text

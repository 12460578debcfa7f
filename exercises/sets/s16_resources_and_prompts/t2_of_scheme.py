"""16.2: a reader that is kept to one kind of address."""

from urllib.parse import urlsplit

from exercises.machine import Task, doing, expect, refused_async, require
from fake_servers.core import Server
from fake_servers.declare import Resource, ResourceTemplate
from fake_servers.memory import InMemoryTransport
from mini_agent.errors import TransportClosed
from mini_agent.mcp import McpClient
from mini_agent.mcp.resources import resource_tool
from mini_agent.types import Tool, ToolResult, ToolSpec

TASK = Task(
    "16.2",
    "One kind of address, and no other",
    level="solid",
    minutes=15,
    section="`resource_tool`",
    text="""
A rule of the policy names a tool and a server. It does not see the address. So write
`of_scheme(tool, scheme)`: a Tool that looks like `tool`, which `resource_tool` made, and reads only
addresses of that scheme.

- An address of another scheme is a tool error that the model can mend, and `tool` is not run.
- `policy://returns` and `POLICY://returns` have one scheme: capitals do not count in it.
- Without an address it lists, as before. What is no address at all is refused with a tool error,
  here or by `tool`: whatever the model writes, no exception comes of it.
- What `tool` returns or raises is the answer.
""",
    hints=(
        "Where does a scheme end? And which arguments can a model send that hold no address, or "
        "something else than a text?",
        '`"policyholder://x".startswith("policy")` is true. And `urlsplit` is strict: look at what '
        "it does with `policy://[x`.",
        "No text under `uri`: hand it to the tool, whose schema knows what to say. A text: what "
        "stands before the first colon, in small letters, is the scheme. Another one: a ToolResult "
        "with is_error that names the one that is fine.",
    ),
)


@TASK.solution
def before_the_colon():
    def of_scheme(tool, scheme):
        async def execute(arguments):
            ### BEGIN SOLUTION
            uri = arguments.get("uri")
            if isinstance(uri, str) and uri.partition(":")[0].lower() != scheme.lower():
                text = f"nothing was read: only addresses of {scheme}: may be read here"
                return ToolResult(text, is_error=True)
            return await tool.execute(arguments)
            ### END SOLUTION

        return Tool(tool.spec, execute)

    return of_scheme


@TASK.right
def with_urlsplit():
    from dataclasses import replace

    def of_scheme(tool, scheme):
        async def execute(arguments):
            match arguments:
                case {"uri": str(uri)}:
                    try:
                        found = urlsplit(uri).scheme
                    except ValueError as error:
                        return ToolResult(f"that is no address: {error}", is_error=True)
                    if found != scheme:
                        return ToolResult(f"{found} is not read; {scheme} is", is_error=True)
            return await tool.execute(arguments)

        return replace(tool, execute=execute)

    return of_scheme


# -- the check ------------------------------------------------------------------------------------

LISTED = (
    "policy://returns",
    "POLICY://exchange",
    "policyholder://robin",
    "file:///srv/policy://returns",
)
TEMPLATE = "policy://{month}"


def holding(text):
    async def read(*_):
        return text

    return read


class Shelf:
    """The real tool on a server with four documents, wrapped by the answer."""

    def __init__(self, of_scheme):
        self.of_scheme = of_scheme

    async def __aenter__(self):
        resources = [Resource(uri, "a document", holding(f"This is {uri}.")) for uri in LISTED]
        templates = [ResourceTemplate(TEMPLATE, "by month", holding("A month."))]
        server = Server("shelf", resources=resources, templates=templates)
        self.client = McpClient(InMemoryTransport(server), server="shelf")
        await self.client.connect()
        self.tool = resource_tool(self.client, name="shelf_read")
        self.made = made(self.of_scheme, self.tool)
        return self

    async def __aexit__(self, *_):
        await self.client.close()

    @property
    def read(self):
        """The addresses that were sent to be read."""
        asked = [entry.message for entry in self.client.transport.transcript]
        return [m["params"]["uri"] for m in asked if m.get("method") == "resources/read"]


def made(of_scheme, tool):
    tool = of_scheme(tool, "policy")
    require(isinstance(tool, Tool), "of_scheme returns a Tool", came=tool)
    return tool


async def answer(tool, arguments):
    with doing(f"the model asks for {arguments}"):
        result = await tool.execute(arguments)
    require(isinstance(result, ToolResult), "a ToolResult", came=result, when=f"{arguments}")
    return result


@TASK.part(
    "it looks the same, and reads",
    idea="A limit that is put around a tool is seen by nobody: name, description and schema stay, "
    "and what it may read comes back as it was.",
)
async def it_reads(of_scheme):
    async with Shelf(of_scheme) as shelf:
        expect(shelf.made.spec, shelf.tool.spec, when="you look at its spec")
        result = await answer(shelf.made, {"uri": LISTED[0]})
        wanted = await shelf.tool.execute({"uri": LISTED[0]})
        expect(result, wanted, when=f"the model asks for {LISTED[0]}")


@TASK.part(
    "another scheme is not read",
    idea="A scheme ends at the first colon. policyholder is another one that begins alike, and a "
    "path may hold anything, another address too.",
)
async def another_scheme(of_scheme):
    async with Shelf(of_scheme) as shelf:
        for uri in LISTED[2:]:
            result = await answer(shelf.made, {"uri": uri})
            require(result.is_error, "a tool error", came=result, when=f"it asks for {uri}")
        expect(shelf.read, [], when="you look at what was sent to be read")


@TASK.part(
    "capitals do not count in a scheme",
    idea="POLICY: and policy: are one scheme to everybody who reads addresses. A check that takes "
    "them for two can be passed by, or stands in the way.",
)
async def capitals(of_scheme):
    async with Shelf(of_scheme) as shelf:
        result = await answer(shelf.made, {"uri": LISTED[1]})
        when = f"it asks for {LISTED[1]}, which the server lists"
        require(not result.is_error, "the document", came=result, when=when)


@TASK.part(
    "without an address it lists",
    idea="No address is no wrong address. The list is how a model learns what there is: without "
    "it, all that it can do is guess.",
)
async def it_lists(of_scheme):
    async with Shelf(of_scheme) as shelf:
        result = await answer(shelf.made, {})
        expect(result, await shelf.tool.execute({}), when="the model gives no address")


@TASK.part(
    "what is no address ends nothing",
    idea="A model writes anything, half an IPv6 address or a number too. An exception out of a "
    "tool means that the host failed, and ends the run; a tool error lets the model try again.",
)
async def no_address(of_scheme):
    async with Shelf(of_scheme) as shelf:
        for given in ({"uri": "policy://[returns"}, {"uri": 7}, {"uri": ""}, {"uri": "policy"}):
            result = await answer(shelf.made, given)
            require(result.is_error, "a tool error", came=result, when=f"the model sends {given}")


@TASK.part(
    "a break stays a break",
    idea="Who wraps a tool must not swallow what it raises: that the server is gone is the host's "
    "business, and as a tool error the model would go on asking.",
)
async def a_break(of_scheme):
    async def gone(arguments):
        raise TransportClosed("the server is gone")

    tool = made(of_scheme, Tool(ToolSpec("read", "Reads.", {"type": "object"}), gone))
    asked = tool.execute({"uri": "policy://returns"})
    await refused_async(TransportClosed, asked, when="the server is gone in the middle of a read")


# -- what people write ----------------------------------------------------------------------------


def refuses_where(is_other, *, name=""):
    """The answer, for a rule that says which addresses are of another scheme."""

    def of_scheme(tool, scheme):
        async def execute(arguments):
            if is_other(arguments, scheme):
                return ToolResult("not here", is_error=True)
            return await tool.execute(arguments)

        spec = ToolSpec(name, "Reads.", tool.spec.input_schema) if name else tool.spec
        return Tool(spec, execute)

    return of_scheme


def other(arguments, scheme):
    uri = arguments.get("uri")
    return isinstance(uri, str) and uri.partition(":")[0].lower() != scheme


@TASK.wrong("is seen by nobody")
def a_new_tool_of_its_own():
    of_scheme = refuses_where(other, name="read_policy")
    return of_scheme


@TASK.wrong("begins alike")
def it_begins_with_it():
    of_scheme = refuses_where(
        lambda given, scheme: (
            isinstance(given.get("uri"), str) and not given["uri"].lower().startswith(scheme)
        )
    )
    return of_scheme


@TASK.wrong("a path may hold anything")
def it_is_somewhere_in_it():
    of_scheme = refuses_where(
        lambda given, scheme: (
            isinstance(given.get("uri"), str) and f"{scheme}://" not in given["uri"].lower()
        )
    )
    return of_scheme


@TASK.wrong("are one scheme")
def to_the_letter():
    of_scheme = refuses_where(
        lambda given, scheme: (
            isinstance(given.get("uri"), str) and not given["uri"].startswith(f"{scheme}:")
        )
    )
    return of_scheme


@TASK.wrong("No address is no wrong address")
def nothing_is_not_of_that_scheme():
    of_scheme = refuses_where(
        lambda given, scheme: str(given.get("uri")).partition(":")[0].lower() != scheme
    )
    return of_scheme


@TASK.wrong("ends the run")
def urlsplit_is_enough():
    of_scheme = refuses_where(
        lambda given, scheme: "uri" in given and urlsplit(given["uri"]).scheme != scheme
    )
    return of_scheme


@TASK.wrong("must not swallow")
def everything_is_a_tool_error():
    def of_scheme(tool, scheme):
        inner = before_the_colon()(tool, scheme)

        async def execute(arguments):
            try:
                return await inner.execute(arguments)
            except Exception as error:
                return ToolResult(str(error), is_error=True)

        return Tool(tool.spec, execute)

    return of_scheme

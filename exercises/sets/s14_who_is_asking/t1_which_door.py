"""14.1: ten tokens, and the door that each of them opens."""

import functools

from exercises.machine import Task, expect
from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.keys import SigningKey
from mini_agent.errors import McpError
from mini_agent.mcp import HttpTransport, McpClient

TASK = Task(
    "14.1",
    "Ten tokens: which door do they open?",
    level="warm-up",
    minutes=8,
    section="Who you are, and what you may",
    text="""
Somebody holds a token and wants to read `ord_4821`, an order of Robin's customer. They try it at
the MCP server, with `get_order`, and at the order service itself. Say for each token where the
order is read: `"MCP server"`, `"order service"`, `"neither"` or `"both"`.

What is not said is as it should be: Robin's, signed by the issuer, in time, for `orders:read`.

The check then tries each at both doors.
""",
    hints=(
        "For each, in this order: whose signature, in time, for whom, in whose name, for what?",
        "An audience is compared letter by letter, and it is one. A scope too many hurts nobody. "
        "The order service knows whose the order is, and asks nobody in front of it.",
        "Two open the MCP server: the plain one and the one with a scope too many. Two open the "
        "order service. Six open nothing.",
    ),
)


@TASK.stub
def nothing_said_yet():
    opens = {
        "for the MCP server": ...,
        "for the order service, through refunds-mcp": ...,
        "for the order service, with no actor": ...,
        "for both in one list": ...,
        "for the MCP server, with a slash at its end": ...,
        "for the MCP server, scope orders:read admin": ...,
        "for the MCP server, scope offline_access": ...,
        "for the MCP server, Kim's": ...,
        "for the MCP server, an hour over its time": ...,
        "for the order service, another key of the same name": ...,
    }
    return opens


@TASK.solution
def as_it_runs():
    opens = {
        "for the MCP server": "MCP server",
        "for the order service, through refunds-mcp": "order service",
        "for the order service, with no actor": "order service",
        "for both in one list": "neither",
        "for the MCP server, with a slash at its end": "neither",
        "for the MCP server, scope orders:read admin": "MCP server",
        "for the MCP server, scope offline_access": "neither",
        "for the MCP server, Kim's": "neither",
        "for the MCP server, an hour over its time": "neither",
        "for the order service, another key of the same name": "neither",
    }
    return opens


@TASK.right
def by_door():
    doors = {
        "MCP server": ["for the MCP server", "for the MCP server, scope orders:read admin"],
        "order service": [
            "for the order service, through refunds-mcp",
            "for the order service, with no actor",
        ],
    }
    opens = dict.fromkeys(as_it_runs(), "neither")
    for door, tokens in doors.items():
        opens |= dict.fromkeys(tokens, door)
    return opens


# -- the check ------------------------------------------------------------------------------------

TOKENS = {
    "for the MCP server": lambda desk: {},
    "for the order service, through refunds-mcp": lambda desk: {
        "audience": desk.orders_url,
        "act": {"sub": "refunds-mcp"},
    },
    "for the order service, with no actor": lambda desk: {"audience": desk.orders_url},
    "for both in one list": lambda desk: {"aud": [desk.url, desk.orders_url]},
    "for the MCP server, with a slash at its end": lambda desk: {"audience": desk.url + "/"},
    "for the MCP server, scope orders:read admin": lambda desk: {"scope": "orders:read admin"},
    "for the MCP server, scope offline_access": lambda desk: {"scope": "offline_access"},
    "for the MCP server, Kim's": lambda desk: {"subject": "kim"},
    "for the MCP server, an hour over its time": lambda desk: {"expires_in": -3600},
    "for the order service, another key of the same name": lambda desk: {
        "audience": desk.orders_url,
        "key": SigningKey("key-1"),
    },
}
ORDER = {"order_id": "ord_4821"}


async def at_the_server(desk, token):
    try:
        said = await McpClient(HttpTransport(desk.url, client=desk.client(token))).call(
            "get_order", ORDER
        )
    except McpError:
        return False
    return not said.is_error


async def at_the_service(desk, token):
    answer = await desk.client(token).get(f"{desk.orders_url}/orders/ord_4821")
    return answer.status_code == 200


@functools.cache
def doors():
    """What each token opens, once it was tried: it is the same for every answer."""
    return {}


async def tried(name):
    if name not in doors():
        async with RefundDesk() as desk:
            usual = {"subject": "robin", "scope": "orders:read"}
            token = desk.issue_token(**{**usual, **TOKENS[name](desk)})
            came = await at_the_server(desk, token), await at_the_service(desk, token)
        words = {(True, False): "MCP server", (False, True): "order service", (True, True): "both"}
        doors()[name] = words.get(came, "neither")
    return doors()[name]


async def compare(opens, *names):
    for name in names:
        expect(opens.get(name), await tried(name), when=f"the token is {name}")


@TASK.part(
    "one audience, one door",
    idea="A token is made for one service, and the other one refuses it. So what the MCP server "
    "gets is of no use further in, and it has to get another.",
)
async def one_door(opens):
    await compare(opens, "for the MCP server", "for the order service, through refunds-mcp")


@TASK.part(
    "letter by letter, and one",
    idea="A token that two services take can be used by one of them at the other, so neither takes "
    "it. And an address with a slash more is another address.",
)
async def letter_by_letter(opens):
    await compare(opens, "for both in one list", "for the MCP server, with a slash at its end")


@TASK.part(
    "an actor is said, and not asked for",
    idea="The actor tells the records who acts for Robin. The token is good without one: it is the "
    "audience that keeps it to its place.",
)
async def an_actor(opens):
    await compare(opens, "for the order service, with no actor")


@TASK.part(
    "what it allows",
    idea="What the call needs has to be among its scopes, and what else is there does not matter. "
    "A scope to come back later with a refresh token is none to read with.",
)
async def what_it_allows(opens):
    await compare(opens, "for the MCP server, scope orders:read admin")
    await compare(opens, "for the MCP server, scope offline_access")


@TASK.part(
    "whose order it is",
    idea="The gate lets Kim in, with a perfect token. The order service looks whose customer it "
    "is, and says what it would say if there were no such order.",
)
async def whose_order(opens):
    await compare(opens, "for the MCP server, Kim's")


@TASK.part(
    "signed, and in time",
    idea="Anybody can write a token, and can name a key in it. Only the issuer can sign with it, "
    "and what it signed is good for minutes.",
)
async def signed_in_time(opens):
    await compare(opens, "for the MCP server, an hour over its time")
    await compare(opens, "for the order service, another key of the same name")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("has to get another")
def it_is_passed_on():
    opens = {**as_it_runs(), "for the MCP server": "both"}
    return opens


@TASK.wrong("neither takes")
def each_finds_itself_in_the_list():
    opens = {**as_it_runs(), "for both in one list": "both"}
    return opens


@TASK.wrong("another address")
def a_slash_is_nothing():
    opens = {**as_it_runs(), "for the MCP server, with a slash at its end": "MCP server"}
    return opens


@TASK.wrong("good without one")
def it_needs_an_actor():
    opens = {**as_it_runs(), "for the order service, with no actor": "neither"}
    return opens


@TASK.wrong("does not matter")
def an_unknown_scope_is_refused():
    opens = {**as_it_runs(), "for the MCP server, scope orders:read admin": "neither"}
    return opens


@TASK.wrong("none to read with")
def any_scope_will_do():
    opens = {**as_it_runs(), "for the MCP server, scope offline_access": "MCP server"}
    return opens


@TASK.wrong("whose customer it is")
def a_good_token_is_enough():
    opens = {**as_it_runs(), "for the MCP server, Kim's": "MCP server"}
    return opens


@TASK.wrong("Only the issuer can sign")
def the_name_of_the_key():
    opens = {**as_it_runs()}
    opens["for the order service, another key of the same name"] = "order service"
    return opens

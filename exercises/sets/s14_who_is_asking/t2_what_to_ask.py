"""14.2: seven times before a person is asked, and the scopes that they read on the page."""

from exercises.machine import Task, expect, require
from mini_agent.mcp.auth_challenge import scopes_to_ask

TASK = Task(
    "14.2",
    "What does Robin's page ask for?",
    level="solid",
    minutes=10,
    section="4 · What do we ask for? `scopes_to_ask`",
    text="""
A server refuses, and the client sends Robin to a page. Which scopes stand on it? Say it for each as
one text, with blanks between the scopes in any order, and `"nothing"` where the client leaves it to
the authorization server.

"Lists" is what the MCP server's own document says, "offers" what the authorization server's says,
and what is not mentioned is not there. The check asks `scopes_to_ask`.
""",
    hints=(
        "Three sources, in an order: the challenge, the list, nothing. And one thing that stays "
        "from before.",
        "What the authorization server offers is what it can give to anybody, not what this call "
        "needs. One scope is taken from there, and it is for coming back without Robin.",
        "Only orders:read twice, nothing once, both of read and draft twice, draft alone once, and "
        "once a scope with offline_access.",
    ),
)


@TASK.stub
def nothing_said_yet():
    page = {
        "401 names orders:read; the server lists orders:read refunds:draft": ...,
        "401 names nothing; the server lists orders:read; offered is also admin": ...,
        "401 names nothing": ...,
        "401 names orders:read; offered is also offline_access": ...,
        "403 names refunds:draft; before, orders:read was asked for": ...,
        "403 names both, orders:read and refunds:draft; before, orders:read": ...,
        "403 names refunds:draft; before was orders:read, and is forgotten": ...,
    }
    return page


@TASK.solution
def as_it_runs():
    page = {
        "401 names orders:read; the server lists orders:read refunds:draft": "orders:read",
        "401 names nothing; the server lists orders:read; offered is also admin": "orders:read",
        "401 names nothing": "nothing",
        "401 names orders:read; offered is also offline_access": "orders:read offline_access",
        "403 names refunds:draft; before, orders:read was asked for": "orders:read refunds:draft",
        "403 names both, orders:read and refunds:draft; before, orders:read": (
            "orders:read refunds:draft"
        ),
        "403 names refunds:draft; before was orders:read, and is forgotten": "refunds:draft",
    }
    return page


@TASK.right
def in_another_order():
    both = "refunds:draft orders:read"
    page = dict.fromkeys(list(as_it_runs())[:2], "orders:read")
    page["401 names nothing"] = "nothing"
    page["401 names orders:read; offered is also offline_access"] = "offline_access orders:read"
    page["403 names refunds:draft; before, orders:read was asked for"] = both
    page["403 names both, orders:read and refunds:draft; before, orders:read"] = both
    page["403 names refunds:draft; before was orders:read, and is forgotten"] = "refunds:draft"
    return page


# -- the check ------------------------------------------------------------------------------------

READ, DRAFT = "orders:read", "refunds:draft"
ASKED = {
    "401 names orders:read; the server lists orders:read refunds:draft": {
        "challenged": (READ,),
        "resource": (READ, DRAFT),
    },
    "401 names nothing; the server lists orders:read; offered is also admin": {
        "resource": (READ,),
        "issuer": (READ, "admin"),
    },
    "401 names nothing": {},
    "401 names orders:read; offered is also offline_access": {
        "challenged": (READ,),
        "issuer": (READ, "offline_access"),
    },
    "403 names refunds:draft; before, orders:read was asked for": {
        "challenged": (DRAFT,),
        "before": (READ,),
    },
    "403 names both, orders:read and refunds:draft; before, orders:read": {
        "challenged": (READ, DRAFT),
        "before": (READ,),
    },
    "403 names refunds:draft; before was orders:read, and is forgotten": {"challenged": (DRAFT,)},
}


def on_the_page(situation):
    known = {"challenged": None, "resource": None, **ASKED[situation]}
    asked = scopes_to_ask(known.pop("challenged"), known.pop("resource"), **known)
    return "nothing" if asked is None else " ".join(asked)


def compare(page, *situations):
    for situation in situations:
        said, wanted = page.get(situation), on_the_page(situation)
        require(isinstance(said, str), f"a text: {wanted!r}", came=said, when=situation)
        if sorted(said.split()) != sorted(wanted.split()):
            expect(said, wanted, when=situation)


@TASK.part(
    "as little as will do",
    idea="The challenge says what this call needs. What the server could use besides, or the "
    "authorization server could give, would be open to whoever steals the token.",
)
def as_little(page):
    compare(page, "401 names orders:read; the server lists orders:read refunds:draft")
    compare(page, "401 names nothing; the server lists orders:read; offered is also admin")


@TASK.part(
    "nobody says anything",
    idea="Then no scope is asked for, and the authorization server has a usual one. To guess would "
    "be to ask Robin for something that nobody needs.",
)
def nobody_says(page):
    compare(page, "401 names nothing")


@TASK.part(
    "to come back without asking",
    idea="A refresh token has a scope of its own, and is asked for where it is offered. No "
    "challenge names it: it is the client that wants it, not the server.",
)
def to_come_back(page):
    compare(page, "401 names orders:read; offered is also offline_access")


@TASK.part(
    "a scope more",
    idea="The new token takes the place of the old one. Asked for the new scope alone, it could "
    "draft, and the next read would be refused: so what was asked before stays, each once.",
)
def a_scope_more(page):
    compare(page, "403 names refunds:draft; before, orders:read was asked for")
    compare(page, "403 names both, orders:read and refunds:draft; before, orders:read")


@TASK.part(
    "what was forgotten",
    idea="A refusal names what this request needs, and not what you have. Who does not remember "
    "asks for one scope, then for the other, and Robin sees page after page.",
)
def forgotten(page):
    compare(page, "403 names refunds:draft; before was orders:read, and is forgotten")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("whoever steals the token")
def all_that_is_listed():
    page = {**as_it_runs()}
    page["401 names orders:read; the server lists orders:read refunds:draft"] = f"{READ} {DRAFT}"
    return page


@TASK.wrong("authorization server could give")
def all_that_is_offered():
    page = {**as_it_runs()}
    page["401 names nothing; the server lists orders:read; offered is also admin"] = f"{READ} admin"
    return page


@TASK.wrong("To guess")
def reading_is_always_needed():
    page = {**as_it_runs(), "401 names nothing": READ}
    return page


@TASK.wrong("it is the client that wants it")
def nobody_named_it():
    page = {**as_it_runs(), "401 names orders:read; offered is also offline_access": READ}
    return page


@TASK.wrong("takes the place of the old one")
def the_new_one_alone():
    page = {**as_it_runs(), "403 names refunds:draft; before, orders:read was asked for": DRAFT}
    return page


@TASK.wrong("not what you have")
def the_server_remembers():
    page = {**as_it_runs()}
    forgot = "403 names refunds:draft; before was orders:read, and is forgotten"
    page[forgot] = f"{READ} {DRAFT}"
    return page

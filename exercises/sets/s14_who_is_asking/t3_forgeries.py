"""14.3: forge the address that comes back, so that every careless client takes one."""

from urllib.parse import parse_qsl, urlencode, urlsplit

from exercises.machine import Task, expect, require
from mini_agent.errors import AuthorizationError
from mini_agent.mcp.auth_code import Pending, code_in

TASK = Task(
    "14.3",
    "Forge the way back",
    level="solid",
    minutes=15,
    section="7 · What came back? `code_in`, `check_issuer`",
    text="""
`back` is a good address: Robin's browser was sent to it, and its query holds `code`, `state` and
`iss`. Write `forgeries(back)`: a list of addresses that must not be believed.

The check gives them to `code_in`, which must refuse each. And it gives them to six careless
clients. Each of those makes one mistake and is right in all else, and each must take one of your
forgeries. What could the six be?

`changed(back, state="x", iss=None)` is the same address with another state and without an iss.
""",
    hints=(
        "Three names, and each can be missing, be another, be nearly right, or be there twice. And "
        "a refusal has a name of its own.",
        "Spoil one thing in each, and leave the rest as it came: a client that makes one mistake "
        "finds the second one. Nearly right is for what people tidy up before they compare.",
        "Another state; no state; an issuer with a slash more; no issuer; a second code behind the "
        "first; an error beside the code.",
    ),
    given="changed",
)


def changed(back, **change):
    query = dict(parse_qsl(urlsplit(back).query)) | change
    kept = {name: value for name, value in query.items() if value is not None}
    return f"{back.partition('?')[0]}?{urlencode(kept)}"


@TASK.solution
def one_thing_each():
    def forgeries(back):
        ### BEGIN SOLUTION
        issuer = dict(parse_qsl(urlsplit(back).query))["iss"]
        return [
            changed(back, state="made-up"),
            changed(back, state=None),
            changed(back, iss=issuer + "/"),
            changed(back, iss=None),
            back + "&code=another",
            changed(back, error="access_denied"),
        ]
        ### END SOLUTION

    return forgeries


@TASK.right
def many_more():
    def forgeries(back):
        said = dict(parse_qsl(urlsplit(back).query))
        made = [changed(back, **{name: None}) for name in said]
        made += [changed(back, **{name: value + "x"}) for name, value in said.items()][1:]
        made += [changed(back, iss=said["iss"].upper()), changed(back, iss="https://evil.example")]
        made += [f"{back}&{urlencode({name: said[name]})}" for name in said]
        return [*made, back + "&error=server_error"]

    return forgeries


# -- the check ------------------------------------------------------------------------------------

ISSUER = "https://auth.example"
STATE = "Zk3mT9vLq2xW"
BACK = f"http://127.0.0.1/callback?{urlencode({'code': 'c0de', 'state': STATE, 'iss': ISSUER})}"


def pending():
    return Pending(ISSUER, True, "http://127.0.0.1/callback", STATE, "a secret that stays here")


def forged(forgeries):
    made = forgeries(BACK)
    require(isinstance(made, list) and made, "a list of addresses", came=made)
    for address in made:
        require(isinstance(address, str), "addresses as texts", came=address)
    return made


def taken(code_in, address):
    try:
        code_in(address, pending())
    except AuthorizationError:
        return False
    return True


def careless(*, tidy=lambda said, waiting: said, once=True):
    """A client that is right but for what ``tidy`` does to the answer before it looks."""

    def client(address, waiting):
        pairs = parse_qsl(urlsplit(address).query, keep_blank_values=True)
        names = [name for name, _ in pairs]
        if once and any(names.count(name) > 1 for name in ("code", "state", "iss", "error")):
            raise AuthorizationError("twice", status=0)
        said = tidy(dict(reversed(pairs)), waiting)
        return code_in(f"{address.partition('?')[0]}?{urlencode(said)}", waiting)

    return client


def another_state(said, waiting):
    return {**said, "state": waiting.state} if said.get("state") else said


def without_state(said, waiting):
    return {"state": waiting.state, **said}


def without_issuer(said, waiting):
    return {"iss": waiting.issuer, **said}


def nearly_the_issuer(said, waiting):
    near = said.get("iss", "").lower().startswith(waiting.issuer)
    return {**said, "iss": waiting.issuer} if near else said


def without_the_error(said, waiting):
    return {name: value for name, value in said.items() if name != "error"}


def one_is_taken_by(client, forgeries, what):
    made = forged(forgeries)
    require(
        any(taken(client, address) for address in made),
        wanted="a forgery that it takes",
        came=f"{len(made)} forgeries, and it refuses each",
        when=f"a client {what}",
    )


@TASK.part(
    "the careful client refuses each",
    idea="Another order of the same parameters, or one that nobody knows, is no forgery. An answer "
    "has to be believed when all that counts is right.",
)
def the_careful_one(forgeries):
    for address in forged(forgeries):
        expect(taken(code_in, address), False, when=f"code_in is given {address}: taken?")


@TASK.part(
    "who looks whether there is a state",
    idea="The state is what ties an answer to a request. Not compared, a page that Robin visits "
    "can hand in a code of its own, and Robin works in somebody else's name.",
)
def looks_for_a_state(forgeries):
    client = careless(tidy=another_state)
    one_is_taken_by(client, forgeries, "looks whether there is a state, and does not compare it")


@TASK.part(
    "who compares the state if there is one",
    idea="What is compared only where it is there is left out by whoever forges. Missing is the "
    "plainest of all wrong values.",
)
def a_missing_state(forgeries):
    client = careless(tidy=without_state)
    one_is_taken_by(client, forgeries, "compares the state if there is one")


@TASK.part(
    "who compares the issuer if there is one",
    idea="This issuer says that it names itself in each answer. So an answer without a name is "
    "from somebody else, and a bad server leaves out what would give it away.",
)
def a_missing_issuer(forgeries):
    client = careless(tidy=without_issuer)
    one_is_taken_by(client, forgeries, "compares the issuer if there is one")


@TASK.part(
    "who tidies up before comparing",
    idea="A slash, a capital letter, a longer name that begins alike: each is another issuer, and "
    "somebody may own it. Letter by letter means that nothing is tidied up.",
)
def a_tidy_client(forgeries):
    client = careless(tidy=nearly_the_issuer)
    one_is_taken_by(client, forgeries, "takes an issuer that is nearly right")


@TASK.part(
    "who reads the first of two",
    idea="Of two values one reader takes the first and another the last. Between them a forged one "
    "slips through, so what may be there once is refused when it is there twice.",
)
def twice(forgeries):
    one_is_taken_by(careless(once=False), forgeries, "reads the first of two")


@TASK.part(
    "who takes the code and does not look for a no",
    idea="An answer with an error is a no, whatever else it holds. With a code beside it, it is "
    "two answers, and the one that somebody added is the code.",
)
def an_error(forgeries):
    client = careless(tidy=without_the_error)
    one_is_taken_by(client, forgeries, "takes the code, and does not look for an error")


# -- what people write ----------------------------------------------------------------------------


def all_but(*left_out, more=()):
    """The solution without some of its forgeries, by number."""

    def forgeries(back):
        made = one_thing_each()(back)
        kept = [address for number, address in enumerate(made) if number not in left_out]
        return kept + [make(back) for make in more]

    return forgeries


@TASK.wrong("is no forgery")
def a_parameter_more():
    forgeries = all_but(more=[lambda back: back + "&session_state=1"])
    return forgeries


@TASK.wrong("ties an answer to a request")
def a_state_that_is_missing_only():
    forgeries = all_but(0)
    return forgeries


@TASK.wrong("plainest of all wrong values")
def a_state_that_is_wrong_only():
    forgeries = all_but(1)
    return forgeries


@TASK.wrong("nothing is tidied up")
def an_issuer_that_is_quite_another():
    forgeries = all_but(2, more=[lambda back: changed(back, iss="https://evil.example")])
    return forgeries


@TASK.wrong("leaves out what would give it away")
def an_issuer_that_is_wrong_only():
    forgeries = all_but(3)
    return forgeries


@TASK.wrong("slips through")
def everything_once():
    forgeries = all_but(4)
    return forgeries


@TASK.wrong("is a no, whatever else")
def an_error_in_the_place_of_the_code():
    forgeries = all_but(5, more=[lambda back: changed(back, code=None, error="access_denied")])
    return forgeries


@TASK.wrong("plainest of all wrong values")
def two_faults_in_each():
    def forgeries(back):
        return [changed(back, state=None, iss=None), *all_but(1, 3)(back)]

    return forgeries

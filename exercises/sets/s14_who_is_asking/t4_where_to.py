"""14.4: where a server may be sent by somebody who gives it an address."""

import httpx

from exercises.machine import Task, doing, expect, refused_async, require
from fake_servers.refunds.addresses import is_public, literal
from fake_servers.refunds.outbound import DestinationRefused

TASK = Task(
    "14.4",
    "Tell me when it is paid: an address from a stranger",
    level="demanding",
    minutes=30,
    section="`choose`: where the name leads",
    text="""
The refund desk tells customers when a refund is paid: each leaves an address that it posts to. So
there is no list of good origins. Write `where_to(url, resolve)`, which returns the IP address to
connect to, as text, or raises DestinationRefused. `await resolve(name)` gives a list of texts.

- It goes to the open internet, by `https`, at the usual port, to a host.
- What two readers could understand differently is refused: user information, a backslash, a blank,
  a control character, a letter outside ASCII.
- A name is looked up once, and everything that it leads to is judged. An address that is written
  out is judged in whatever spelling, and is not looked up.

`literal(host)` is the address that a host is, None for a name. `is_public(address)` judges it. And
`httpx.URL` is the parser that will connect: it raises `httpx.InvalidURL`.
""",
    hints=(
        "Two steps: may this URL be read at all, and where does it lead? For each value that you "
        "compare, ask who could make it look right and mean something else.",
        "`httpx.URL(url)` has scheme, host, port (None where it is not said) and userinfo. A "
        "look-up may give nothing, two addresses, or another answer the second time.",
        "Refuse the characters first. Parse; refuse another scheme, no host, user information, a "
        "port that is neither None nor 443. The list to judge is the literal alone, or what the "
        "one look-up gave. Empty, or any of it not public: refused. Else the first, as text.",
    ),
)


@TASK.solution
def read_then_judge():
    async def where_to(url, resolve):
        ### BEGIN SOLUTION
        if not url.isascii() or not url.isprintable() or "\\" in url or " " in url:
            raise DestinationRefused("it holds what an address may not")
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:
            raise DestinationRefused("it is no URL") from None
        if parsed.scheme != "https" or not parsed.host or parsed.userinfo:
            raise DestinationRefused("it must be https, with a host and no user")
        if parsed.port not in (None, 443):
            raise DestinationRefused("only the usual port")
        written = literal(parsed.host)
        found = [written] if written else [literal(a) for a in await resolve(parsed.host)]
        if not found or not all(address and is_public(address) for address in found):
            raise DestinationRefused("it does not lead to the open internet")
        return str(found[0])
        ### END SOLUTION

    return where_to


@TASK.right
def with_the_guard():
    from fake_servers.refunds.outbound import Guard, choose

    async def where_to(url, resolve):
        wanted, fine = Guard(public=True).admit(url)
        if wanted.port != 443:
            raise DestinationRefused("the port")
        found = [wanted.host] if literal(wanted.host) else await resolve(wanted.host)
        return str(choose(found, fine))

    return where_to


# -- the check ------------------------------------------------------------------------------------

PUBLIC, OTHER = "93.184.215.14", "2606:2800:220:1::1"
INSIDE = ("10.0.0.3", "169.254.169.254", "127.0.0.1", "::1", "::ffff:10.0.0.3", "fd00::3")


class Names:
    """A resolver that gives each of its answers in turn, and counts."""

    def __init__(self, *answers):
        self.answers, self.asked = answers or ([PUBLIC],), []

    async def __call__(self, name):
        self.asked.append(name)
        return list(self.answers[min(len(self.asked), len(self.answers)) - 1])


async def must_be_refused(where_to, url, *answers, when=""):
    names = Names(*answers)
    when = when or f"the address is {url!r}"
    await refused_async(DestinationRefused, where_to(url, names), when=when)
    return names


async def goes_to(where_to, url, wanted, *answers, when=""):
    names = Names(*answers)
    when = when or f"the address is {url!r}"
    with doing(when):
        came = await where_to(url, names)
    require(isinstance(came, str), "an IP address as text", came=came, when=when)
    expect(came, wanted, when=when)
    return names


@TASK.part(
    "a good address is reached",
    idea="A guard that lets nobody out is switched off. What comes back is the address to connect "
    "to, and not the name: the name would be looked up again.",
)
async def a_good_one(where_to):
    names = await goes_to(where_to, "https://shop.example/paid?id=7", PUBLIC)
    expect(names.asked[:1], ["shop.example"], when="a name is looked up")
    await goes_to(where_to, "https://shop.example:443/", PUBLIC)
    await goes_to(where_to, "https://shop.example/", OTHER, [OTHER])


@TASK.part(
    "https, the usual port, a host",
    idea="Without https anybody on the way reads along, and file: needs no way at all. On another "
    "port sits what its owner never meant for strangers: mail, a database, an admin's page.",
)
async def scheme_and_port(where_to):
    for url in ("http://shop.example/", "file:///etc/passwd", "https:///paid", "shop.example"):
        await must_be_refused(where_to, url)
    for port in (22, 8443, 6379):
        await must_be_refused(where_to, f"https://shop.example:{port}/")


@TASK.part(
    "what can be read in two ways",
    idea="The one who checks reads one host, the one who connects another. So nothing is guessed: "
    "what two readers could understand differently is no address.",
)
async def two_readers(where_to):
    await must_be_refused(where_to, "https://shop.example@evil.example/")
    await must_be_refused(where_to, "https://shop.example:secret@evil.example/")
    await must_be_refused(where_to, "https://evil.example\\@shop.example/")
    for url in ("https://shop.example /", "https://shop.example/\r\nX: 1"):
        await must_be_refused(where_to, url)
    await must_be_refused(where_to, "https://sh\u043ep.example/", when="the o of shop is Cyrillic")
    await must_be_refused(where_to, "https://shop.example:four/")


@TASK.part(
    "an address in any spelling",
    idea="One machine has many spellings, and whoever connects understands them all. A list of bad "
    "texts knows some of them. Written out, an address is judged as it is: there is no name.",
)
async def any_spelling(where_to):
    for host in ("10.0.0.3", "127.1", "0177.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "[::1]"):
        names = await must_be_refused(where_to, f"https://{host}/")
        expect(names.asked, [], when=f"the host is {host}: what was looked up")
    names = await goes_to(where_to, f"https://{PUBLIC}/", PUBLIC)
    expect(names.asked, [], when=f"the host is {PUBLIC}: what was looked up")


@TASK.part(
    "where the name leads",
    idea="Whoever owns a name decides where it leads, into your own network too. The name proves "
    "nothing: what it leads to is judged.",
)
async def where_it_leads(where_to):
    for address in INSIDE:
        when = f"the name leads to {address}"
        await must_be_refused(where_to, "https://shop.example/", [address], when=when)


@TASK.part(
    "to two places at once",
    idea="A name that leads inside once is not trusted to lead outside. Whoever picks the good "
    "address of the two leaves the choice to the next one who connects.",
)
async def two_places(where_to):
    for found in ([PUBLIC, "10.0.0.3"], ["10.0.0.3", PUBLIC]):
        when = f"the name leads to {' and '.join(found)}"
        await must_be_refused(where_to, "https://shop.example/", found, when=when)


@TASK.part(
    "nowhere",
    idea="No address is no good address. Of an empty list everything is true, and its first one is "
    "an IndexError, which nobody who calls a guard expects.",
)
async def nowhere(where_to):
    when = "the name leads nowhere"
    await must_be_refused(where_to, "https://shop.example/", [], when=when)


@TASK.part(
    "judged once, and that one is used",
    idea="The second look-up may give another answer: it is the stranger's own name server. What "
    "was judged must be what is connected to.",
)
async def judged_once(where_to):
    when = "the name leads outside, and a moment later inside"
    answers = [PUBLIC], ["169.254.169.254"]
    await goes_to(where_to, "https://rebinding.example/", PUBLIC, *answers, when=when)


# -- what people write ----------------------------------------------------------------------------


def variant(
    *, ports=(None, 443), schemes=("https",), strict=True, users=False, judge=all,
    read=literal, good=is_public, empty=None, again=False, picks=False,
):  # fmt: skip
    """The solution with one of its rules left out or turned."""

    async def where_to(url, resolve):
        if strict and (not url.isascii() or not url.isprintable() or "\\" in url or " " in url):
            raise DestinationRefused("characters")
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:
            raise DestinationRefused("no URL") from None
        if parsed.scheme not in schemes or not parsed.host or (parsed.userinfo and not users):
            raise DestinationRefused("scheme, host, user")
        if ports and parsed.port not in ports:
            raise DestinationRefused("port")
        written = read(parsed.host)
        found = [written] if written else [literal(a) for a in await resolve(parsed.host)]
        if not found and empty is None:
            raise DestinationRefused("nowhere")
        if picks:
            found = [address for address in found if good(address)] or found
        if not judge(good(address) for address in found):
            raise DestinationRefused("not public")
        return str(literal((await resolve(parsed.host))[0]) if again and not written else found[0])

    return where_to


@TASK.wrong("would be looked up again")
def the_name_is_returned():
    async def where_to(url, resolve):
        address = await variant()(url, resolve)
        return httpx.URL(url).host if address == OTHER else address

    return where_to


@TASK.wrong("never meant for strangers")
def any_port():
    where_to = variant(ports=())
    return where_to


@TASK.wrong("anybody on the way reads along")
def http_as_well():
    where_to = variant(schemes=("https", "http"), ports=(None, 443, 80))
    return where_to


@TASK.wrong("The one who checks reads one host")
def the_name_before_the_at():
    where_to = variant(users=True)
    return where_to


@TASK.wrong("nothing is guessed")
def the_parser_will_know():
    where_to = variant(strict=False)
    return where_to


@TASK.wrong("has many spellings")
def by_ipaddress():
    import ipaddress

    def read(host):
        try:
            return ipaddress.ip_address(host)
        except ValueError:
            return None

    where_to = variant(read=read)
    return where_to


@TASK.wrong("what it leads to is judged")
def private_is_what_begins_with_ten():
    bad = ("10.", "127.", "192.168.", "::1", "::ffff:")
    where_to = variant(good=lambda address: not str(address).startswith(bad))
    return where_to


@TASK.wrong("is not trusted to lead outside")
def the_good_one_is_picked():
    where_to = variant(picks=True)
    return where_to


@TASK.wrong("Of an empty list everything is true")
def all_of_nothing():
    where_to = variant(empty="fine")
    return where_to


@TASK.wrong("may give another answer")
def looked_up_again_to_connect():
    where_to = variant(again=True)
    return where_to

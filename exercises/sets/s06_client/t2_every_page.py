"""06.2: mend the naive walk through the pages of a list."""

from exercises.machine import Task, doing, expect, refused_async, require
from mini_agent.errors import JsonRpcError, MalformedMessage

TASK = Task(
    "06.2",
    "Mend it: every page of a list",
    level="solid",
    minutes=20,
    section="`_walk`: from the first page to the last",
    text="""
`await ask(params)` sends one request and returns its result; a refusal is a JsonRpcError. The
`every_page` below reads a list with it, and works as long as every server is well and pages simply.
Mend it.

- Only a `nextCursor` that is absent or null ends the list. A list of 300 pages is fine.
- A list without end is MalformedMessage: a cursor that comes twice, or more than 1000 pages. So is
  a page where `key` holds no list.
- A cursor that is refused with -32602 means that the list has changed. Begin again at the first
  page, once, and forget what was read before. Every other refusal goes out as it came.
""",
    hints=(
        "Four things go wrong here: how it ends, how it does not end, what it adds up, and what it "
        "does after a refusal. Mend one after the other.",
        "Without a cursor is not the same as with an empty one: None for the first. Keep the "
        "cursors that you have seen. -32602 on the first page is no stale cursor, since none was "
        "sent.",
        "Write a walk that raises on a cursor seen before and after 1000 pages, with an empty list "
        "of its own. Around it: on JsonRpcError with code -32602, if a cursor had been sent, walk "
        "once more, and let whatever comes then go out.",
    ),
)


@TASK.stub
def naive():
    async def every_page(ask, key):
        items, cursor = [], ""
        while True:
            result = await ask({"cursor": cursor} if cursor else {})
            items += result[key]
            cursor = result.get("nextCursor")
            if not cursor:
                return items

    return every_page


@TASK.solution
def a_walk_and_another():
    async def every_page(ask, key):
        for last_try in (False, True):
            items, cursor, seen = [], None, set()
            try:
                while len(seen) < 1000:
                    result = await ask({} if cursor is None else {"cursor": cursor})
                    page, cursor = result.get(key), result.get("nextCursor")
                    if not isinstance(page, list):
                        raise MalformedMessage(f"{key} is no list")
                    items += page
                    if cursor is None:
                        return items
                    if cursor in seen:
                        raise MalformedMessage("a cursor came twice")
                    seen.add(cursor)
                raise MalformedMessage("more than 1000 pages")
            except JsonRpcError as refusal:
                if refusal.code != -32602 or cursor is None or last_try:
                    raise

    return every_page


@TASK.right
def by_recursion():
    async def every_page(ask, key):
        async def pages(seen):
            result = await ask({"cursor": seen[-1]} if seen else {})
            following = result.get("nextCursor")
            if len(seen) > 999 or following in seen or not isinstance(result.get(key), list):
                raise MalformedMessage("this is no list that ends")
            yield result[key]
            if following is not None:
                seen.append(following)

        async def walk():
            seen, items, before = [], [], -1
            while before < len(seen):
                before = len(seen)
                try:
                    async for page in pages(seen):
                        items.extend(page)
                except JsonRpcError as refusal:
                    stale = refusal.code == -32602 and bool(seen)
                    return stale, refusal
            return False, items

        stale, came = await walk()
        if stale:
            _, came = await walk()
        if isinstance(came, JsonRpcError):
            raise came
        return came

    return every_page


# -- the check ------------------------------------------------------------------------------------


class TooMany(Exception):
    """What the server of the check says when it has been asked too often."""


class Lister:
    """A server that is a list of pages: dicts are results, exceptions are raised."""

    def __init__(self, pages):
        self.pages, self.asked = iter(pages), []

    async def ask(self, params):
        require(isinstance(params, dict), "a dict of params", came=params)
        self.asked.append(params.get("cursor", "no cursor"))
        if len(self.asked) > 1500:
            raise TooMany("1500 requests, and it goes on")
        page = next(self.pages, None)
        if page is None:
            raise TooMany(f"there is no page left, and it asks for {params}")
        if isinstance(page, Exception):
            raise page
        return page


def page(*names, cursor="none"):
    more = {} if cursor == "none" else {"nextCursor": cursor}
    return {"resultType": "complete", "tools": list(names), **more}


async def read(every_page, pages, when):
    lister = Lister(pages)
    with doing(when):
        return await every_page(lister.ask, "tools"), lister.asked


async def refusal_of(every_page, pages, kind, when):
    return await refused_async(kind, every_page(Lister(pages).ask, "tools"), when=when)


def endless():
    for number in range(10_000):
        yield page("x", cursor=f"c{number}")


@TASK.part(
    "from the first page to the last",
    idea="An empty text is a cursor like any other: only a missing one ends the list, or null. A "
    "tool that is not listed is missed by nobody.",
)
async def to_the_last(every_page):
    three = [page("query", cursor=""), page("create", cursor="x1"), page("delete")]
    when = 'three pages come, the cursors are "" and "x1"'
    came, asked = await read(every_page, three, when)
    expect(came, ["query", "create", "delete"], when=when)
    expect(asked, ["no cursor", "", "x1"], when=f"{when}, and we look at the cursors sent")
    when = "the first page is empty, and the last has the cursor null"
    came, _ = await read(every_page, [page(cursor="x1"), page("query", cursor=None)], when)
    expect(came, ["query"], when=when)


@TASK.part(
    "a long list is a list",
    idea="300 pages are many, and legal. A bound is for lists that never end.",
)
async def a_long_list(every_page):
    pages = [page(n, cursor=f"c{n}") for n in range(299)] + [page(299)]
    came, _ = await read(every_page, pages, "the list has 300 pages")
    require(isinstance(came, list), "a list", came=came)
    numbers = came == list(range(300))
    require(numbers, "all 300 items, in order", came=came, when="the list has 300 pages")


@TASK.part(
    "a cursor that comes twice",
    idea="The same cursor leads to the same page: the list goes round in a circle, and each round "
    "adds the same tools once more.",
)
async def in_a_circle(every_page):
    pages = [page("a", cursor="x1"), page("b", cursor="x2")] + [page("c", cursor="x1")] * 2000
    await refusal_of(every_page, pages, MalformedMessage, "the cursors are x1, x2, x1, x1, …")


@TASK.part(
    "a list without end",
    idea="Each cursor is new, and none is the last: a counter is all that such a server needs. We "
    "would ask it for ever, with every page in our memory.",
)
async def without_end(every_page):
    when = "every page has a new cursor, without end"
    await refusal_of(every_page, endless(), MalformedMessage, when)


@TASK.part(
    "a page that holds no list",
    idea="A text and a dict can be added up as well: of letters and of keys. A result of a wrong "
    "shape is the server's fault, and has a class that says so.",
)
async def no_list(every_page):
    for wrong in ("query", {"query": {}}, None):
        pages = [{**page(), "tools": wrong}]
        when = f"the page holds {wrong!r} under tools"
        await refusal_of(every_page, pages, MalformedMessage, when)


@TASK.part(
    "a stale cursor: from the start, and nothing mixed",
    idea="The list changed while we read it. What was read belongs to the old list: kept, a tool "
    "stands there that is gone, or stands there twice.",
)
async def stale(every_page):
    refusal = JsonRpcError(-32602, "no such cursor")
    pages = [page("old", cursor="x1"), refusal, page("new", cursor="x2"), page("more")]
    when = "the second page is refused with -32602, and then all goes well"
    came, asked = await read(every_page, pages, when)
    expect(came, ["new", "more"], when=when)
    expect(asked, ["no cursor", "x1", "no cursor", "x2"], when=f"{when}; the cursors sent")


@TASK.part(
    "once, and not until it works",
    idea="A server whose cursors are never good is broken. Whoever begins again each time asks it "
    "for ever; the refusal says what is wrong.",
)
async def once(every_page):
    refusal = JsonRpcError(-32602, "no such cursor")
    pages = [page("a", cursor="x1"), refusal] * 1000
    when = "the second page is refused each time"
    error = await refusal_of(every_page, pages, JsonRpcError, when)
    expect(error.code, -32602)


@TASK.part(
    "every other refusal goes out",
    idea="-32602 without a cursor is about something else, and another code always is. A list that "
    "failed must not look like a short list.",
)
async def other_refusals(every_page):
    first = [JsonRpcError(-32602, "no params, please")]
    when = "the first page is refused with -32602"
    error = await refusal_of(every_page, first, JsonRpcError, when)
    require(error is first[0], "the refusal as it came", came=error)
    later = [page("a", cursor="x1"), JsonRpcError(-32603, "the disk is full")]
    when = "the second page is refused with -32603"
    error = await refusal_of(every_page, later, JsonRpcError, when)
    expect(error.code, -32603)


# -- what people write ----------------------------------------------------------------------------


async def walked(ask, key, without="", pages=1000, tries=2):
    """The solution with one rule left out, for the answers that forget it."""
    items = []
    for number in range(tries):
        cursor, seen = None, set()
        items = items if without == "forget" else []
        try:
            while True:
                result = await ask({} if cursor is None else {"cursor": cursor})
                if not isinstance(result.get(key), list) and without != "list":
                    raise MalformedMessage("no list")
                items += result[key] or []
                cursor = result.get("nextCursor")
                if cursor is None or (without == "empty" and not cursor):
                    return items
                if cursor in seen and without != "circle":
                    raise MalformedMessage("in a circle")
                seen.add(cursor)
                if len(seen) >= pages:
                    raise MalformedMessage("without end")
        except JsonRpcError as refusal:
            if without == "partial" and refusal.code != -32602:
                return items
            if refusal.code != -32602 or cursor is None or number == tries - 1:
                raise
    return items


def walking(**options):
    async def every_page(ask, key):
        return await walked(ask, key, **options)

    return every_page


@TASK.wrong("is a cursor like any other")
def an_empty_cursor_ends_it():
    every_page = walking(without="empty")
    return every_page


@TASK.wrong("are many, and legal")
def a_hundred_pages_are_enough():
    every_page = walking(pages=100)
    return every_page


@TASK.wrong("goes round in a circle")
def it_will_end_some_day():
    async def every_page(ask, key):
        seen = 0

        async def counted(params):
            nonlocal seen
            seen += 1
            result = await ask(params)
            if seen > 1000 and result.get("nextCursor") not in (None, "x1"):
                raise MalformedMessage("more than 1000 pages")
            return result

        return await walked(counted, key, without="circle", pages=10**6)

    return every_page


@TASK.wrong("a counter is all")
def only_circles_are_closed():
    every_page = walking(pages=10**6)
    return every_page


@TASK.wrong("can be added up as well")
def whatever_can_be_added():
    every_page = walking(without="list")
    return every_page


@TASK.wrong("belongs to the old list")
def the_half_read_list_is_kept():
    every_page = walking(without="forget")
    return every_page


@TASK.wrong("The list changed")
def no_second_walk():
    every_page = walking(tries=1)
    return every_page


@TASK.wrong("for ever")
def until_it_works():
    every_page = walking(tries=10**6)
    return every_page


@TASK.wrong("look like a short list")
def what_came_so_far():
    every_page = walking(without="partial")
    return every_page

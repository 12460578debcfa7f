"""01.4: a third service behind the same tool, and no host notices."""

import httpx

from exercises.machine import Task, doing, expect, require
from fake_servers.calendar import Calendar
from mini_agent.types import ToolResult

TASK = Task(
    "01.4",
    "`fetch_east`: a third service, and no host notices",
    level="demanding",
    minutes=30,
    section="The service is swapped",
    text="""
The calendar moves once more, to `east.example`. Write `fetch_east(http, arguments)`. It gives what
`fetch_calendar` gave: a ToolResult with a line for each appointment, such as
`2026-08-03T09:00 Team standup`, or with `nothing`. One request asks for one page:

`GET https://east.example/days/2026-08-03?who=robin&page=1&key=key-31`

East answers

- `{"entries": [{"at": "09:00", "what": "Team standup"}], "next": 2}`: a page, and the number of the
  next one, or null.
- Status 404: nothing is on that day.
- Status 403 and `{"problem": {"detail": "…", "request": "…"}}`: refused. `detail` says why,
  `request` is the address that was asked.
- Any other status, or HTML: east is not well.

And this is what your tool makes of it:

- Of a refusal the model reads the service's own `detail`, as a tool error.
- Whatever else goes wrong is a tool error that begins `calendar unreachable`.
- The key stands in the address. It must stand in no result.
""",
    hints=(
        "Four ends: all pages read, an empty day, a refusal, everything else. Which of them may be "
        "found on any page, and which exceptions can come from `http.get` and from `.json()`?",
        "A loop over pages that ends at null. httpx's errors are HTTPError; a body that is no JSON "
        "is a ValueError. An exception's text may hold the address, and with it the key, and so "
        "does `request`: say in your own words what went wrong.",
        "`page` begins at 1. While it is not None: get; return `nothing` for 404, the detail for "
        "403, unreachable for any status but 200; add the entries, and let `page` be `next`. "
        "Around it one `try`, with one `except` for httpx.HTTPError and ValueError that names the "
        "class of the error, not its text.",
    ),
    given="KEY PAGES east http",
)

KEY = "key-31"
PAGES = {
    "2026-08-03": [
        [{"at": "09:00", "what": "Team standup"}, {"at": "11:00", "what": "Supplier review"}],
        [{"at": "14:00", "what": "Dentist"}],
    ],
    "2026-08-04": [[{"at": "10:00", "what": "Budget planning"}]],
}


def east(request):
    asked, day = request.url.params, request.url.path.removeprefix("/days/")
    if asked.get("key") != KEY or asked.get("who") != "robin":
        why = {"detail": f"this key may not read {asked.get('who')}", "request": str(request.url)}
        return httpx.Response(403, json={"problem": why})
    if day not in PAGES:
        return httpx.Response(404, text="<h1>Not found</h1>")
    page = int(asked.get("page", 1))
    following = page + 1 if page < len(PAGES[day]) else None
    return httpx.Response(200, json={"entries": PAGES[day][page - 1], "next": following})


http = httpx.AsyncClient(transport=httpx.MockTransport(east))


@TASK.solution
def page_by_page():
    async def fetch_east(http, arguments):
        ### BEGIN SOLUTION
        day, lines, page = arguments["date"], [], 1
        try:
            while page is not None:
                answer = await http.get(
                    f"https://east.example/days/{day}",
                    params={"who": arguments["owner"], "page": page, "key": KEY},
                )
                if answer.status_code == 404:
                    return ToolResult("nothing")
                if answer.status_code == 403:
                    return ToolResult(answer.json()["problem"]["detail"], is_error=True)
                if answer.status_code != 200:
                    said = f"calendar unreachable: status {answer.status_code}"
                    return ToolResult(said, is_error=True)
                told = answer.json()
                lines += [f"{day}T{entry['at']} {entry['what']}" for entry in told["entries"]]
                page = told["next"]
        except (httpx.HTTPError, ValueError) as error:
            return ToolResult(f"calendar unreachable: {type(error).__name__}", is_error=True)
        return ToolResult("\n".join(lines) or "nothing")
        ### END SOLUTION

    return fetch_east


@TASK.right
def a_page_at_a_time_by_itself():
    async def fetch_east(http, arguments):
        try:
            entries = await entries_from(1, http, arguments)
        except PermissionError as refused:
            return ToolResult(str(refused), True)
        except (httpx.HTTPError, ValueError, KeyError):
            return ToolResult("calendar unreachable: it does not answer as it should", True)
        return ToolResult("\n".join(entries) if entries else "nothing")

    async def entries_from(page, http, arguments):
        url = httpx.URL(f"https://east.example/days/{arguments['date']}")
        params = {"key": KEY, "who": arguments["owner"], "page": str(page)}
        answer = await http.get(url, params=params)
        if answer.status_code == 404:
            return []
        if answer.status_code == 403:
            raise PermissionError(answer.json()["problem"]["detail"])
        answer.raise_for_status()
        told = answer.json()
        here = [f"{arguments['date']}T{e['at']} {e['what']}" for e in told["entries"]]
        more = told.get("next")
        return here + (await entries_from(more, http, arguments) if more else [])

    return fetch_east


# -- the check ------------------------------------------------------------------------------------


async def fetched(fetch_east, service=east, day="2026-08-03", owner="robin", when=""):
    """The learner's ToolResult, and the addresses that were asked for."""
    asked = []

    def answer(request):
        asked.append(request)
        require(len(asked) < 20, "an end", came="it has asked twenty times", when=when)
        address = str(request.url)
        require("//east.example/" in address, "a request to east.example", came=address, when=when)
        return service(request)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        with doing(when):
            came = await fetch_east(http, {"date": day, "owner": owner})
    good = isinstance(came, ToolResult) and isinstance(came.content, str)
    require(good, "a ToolResult with a text", came=came, when=when)
    return came


def north_says(day):
    """What fetch_calendar gave for that day."""
    found = Calendar().on(day, "robin")
    return ToolResult("\n".join(f"{a.start} {a.title}" for a in found) or "nothing")


def always(status, body):
    return lambda request: httpx.Response(status, text=body)


def fails(make_error):
    def service(request):
        raise make_error(str(request.url))

    return service


def on_the_second_page(service):
    return lambda request: (service if request.url.params.get("page") == "2" else east)(request)


BROKEN = {
    "east answers 502 with HTML": always(502, "<h1>Bad gateway</h1>"),
    "east answers 200 with HTML": always(200, "<h1>We are back soon</h1>"),
    "east answers 429": always(429, "slow down"),
    "east is late": fails(lambda url: httpx.ReadTimeout(f"no answer from {url}")),
    "east is not there": fails(lambda url: httpx.ConnectError(f"cannot reach {url}")),
    "east hangs up": fails(lambda url: httpx.RemoteProtocolError(f"{url} was cut off")),
}


@TASK.part(
    "a day reads as it did",
    idea="The result is the whole of what a host sees of the service. With the same text to the "
    "letter, nobody above has to know that there is another one.",
)
async def a_day(fetch_east):
    when = "robin's Tuesday is asked for"
    came = await fetched(fetch_east, day="2026-08-04", when=when)
    expect(came, north_says("2026-08-04"), when=when)


@TASK.part(
    "all pages",
    idea="A part of a list looks like a list. The model says that the afternoon is free, and "
    "nothing tells it that it has read the first page.",
)
async def all_pages(fetch_east):
    when = "robin's Monday is asked for, which has two pages"
    came = await fetched(fetch_east, when=when)
    titles = [entry["what"] for page in PAGES["2026-08-03"] for entry in page]
    found = sorted((t for t in titles if t in came.content), key=came.content.index)
    expect(found, titles, when=f"{when}: the titles in the result")
    when = "east hangs up on the second page"
    came = await fetched(fetch_east, on_the_second_page(BROKEN["east hangs up"]), when=when)
    require(came.is_error, "a tool error, and no half of a day", came=came, when=when)


@TASK.part(
    "an empty day is no error",
    idea="What a status means is this service's own idea. To the host an empty day is an answer, "
    "as it was; as an error, the model looks for what went wrong.",
)
async def an_empty_day(fetch_east):
    when = "a day is asked for that has nothing on it, and east says 404"
    came = await fetched(fetch_east, day="2026-08-05", when=when)
    expect(came, ToolResult("nothing"), when=when)


@TASK.part(
    "a refusal in the service's words",
    idea="The model reads why, and can say so to its user. The shape of the refusal, status and "
    "fields, ends here.",
)
async def a_refusal(fetch_east):
    when = "kim's Monday is asked for"
    came = await fetched(fetch_east, owner="kim", when=when)
    expect(came, ToolResult("this key may not read kim", is_error=True), when=when)


@TASK.part(
    "the network's troubles stay inside",
    idea="Out of a tool, an exception ends the run: here a gateway that is busy for a minute. On "
    "any page, and as a body that is no JSON, it is a tool error, which the model can tell its "
    "user.",
)
async def troubles(fetch_east):
    for when, service in BROKEN.items():
        came = await fetched(fetch_east, service, when=when)
        begins = came.content.startswith("calendar unreachable")
        wanted = "a tool error that begins with calendar unreachable"
        require(came.is_error is True and begins, wanted, came=came, when=when)


@TASK.part(
    "the key stays where it is",
    idea="A key in an address travels wherever addresses are written down: into the text of an "
    "exception, into the service's own complaint. A result goes to a model, into a session file, "
    "to whoever reads either.",
)
async def the_key(fetch_east):
    for when, service in {**BROKEN, "kim is asked for": east}.items():
        owner = "kim" if "kim" in when else "robin"
        try:
            came = await fetched(fetch_east, service, owner=owner, when=when)
        except (httpx.HTTPError, ValueError, KeyError):
            continue  # another part's matter
        require(KEY not in came.content, "a result without the key", came=came, when=when)


# -- what people write ----------------------------------------------------------------------------


def changed(status=lambda answer: None, after=lambda result: result):
    """The solution with an answer of its own for some statuses, or another result in the end."""

    async def fetch_east(http, arguments):
        class Early(Exception):
            pass

        class Http:
            async def get(self, url, **options):
                answer = await http.get(url, **options)
                early = status(answer)
                if early is not None:
                    raise Early(early)
                return answer

        try:
            return after(await page_by_page()(Http(), arguments))
        except Early as early:
            return early.args[0]

    return fetch_east


@TASK.wrong("to the letter")
def the_time_alone():
    def after(result):
        lines = [line.partition("T")[2] or line for line in result.content.splitlines()]
        return ToolResult("\n".join(lines)) if not result.is_error else result

    fetch_east = changed(after=after)
    return fetch_east


@TASK.wrong("the first page")
def page_one():
    def status(answer):
        if answer.status_code != 200 or "json" not in answer.headers["content-type"]:
            return None
        day = answer.request.url.path.removeprefix("/days/")
        lines = [f"{day}T{e['at']} {e['what']}" for e in answer.json()["entries"]]
        return ToolResult("\n".join(lines))

    async def fetch_east(http, arguments):
        return await changed(status)(http, arguments)

    return fetch_east


@TASK.wrong("as an error")
def not_found_is_an_error():
    no = ToolResult("not found", is_error=True)
    fetch_east = changed(lambda answer: no if answer.status_code == 404 else None)
    return fetch_east


@TASK.wrong("ends here")
def the_status_is_told():
    no = ToolResult("calendar unreachable: status 403", is_error=True)
    fetch_east = changed(lambda answer: no if answer.status_code == 403 else None)
    return fetch_east


@TASK.wrong("no JSON")
def only_the_network_can_fail():
    async def fetch_east(http, arguments):
        day, lines, page = arguments["date"], [], 1
        try:
            while page is not None:
                params = {"who": arguments["owner"], "page": page, "key": KEY}
                answer = await http.get(f"https://east.example/days/{day}", params=params)
                if answer.status_code == 404:
                    return ToolResult("nothing")
                told = answer.json()
                if "problem" in told:
                    return ToolResult(told["problem"]["detail"], is_error=True)
                lines += [f"{day}T{entry['at']} {entry['what']}" for entry in told["entries"]]
                page = told["next"]
        except httpx.HTTPError as error:
            return ToolResult(f"calendar unreachable: {type(error).__name__}", is_error=True)
        return ToolResult("\n".join(lines) or "nothing")

    return fetch_east


@TASK.wrong("ends the run")
def it_never_fails():
    async def fetch_east(http, arguments):
        result = await page_by_page()(http, arguments)
        if result.content.startswith("calendar unreachable"):
            raise httpx.ConnectError("east is not there")
        return result

    return fetch_east


@TASK.wrong("the text of an exception")
def the_text_of_the_exception():
    async def fetch_east(http, arguments):
        seen = []

        class Http:
            async def get(self, url, **options):
                try:
                    return await http.get(url, **options)
                except httpx.HTTPError as error:
                    seen.append(error)
                    raise

        result = await page_by_page()(Http(), arguments)
        return ToolResult(f"calendar unreachable: {seen[0]}", True) if seen else result

    return fetch_east

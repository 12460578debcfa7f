"""10.3: what a host does next, for reads and for writes."""

from exercises.machine import Task, doing, expect
from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    HttpStatusError,
    InputRequired,
    JsonRpcError,
    MalformedMessage,
    McpError,
    MissingClientCapability,
    RequestTimeout,
    TransportClosed,
)
from mini_agent.mcp import McpTool

TASK = Task(
    "10.3",
    "`next_step`, for reads and for writes",
    level="solid",
    minutes=20,
    section="What the host does with it",
    text="""
The notebook's `next_step` says "look first" even of a query, which may be sent again without a
thought. Write `next_step(error, tool, mine)`. `tool` is the McpTool as it was listed. `mine` is a
set of names: the tools of which you have seen yourself that they only read.

| return | when |
|---|---|
| `"ask the user"` | the server asks for input |
| `"look first"` | it may have been done, and to do it twice may hurt |
| `"wait"` | it may be sent again, and the server says after how many seconds |
| `"mend"` | nothing was done, and sent again it would be refused again |
| `"again"` | it may be sent again |

May you trust the tool's annotations? A server's word may make you more careful, never less.
""",
    hints=(
        "Two questions in this order: may it be sent again at all? And if so, what will be "
        "different then? An exception's class and attributes answer both.",
        "It may be sent again when the server cannot have acted, or when the tool only reads: by "
        "your own list, and unless its annotations deny it. A refusal is a refusal for reads too.",
        "InputRequired first. Then, where it may have acted and the tool is no read: look first. "
        "Then an HttpStatusError whose retry_after is not None: wait. Then ConnectFailed, or "
        "anything that may have acted: again. The rest: mend. A tool is a read when its name is in "
        "`mine` and `readOnlyHint` is not False.",
    ),
)


@TASK.solution
def two_questions():
    def next_step(error, tool, mine):
        ### BEGIN SOLUTION
        reads = tool.name in mine and tool.annotations.get("readOnlyHint") is not False
        match error:
            case InputRequired():
                return "ask the user"
            case McpError(may_have_acted=True) if not reads:
                return "look first"
            case HttpStatusError(retry_after=float() | int()):
                return "wait"
            case ConnectFailed() | McpError(may_have_acted=True):
                return "again"
        return "mend"
        ### END SOLUTION

    return next_step


@TASK.right
def with_early_returns():
    def next_step(error, tool, mine):
        if isinstance(error, InputRequired):
            return "ask the user"
        denied = tool.annotations.get("readOnlyHint", True) is False
        if error.may_have_acted and (denied or tool.name not in mine):
            return "look first"
        if getattr(error, "retry_after", None) is not None:
            return "wait"
        if error.may_have_acted or isinstance(error, ConnectFailed):
            return "again"
        return "mend"

    return next_step


# -- the check ------------------------------------------------------------------------------------

READ = McpTool("calendar_query")
WRITE = McpTool("calendar_create")
BROKE = TransportClosed("it broke")


def mine():
    return {"calendar_query", "rooms_free"}


def compare(next_step, wanted, tool, *errors):
    for error in errors:
        named = f"{type(error).__name__}({error.message!r})"
        claims = f", annotations {tool.annotations}" if tool.annotations else ""
        when = f"{named} for {tool.name}{claims}"
        with doing(when):
            came = next_step(error, tool, mine())
        expect(came, wanted, when=when)


@TASK.part(
    "the server asks",
    idea="InputRequired is no failure. It may have begun, so it says that it may have acted; to "
    "ask the user and go on from its state is what it waits for.",
)
def the_server_asks(next_step):
    asks = InputRequired("it asks for a room", state="opaque-1")
    compare(next_step, "ask the user", READ, asks)
    compare(next_step, "ask the user", WRITE, asks)


@TASK.part(
    "never reached",
    idea="ConnectFailed: nothing can have been done, so even a write may be sent again. Who looks "
    "first here looks for something that cannot be there.",
)
def never_reached(next_step):
    for tool in (READ, WRITE):
        compare(next_step, "again", tool, ConnectFailed("nobody listens"))


@TASK.part(
    "refused before acting",
    idea="The set-up does not fit: a version, a capability, credentials, an address. The same "
    "request gets the same answer, a query as well, until somebody has mended it.",
)
def refused_before_acting(next_step):
    refusals = (
        JsonRpcError(-32602, "wrong arguments"),
        MissingClientCapability(-32021, "sampling is missing"),
        AuthorizationError("no token", status=401),
        HttpStatusError("not here", status=404),
    )
    compare(next_step, "mend", READ, *refusals)
    compare(next_step, "mend", WRITE, *refusals)


@TASK.part(
    "the server says when",
    idea="retry_after is a number of seconds, and zero is one. It tells a polite client when to "
    "come back. Sooner is what the server has just complained of.",
)
def the_server_says_when(next_step):
    busy = [HttpStatusError("busy", status=429, retry_after=n) for n in (7.0, 0.0)]
    compare(next_step, "wait", READ, *busy, HttpStatusError("full", status=503, retry_after=2.0))
    compare(next_step, "wait", WRITE, *busy)


@TASK.part(
    "a write that may have been done",
    idea="Nobody knows, and to book twice hurts. Waiting does not help: after the seconds that the "
    "server names, the hour is booked or not, as before.",
)
def a_write(next_step):
    compare(next_step, "look first", WRITE, BROKE, RequestTimeout("late", seconds=30))
    compare(next_step, "look first", WRITE, MalformedMessage("no JSON"), JsonRpcError(-32603, "?"))
    compare(next_step, "look first", WRITE, HttpStatusError("bad gateway", status=502))
    compare(next_step, "look first", WRITE, HttpStatusError("f", status=503, retry_after=2.0))


@TASK.part(
    "a read that may have been done",
    idea="To read twice is to read. A host that gives up at every break of a query is of no use on "
    "a real network.",
)
def a_read(next_step):
    compare(next_step, "again", READ, BROKE, RequestTimeout("late", seconds=30))
    compare(next_step, "again", READ, JsonRpcError(-32603, "?"), MalformedMessage("no JSON"))
    compare(next_step, "again", READ, HttpStatusError("bad gateway", status=502))


@TASK.part(
    "a claim makes nothing safe",
    idea="Annotations are the server's own words, unproven. A tool that says readOnlyHint or "
    "idempotentHint and books is all it takes: what may be repeated is on your list, or it is not.",
)
def a_claim_makes_nothing_safe(next_step):
    for claim in ({"readOnlyHint": True}, {"idempotentHint": True}, {"destructiveHint": False}):
        compare(next_step, "look first", McpTool("calendar_move", annotations=claim), BROKE)


@TASK.part(
    "a claim may make you careful",
    idea="Where the server itself says that a tool writes, your list is out of date: it was "
    "another tool when you looked. Nobody claims that to be let in.",
)
def a_claim_may_make_you_careful(next_step):
    says_it_writes = McpTool("rooms_free", annotations={"readOnlyHint": False})
    compare(next_step, "look first", says_it_writes, BROKE, RequestTimeout("late", seconds=30))


# -- what people write ----------------------------------------------------------------------------


def step(
    reads=lambda tool, mine: (
        tool.name in mine and tool.annotations.get("readOnlyHint") is not False
    ),
    first=lambda error, reads: None,
):
    """The solution with another idea of a read, or with something asked before all else."""

    def next_step(error, tool, mine):
        is_read = reads(tool, mine)
        known = {tool.name} if is_read else set()
        plain = McpTool(tool.name)
        return first(error, is_read) or two_questions()(error, plain, known)

    return next_step


@TASK.wrong("no failure")
def a_question_may_have_acted():
    def first(error, reads):
        return "look first" if isinstance(error, InputRequired) else None

    next_step = step(first=first)
    return next_step


@TASK.wrong("cannot be there")
def a_write_is_never_sent_again():
    def first(error, reads):
        return "look first" if isinstance(error, ConnectFailed) and not reads else None

    next_step = step(first=first)
    return next_step


@TASK.wrong("a query as well")
def a_query_is_always_sent_again():
    def first(error, reads):
        refused = not error.may_have_acted and getattr(error, "retry_after", None) is None
        return "again" if reads and refused else None

    next_step = step(first=first)
    return next_step


@TASK.wrong("zero is one")
def zero_is_false():
    def first(error, reads):
        return "mend" if getattr(error, "retry_after", None) == 0 else None

    next_step = step(first=first)
    return next_step


@TASK.wrong("Waiting does not help")
def wait_and_book_again():
    def first(error, reads):
        return "wait" if getattr(error, "retry_after", None) is not None else None

    next_step = step(first=first)
    return next_step


@TASK.wrong("To read twice is to read")
def every_break_alike():
    def first(error, reads):
        broke = error.may_have_acted and getattr(error, "retry_after", None) is None
        return "look first" if broke and not isinstance(error, InputRequired) else None

    next_step = step(first=first)
    return next_step


@TASK.wrong("own words, unproven")
def the_annotation_believed():
    def reads(tool, mine):
        claim = tool.annotations.get("readOnlyHint")
        return claim is not False and (tool.name in mine or claim is True)

    next_step = step(reads)
    return next_step


@TASK.wrong("out of date")
def my_list_and_nothing_else():
    next_step = step(lambda tool, mine: tool.name in mine)
    return next_step

"""05.2: by class and attribute, what may be sent again, and when."""

from exercises.machine import Task, require
from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    HttpStatusError,
    JsonRpcError,
    MalformedMessage,
    RequestTimeout,
    TransportClosed,
)

TASK = Task(
    "05.2",
    "A 504 to a query, a 504 to a booking",
    level="solid",
    minutes=15,
    section="A stream that is cut",
    text="""
A call has failed, and `error` is what the client raised. Write `send_again(error, reads)`: in how
many seconds may the host send the same call again, all by itself? None: not at all, somebody must
look. `reads` is True for a tool that only reads. The host knows that of its tools.

- Twice must do no harm: the server cannot have acted, or the tool only reads.
- It must have a chance. A connection that failed or broke, a deadline, a 429, a 5xx may be better
  in a moment. Missing credentials, a wrong address, the server's own no, a message that is none
  will be the same.
- A server that says when to come again gets that long at least. Nobody waits more than 60 seconds:
  None, then. Where it says nothing, the seconds are your choice.

Decide by class and attribute, never by text.
""",
    hints=(
        "Two questions, one after the other: may it be sent twice? would it help? Each has an "
        "answer in the class or in an attribute of the error.",
        "`may_have_acted` answers the first for every class, and for a status as well: a 429 was "
        "refused first. For the second, name the classes that pass by themselves; for "
        "HttpStatusError look at `status` and `retry_after`.",
        "None if it may have acted and the tool does more than read. For HttpStatusError: None "
        "unless 429 or 500 and above; then `retry_after`, where that is None a second or so, and "
        "None if more than 60. ConnectFailed, TransportClosed, RequestTimeout: a second or so. "
        "All else None.",
    ),
)


@TASK.solution
def harm_first_then_chance():
    def send_again(error, reads):
        ### BEGIN SOLUTION
        if error.may_have_acted and not reads:
            return None
        if isinstance(error, HttpStatusError):
            if error.status != 429 and error.status < 500:
                return None
            seconds = 1.0 if error.retry_after is None else error.retry_after
            return seconds if seconds <= 60 else None
        passing = isinstance(error, ConnectFailed | TransportClosed | RequestTimeout)
        return 1.0 if passing else None
        ### END SOLUTION

    return send_again


@TASK.right
def class_by_class():
    def send_again(error, reads):
        match error:
            case ConnectFailed():
                return 5
            case TransportClosed() | RequestTimeout() if reads:
                return 0
            case HttpStatusError(status=429, retry_after=None):
                return 30
            case HttpStatusError(status=429, retry_after=seconds) if seconds <= 60:
                return seconds + 0.5 if seconds < 59 else seconds
            case HttpStatusError(status=status, retry_after=seconds) if reads and status >= 500:
                return seconds or 10 if (seconds or 0) <= 60 else None
        return None

    return send_again


# -- the check ------------------------------------------------------------------------------------


def told(error, reads):
    facts = [f"status {error.status}"] if hasattr(error, "status") else []
    if getattr(error, "retry_after", None) is not None:
        facts.append(f"retry_after {error.retry_after:g}")
    tool = "a tool that only reads" if reads else "a booking"
    return f"{' '.join([type(error).__name__, *facts])} came of {tool}"


def must_wait(send_again, error, *, reads, least=0.0):
    came = send_again(error, reads)
    fits = isinstance(came, int | float) and not isinstance(came, bool) and least <= came <= 60
    wanted = f"seconds, from {least:g} to 60"
    require(fits, wanted, came=came, when=told(error, reads))


def must_not(send_again, error, *, reads):
    came = send_again(error, reads)
    require(came is None, "None", came=came, when=told(error, reads))


def status(number, text="the gateway says so", retry_after=None):
    return HttpStatusError(text, status=number, retry_after=retry_after)


@TASK.part(
    "never reached: again, a booking too",
    idea="ConnectFailed says that nothing was sent, so nothing can happen twice. Who never tries "
    "again makes every restart of a server a failure of ours.",
)
def never_reached(send_again):
    for reads in (True, False):
        must_wait(send_again, ConnectFailed("cannot reach it"), reads=reads)


@TASK.part(
    "504: the query again, the booking not",
    idea="A gateway gave up waiting. What stands behind it may have booked meanwhile: two lunches "
    "come of one retry. A query changes nothing, so it may be asked twice.",
)
def gateway_timeout(send_again):
    for number in (500, 502, 504):
        must_wait(send_again, status(number), reads=True)
        must_not(send_again, status(number), reads=False)


@TASK.part(
    "a break and a deadline are no refusal",
    idea="Nobody said no: the answer was lost, or is late. That is the same perhaps as a 504, and "
    "no word of a gateway is needed for it.",
)
def a_break_and_a_deadline(send_again):
    for error in (TransportClosed("the stream was cut"), RequestTimeout("30 s", seconds=30)):
        must_wait(send_again, error, reads=True)
        must_not(send_again, error, reads=False)


@TASK.part(
    "429: refused first, so the booking too",
    idea="Too many requests means that this one was not looked at. Twice does no harm where the "
    "first time was nothing.",
)
def too_many(send_again):
    must_wait(send_again, status(429), reads=False)


@TASK.part(
    "what would be the same is not tried",
    idea="A retry is for what passes by itself. A no, a wrong address, missing credentials, a "
    "server that breaks the format: trying again costs time and hides the cause.",
)
def what_would_be_the_same(send_again):
    for error in (
        AuthorizationError("401", status=401),
        status(404),
        status(307),
        MalformedMessage("no message"),
        JsonRpcError(-32602, "no such day"),
    ):
        must_not(send_again, error, reads=True)


@TASK.part(
    "the server says when, and 60 seconds is the most",
    idea="Retry-After is the one voice that knows how long. Who comes earlier makes it worse, and "
    "who waits for whatever a server says can be made to wait for ever.",
)
def the_server_says_when(send_again):
    must_wait(send_again, status(429, retry_after=45.0), reads=True, least=45)
    must_wait(send_again, status(503, retry_after=60.0), reads=True, least=60)
    must_wait(send_again, status(503, retry_after=0.0), reads=True)
    must_not(send_again, status(429, retry_after=3600.0), reads=True)


@TASK.part(
    "the text decides nothing",
    idea="A text is for people: the peer writes it, and it changes with a release or a language. "
    "Whoever matches it can be told by a server what to do.",
)
def the_text_decides_nothing(send_again):
    must_not(send_again, JsonRpcError(-32000, "504 Gateway Timeout, please retry"), reads=True)
    must_not(send_again, TransportClosed("connection refused, retry in 5 s"), reads=False)
    must_wait(send_again, ConnectFailed("401 Unauthorized? 404 Not Found?"), reads=True)


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("nothing was sent")
def a_booking_never_again():
    def send_again(error, reads):
        known = isinstance(error, HttpStatusError) and error.status == 429
        return harm_first_then_chance()(error, reads) if reads or known else None

    return send_again


@TASK.wrong("two lunches")
def a_gateway_is_only_the_network():
    def send_again(error, reads):
        behind = isinstance(error, HttpStatusError) and error.status >= 500
        return harm_first_then_chance()(error, reads or behind)

    return send_again


@TASK.wrong("Nobody said no")
def it_was_only_the_network():
    def send_again(error, reads):
        lost = isinstance(error, TransportClosed | RequestTimeout)
        return harm_first_then_chance()(error, (reads or lost) and "refused" not in str(error))

    return send_again


@TASK.wrong("not looked at")
def every_status_may_have_acted():
    def send_again(error, reads):
        if isinstance(error, HttpStatusError) and not reads:
            return None
        return harm_first_then_chance()(error, reads)

    return send_again


@TASK.wrong("costs time")
def a_query_may_always_be_asked_again():
    def send_again(error, reads):
        unlike = isinstance(error, JsonRpcError) and error.code == -32000
        late = getattr(error, "retry_after", None) or 0
        if reads and not unlike and late <= 60:
            return late or 1.0
        return harm_first_then_chance()(error, reads)

    return send_again


@TASK.wrong("costs time")
def what_has_not_acted_may_be_sent_again():
    def send_again(error, reads):
        if not error.may_have_acted and getattr(error, "retry_after", None) is None:
            return 1.0
        return harm_first_then_chance()(error, reads)

    return send_again


@TASK.wrong("Who comes earlier")
def a_second_is_enough():
    def send_again(error, reads):
        return 1.0 if harm_first_then_chance()(error, reads) is not None else None

    return send_again


@TASK.wrong("made to wait for ever")
def as_long_as_it_says():
    def send_again(error, reads):
        if isinstance(error, HttpStatusError) and error.retry_after and reads:
            return error.retry_after
        return harm_first_then_chance()(error, reads)

    return send_again


@TASK.wrong("A text is for people")
def gateway_timeout_in_the_text():
    def send_again(error, reads):
        if reads and "Gateway Timeout" in str(error):
            return 1.0
        return harm_first_then_chance()(error, reads)

    return send_again

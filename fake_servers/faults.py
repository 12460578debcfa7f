"""Every way of being bad, one function each: a calendar that is good until ``tools/call``.

    faults.command("garbage")                 # the command of a child process, for stdio
    faults.transport("garbage")               # the same in this process
    async with faults.http("garbage") as bad: # the same over HTTP, at bad.url

A fault is given the call and answers it with what ``call`` offers (see fault_call.py). What it
does not say is not said: a function that returns at once is a server that never answers. Nothing
here sleeps: what comes late waits for ``call.later``, which the next message sets.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from fake_servers import faults_http
from fake_servers.fault_call import ANY, Call, Fault, fault
from fake_servers.wire import Message, encode

if TYPE_CHECKING:
    from fake_servers.fault_server import FaultServer
    from fake_servers.memory import FaultyTransport

# -- at the start ---------------------------------------------------------------------------------


@fault(*ANY, at="start")
async def refused(call: Call) -> None:
    """Nothing is there: no such command, no server at that port."""


@fault(*ANY, at="start")
async def dies_at_start(call: Call) -> None:
    """The process ends before it has read anything; stderr says why."""
    call.stderr(b"calendar: CALENDAR_KEY is not set\n")
    call.exit(1)


@fault(*ANY, at="every request")
async def old_version(call: Call) -> None:
    """The server speaks an older version of the protocol, and says which."""
    data = {"supported": ["2025-11-25"], "requested": "2026-07-28"}
    await call.error(-32022, "Unsupported protocol version", data)


# -- the process ----------------------------------------------------------------------------------


@fault(*ANY)
async def dies_mid_call(call: Call) -> None:
    """The process ends during the call: it may have acted, and nobody will know."""
    await call.right_answer()
    call.stderr(b"calendar: out of memory\n")
    call.exit(3)


@fault(*ANY)
async def exits_between_calls(call: Call) -> None:
    """The call is answered well; then the process ends, and the next call finds nobody."""
    await call.say(await call.right_answer())
    call.exit(0)


@fault("stdio")
async def stderr_flood(call: Call) -> None:
    """1 MiB on stderr, without a line end, before the answer: a client that does not read waits."""
    call.stderr(b"50%\r" * 2**18)
    await call.say(await call.right_answer())


# -- the bytes ------------------------------------------------------------------------------------


@fault(*ANY)
async def garbage(call: Call) -> None:
    """The answer is not JSON."""
    await call.line(b"Segmentation fault (core dumped)")


@fault("memory", "stdio")
async def half_line(call: Call) -> None:
    """Half of the answer arrives, then the process ends."""
    raw = encode(await call.right_answer())
    await call.write(raw[: len(raw) // 2])
    call.exit(1)


@fault("stdio", "http")
async def huge_line(call: Call) -> None:
    """The answer is a line without an end: 128 MiB of it, or until the client hangs up."""
    for _ in range(128):
        await call.write(b"x" * 2**20)


@fault(*ANY)
async def not_utf8(call: Call) -> None:
    """The answer is JSON in Latin-1, so its bytes are not UTF-8."""
    text = await call.right_answer()
    text["result"]["content"] = [{"type": "text", "text": "café"}]
    await call.line(encode(text).decode().encode("latin-1"))


# -- the messages ---------------------------------------------------------------------------------


@fault(*ANY)
async def not_jsonrpc(call: Call) -> None:
    """The answer is JSON, and no JSON-RPC message."""
    await call.line(b'{"status":"ok","appointments":[]}')


@fault(*ANY)
async def wrong_id(call: Call) -> None:
    """The answer carries the id of a request that nobody made."""
    await call.say({**await call.right_answer(), "id": 999_999})


@fault(*ANY)
async def duplicate(call: Call) -> None:
    """The same answer comes twice."""
    answer = await call.right_answer()
    await call.say(answer)
    await call.say(answer)


@fault(*ANY)
async def silence(call: Call) -> None:
    """No answer comes, ever. The server lives, and answers everything else."""


@fault(*ANY)
async def late_answer(call: Call) -> None:
    """The answer comes after the next message, when the client has long given up."""
    await call.later.wait()
    await call.say(await call.right_answer())


# -- what they say --------------------------------------------------------------------------------


@fault(*ANY)
async def missing_capability(call: Call) -> None:
    """The tool needs a model on the client's side, which the client never offered."""
    needed: Message = {"requiredCapabilities": {"sampling": {}}}
    await call.error(-32021, "Missing required client capability: sampling", needed)


@fault(*ANY)
async def unknown_result_type(call: Call) -> None:
    """The result is of a type that the revision does not know."""
    await call.result(resultType="task", taskId="task-1")


@fault(*ANY)
async def input_required(call: Call) -> None:
    """The tool asks the user something, though the client never said that it could."""
    if "inputResponses" in call.message["params"]:
        await call.say(await call.right_answer())
        return
    form = {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}
    question = {"mode": "form", "message": "Which room?", "requestedSchema": form}
    await call.result(
        resultType="input_required",
        inputRequests={"room": {"method": "elicitation/create", "params": question}},
        requestState="opaque-1",
    )


@fault(*ANY)
async def unknown_tool(call: Call) -> None:
    """The tool is gone since it was listed: -32602, and a fresh list does not have it."""
    name = call.message["params"]["name"]
    call.calendar.tools = [tool for tool in call.calendar.tools or () if tool.name != name]
    await call.say(await call.right_answer())


@fault(*ANY)
async def is_error(call: Call) -> None:
    """The tool ran and failed, and says so: no fault of the protocol at all."""
    said = {"type": "text", "text": "Calendar query failed: the calendar is locked for a backup."}
    await call.result(resultType="complete", content=[said], isError=True)


# -- the table, and three ways to start -----------------------------------------------------------

FAULTS: dict[str, Fault] = {
    bad.name: bad
    for bad in (
        refused, dies_at_start, old_version,
        dies_mid_call, exits_between_calls, stderr_flood,
        garbage, half_line, huge_line, not_utf8,
        not_jsonrpc, wrong_id, duplicate, silence, late_answer,
        missing_capability, unknown_result_type, input_required, unknown_tool, is_error,
        *faults_http.ALL,
    )
}  # fmt: skip


def table() -> str:
    """One line a fault: its name, the carriers that have it, what goes wrong."""
    rows = ((bad.name, " ".join(bad.carriers), bad.what) for bad in FAULTS.values())
    return "\n".join(f"{name:<20} {carriers:<18} {what}" for name, carriers, what in rows)


def command(name: str) -> list[str]:
    """The command of a child process that has the fault ``name``.

    Raises: KeyError for an unknown name, ValueError where stdio does not have the fault.
    """
    FAULTS[name].must_have("stdio")
    if name == "refused":
        return ["no-such-calendar-server"]
    return [sys.executable, "-m", "fake_servers.faults", name]


def transport(name: str) -> FaultyTransport:
    """An McpTransport to a server in this process that has the fault ``name``; as command()."""
    from fake_servers.memory import FaultyTransport

    return FaultyTransport(FAULTS[name].must_have("memory"))


def http(name: str) -> FaultServer:
    """A server on 127.0.0.1 that has the fault ``name``: ``async with``, then ``.url``."""
    from fake_servers.fault_server import FaultServer

    return FaultServer(FAULTS[name].must_have("http"))


if __name__ == "__main__":
    from fake_servers.fault_peer import main

    if len(sys.argv) != 2 or sys.argv[1] not in FAULTS:
        sys.exit(f"usage: python -m fake_servers.faults NAME\n\n{table()}")
    main(FAULTS[sys.argv[1]].must_have("stdio"))

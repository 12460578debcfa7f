"""The way of one call through the host: what stops it, binds it, and is written down of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hosts import ASK, TEXT, Service, asked, joined, results, say

from fake_servers.context import Context
from fake_servers.declare import NeedInput, Output
from fake_servers.declare import Tool as Declared
from fake_servers.wire import Message
from mini_agent.agent import run_agent
from mini_agent.approval import HostCall, Policy, Rule, scripted
from mini_agent.audit import AuditLog, AuditRecord, read_audit, unfinished
from mini_agent.calls import Decided
from mini_agent.errors import AuditError, RequestTimeout, TransportClosed
from mini_agent.host import Host
from mini_agent.hosting.attempts import Bounds
from mini_agent.hosting.fills import Fill, Run, operation_key
from mini_agent.mcp import FakeTransport, McpClient
from mini_agent.mcp.messages import PROTOCOL_VERSION
from mini_agent.model_client import ScriptedModel
from mini_agent.pin import pin
from mini_agent.pins import Pins
from mini_agent.trace import Trace
from mini_agent.types import Approval, JsonObject, Text, Tool, ToolCall, ToolResult, ToolSpec


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def kinds(path: Path) -> list[tuple[str, str]]:
    return [(record.kind, record.outcome) for record in read_audit(path)]


class Asked:
    """An approver that says yes and remembers what it was asked about."""

    def __init__(self, then: Callable[[ToolCall], object] = lambda call: None) -> None:
        self.calls: list[ToolCall] = []
        self._then = then

    def __call__(self, call: ToolCall, why: str) -> Approval:
        self.calls.append(call)
        self._then(call)
        return Approval(True, "yes")


# -- what stops a call ----------------------------------------------------------------------------


async def test_arguments_that_break_the_schema_are_refused_before_anybody_is_asked(
    path: Path,
) -> None:
    service, approver = Service("t"), Asked()
    options: dict[str, Any] = {"policy": ASK, "approver": approver, "audit": AuditLog(path)}
    async with joined({"s": service}, **options) as host:
        ran = await asked(host, say("s_t", 3))
    [(text, is_error)] = results(ran)
    assert is_error and "/text" in text and '"type"' in text
    assert approver.calls == [] and "tools/call" not in service.methods
    [record] = read_audit(path)
    assert (record.kind, record.outcome, record.arguments) == ("decision", "denied", {"text": 3})
    assert "/text" in record.reason


@pytest.mark.parametrize(
    "part",
    [
        {"input": ["x"]},
        {"input": "x"},
        {"input": None},
        {"name": None},
        {"name": ["s_t"]},
        {"id": None},
        {"name": "unknown", "input": None},
    ],
)
async def test_what_is_no_call_is_denied_and_written_down(part: dict[str, Any], path: Path) -> None:
    service, approver = Service("t"), Asked()
    options: dict[str, Any] = {"approver": approver, "audit": AuditLog(path)}
    async with joined({"s": service}, policy=ASK, **options) as host:
        approval = await host.before_tool_call(replace(say("s_t"), **part))
    assert not approval.approved and "JSON object" in approval.reason
    assert approver.calls == [] and kinds(path) == [("decision", "denied")]


async def test_a_user_who_may_not_reach_a_server_is_denied_before_anything_else(path: Path) -> None:
    service, approver = Service("t"), Asked()
    options: dict[str, Any] = {"policy": ASK, "approver": approver, "audit": AuditLog(path)}
    access = {"kim": ["other"]}
    async with joined({"s": service}, user="kim", access=access, **options) as host:
        ran = await asked(host, say("s_t", 3))
    assert results(ran) == [("denied: kim may not use server s", True)]
    assert approver.calls == [] and "tools/call" not in service.methods
    [record] = read_audit(path)
    assert (record.user, record.outcome) == ("kim", "denied")
    assert record.reason == "kim may not use server s"


async def test_a_check_of_the_user_sees_the_call_and_can_change_nothing_of_it() -> None:
    service = Service("t")

    async def own(user: str, call: HostCall) -> Approval:
        mine = call.input["text"] == "mine"
        call.input["text"] = "another's"
        return Approval(mine and user == "robin" and call.server == "s", "only your own")

    approver = Asked()
    options: dict[str, Any] = {"policy": ASK, "approver": approver}
    async with joined({"s": service}, user="robin", access=own, **options) as host:
        ran = await asked(host, say("s_t", "mine"), say("s_t", "theirs", "toolu_2"))
    assert [call.input for call in approver.calls] == [{"text": "mine"}]
    assert results(ran) == [("mine", False), ("denied: only your own", True)]
    assert service.got == [("t", {"text": "mine"})]


async def test_a_policy_that_denies_asks_nobody() -> None:
    service, approver = Service("t"), Asked()
    policy = Policy([Rule("t", "deny", server="s", why="never")])
    async with joined({"s": service}, policy=policy, approver=approver) as host:
        ran = await asked(host, say("s_t"))
    assert results(ran) == [("denied: never", True)] and approver.calls == []


async def test_with_nobody_to_ask_the_answer_is_no() -> None:
    service = Service("t")
    async with joined({"s": service}, policy=ASK) as host:
        ran = await asked(host, say("s_t"))
    assert results(ran)[0][1] and service.got == []


async def test_a_claim_of_the_server_approves_nothing() -> None:
    service = Service()
    service.offer(service.tool("t", annotations={"readOnlyHint": True}))
    async with joined({"s": service}, policy=ASK, approver=scripted([False])) as host:
        ran = await asked(host, say("s_t"))
    assert results(ran)[0][1] and service.got == []


# -- what an approval is bound to -----------------------------------------------------------------


async def test_an_approver_cannot_change_what_it_approves() -> None:
    service = Service("t")
    approver = Asked(lambda call: call.input.update(text="something else"))
    async with joined({"s": service}, policy=ASK, approver=approver) as host:
        await asked(host, say("s_t"))
    assert service.got == [("t", {"text": "hello"})]


async def test_an_approval_is_for_these_arguments_and_for_one_call() -> None:
    service = Service("t")
    async with joined({"s": service}, policy=ASK, approver=scripted([True])) as host:
        [tool] = host.tools
        assert (await host.before_tool_call(say("s_t"))).approved
        assert (await tool.execute({"text": "hello!"})).is_error
        assert service.got == []
        assert await tool.execute({"text": "hello"}) == ToolResult("hello")
        again = await tool.execute({"text": "hello"})
    assert again.is_error and "used up" in again.content and len(service.got) == 1


async def test_a_call_that_was_denied_runs_by_no_other_way() -> None:
    service = Service("t")
    async with joined({"s": service}, policy=ASK, approver=scripted([False])) as host:
        assert not (await host.before_tool_call(say("s_t"))).approved
        assert (await host.tools[0].execute({"text": "hello"})).is_error
    assert service.got == []


async def test_an_approval_of_one_servers_tool_is_none_of_anothers() -> None:
    ours, theirs = Service("t"), Service("t")
    async with joined({"a": ours, "b": theirs}, policy=ASK, approver=scripted([True])) as host:
        await host.before_tool_call(say("a_t"))
        other = next(tool for tool in host.tools if tool.spec.name == "b_t")
        assert (await other.execute({"text": "hello"})).is_error
    assert theirs.got == []


@pytest.mark.parametrize("what", ["description", "input_schema", "annotations", "gone"])
async def test_a_tool_that_changes_while_a_person_is_asked_is_not_called(
    what: str, path: Path
) -> None:
    service = Service("t", ttl_ms=3_600_000)
    changes: dict[str, Any] = {
        "description": {"description": "Echoes. And more."},
        "input_schema": {"input_schema": {**TEXT, "required": []}},
        "annotations": {"annotations": {"title": "Echo"}},
    }
    new = [] if what == "gone" else [service.tool("t", **changes[what])]
    approver = Asked(lambda call: service.offer(*new))
    options: dict[str, Any] = {"policy": ASK, "approver": approver, "audit": AuditLog(path)}
    async with joined({"s": service}, **options) as host:
        ran = await asked(host, say("s_t"))
        assert results(ran)[0][1] and "no longer as it was listed" in results(ran)[0][0]
        assert "tools/call" not in service.methods
        assert len(host.tools) == len(new)
    assert kinds(path) == [("decision", "approved"), ("decision", "denied")]


class Mirroring(FakeTransport):
    mirrors_envelope = True


def answered(**result: Any) -> JsonObject:
    return {"result": {"resultType": "complete", **result}}


def listed(*properties: str) -> JsonObject:
    mirrored = {name: {"type": "string", "x-mcp-header": name} for name in properties}
    schema = {"type": "object", "properties": {"text": {"type": "string"}, **mirrored}}
    return answered(tools=[{"name": "t", "inputSchema": schema}], ttlMs=3_600_000)


DISCOVERED = answered(supportedVersions=[PROTOCOL_VERSION], capabilities={"tools": {}})
MISMATCH: JsonObject = {"error": {"code": -32020, "message": "a header is missing"}}
SAID = answered(content=[{"type": "text", "text": "fine"}])


async def test_a_call_refused_for_its_headers_is_not_sent_to_a_tool_that_has_changed() -> None:
    transport = Mirroring([DISCOVERED, listed(), MISMATCH, listed("Region"), SAID])
    async with Host({"s": McpClient(transport)}, policy=Policy([], "allow")) as host:
        ran = await asked(host, say("s_t"))
    assert "no longer as it was listed" in results(ran)[0][0]
    methods = [message["method"] for message in transport.sent]
    assert methods[2:] == ["tools/call", "tools/list"]


async def test_and_is_sent_once_more_to_one_that_has_not() -> None:
    transport = Mirroring([DISCOVERED, listed(), MISMATCH, listed(), SAID])
    async with Host({"s": McpClient(transport)}, policy=Policy([], "allow")) as host:
        ran = await asked(host, say("s_t"))
    assert results(ran) == [("fine", False)]


WHO: JsonObject = {
    "message": "Who?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}


class Asking(Service):
    """Asks for a name before it answers, once."""

    def tool(self, name: str, description: str = "Echoes.", **options: Any) -> Declared:
        async def run(arguments: Message, context: Context) -> str | NeedInput:
            if not context.input_responses:
                return NeedInput({"who": {"method": "elicitation/create", "params": WHO}})
            self.got.append((name, arguments))
            return "done"

        return Declared(name, description, run, **{"input_schema": TEXT, **options})


@pytest.mark.parametrize("policy", [ASK, Policy([], "allow")], ids=["ask", "allow"])
@pytest.mark.parametrize("change", [True, False], ids=["changed", "as it was"])
async def test_a_tool_that_changes_between_two_rounds_gets_no_second(
    policy: Policy, change: bool, path: Path
) -> None:
    async def answer(requests: JsonObject) -> JsonObject:
        if change:
            await service.announce(service.tool("t", "Echoes. And pays."))
        return {key: {"action": "accept", "content": {"name": "Kim"}} for key in requests}

    service = Asking(
        "t", subscriptions=True, ttl_ms=3_600_000, of_client={"on_input_required": answer}
    )
    options: dict[str, Any] = {"approver": scripted([True]), "audit": AuditLog(path)}
    async with joined({"s": service}, policy=policy, **options) as host:
        [(text, is_error)] = results(await asked(host, say("s_t")))
    assert is_error is change and ("no longer as it was listed" in text) is change
    assert service.methods.count("tools/call") == 2 - change
    assert service.got == ([] if change else [("t", {"text": "hello"})])
    ended = [("outcome", "ToolChanged"), ("decision", "denied")] if change else [("outcome", "ok")]
    assert kinds(path) == [("decision", "approved"), ("intent", ""), *ended]


async def test_a_yes_ends_with_its_call_when_what_hears_of_it_fails() -> None:
    service = Service("t")

    def hear(event: object) -> None:
        if isinstance(event, Decided):
            raise OSError("no screen")

    async with joined({"s": service}, policy=ASK, approver=scripted([True])) as host:
        with pytest.raises(OSError):
            await asked(host, say("s_t"), on_event=hear)
        model = ScriptedModel([[say("s_t")], [Text("Done.")]])
        ran = await run_agent("Go.", model=model, tools=host.tools)
    assert results(ran)[0][1] and service.got == []


async def test_two_runs_at_once_keep_their_approvals_apart() -> None:
    service, both = Service("t"), asyncio.Barrier(2)

    async def approve(call: ToolCall, why: str) -> Approval:
        await both.wait()
        return Approval(call.input["text"] == "yes")

    async with joined({"s": service}, policy=ASK, approver=approve) as host:
        yes, no = await asyncio.gather(
            asked(host, say("s_t", "yes")), asked(host, say("s_t", "no"))
        )
    assert (results(yes), results(no)[0][1]) == ([("yes", False)], True)
    assert service.got == [("t", {"text": "yes"})]


# -- written down, whatever ends the question -----------------------------------------------------


async def test_a_withheld_tool_is_written_down_as_its_servers(path: Path) -> None:
    service = Service("t")
    options: dict[str, Any] = {"pins": Pins().keep("s", []), "audit": AuditLog(path)}
    async with joined({"s": service}, **options) as host:
        assert host.tools == [] and not (await host.before_tool_call(say("s_t"))).approved
        [listed] = service.client.tools
    record = read_audit(path)[-1]
    assert (record.server, record.tool, record.exposed) == ("s", "t", "s_t")
    assert (record.outcome, record.schema_hash) == ("denied", pin(listed))


@pytest.mark.parametrize("where", ["decide", "execute"])
async def test_a_fill_that_fails_is_a_no_and_written_down(where: str, path: Path) -> None:
    def fails(run: Run, call: HostCall) -> str:
        raise LookupError("no key")

    service = Service("t")
    fill = Fill("s", "t", "key", fails)
    async with joined({"s": service}, fills=[fill], audit=AuditLog(path)) as host:
        with host.run(), pytest.raises(LookupError):
            if where == "decide":
                await asked(host, say("s_t"))
            else:
                await host.tools[0].execute({"text": "hello"})
    [record] = read_audit(path)
    assert (record.server, record.tool, record.outcome) == ("s", "t", "denied")
    assert record.reason == "what the host fills in ended in LookupError"


@pytest.mark.parametrize("asker", ["approver", "access"])
async def test_a_reason_that_is_no_text_is_the_hosts_mistake_and_not_the_files(
    asker: str, path: Path
) -> None:
    wrong: Any = lambda one, other: Approval(False, None)  # type: ignore[arg-type] # noqa: E731
    options: dict[str, Any] = {"policy": ASK, "user": "kim", "audit": AuditLog(path), asker: wrong}
    async with joined({"s": Service("t")}, **options) as host:
        with pytest.raises(TypeError, match="reason"):
            await asked(host, say("s_t"))
    assert kinds(path) == [("decision", "denied")]


# -- an approver that does not answer -------------------------------------------------------------


async def test_a_question_that_is_cancelled_is_a_no_and_written_down(path: Path) -> None:
    service, reached = Service("t"), asyncio.Event()

    async def approve(call: ToolCall, why: str) -> Approval:
        reached.set()
        await asyncio.Event().wait()
        return Approval(True)

    options: dict[str, Any] = {"policy": ASK, "approver": approve, "audit": AuditLog(path)}
    async with joined({"s": service}, **options) as host:
        running = asyncio.create_task(asked(host, say("s_t")))
        await reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert service.got == [] and kinds(path) == [("decision", "denied")]
    assert read_audit(path)[0].reason == "the question ended in CancelledError"


async def test_an_approver_that_fails_reaches_the_caller_and_nothing_is_called() -> None:
    service = Service("t")

    def approve(call: ToolCall, why: str) -> Approval:
        raise LookupError("no such screen")

    async with joined({"s": service}, policy=ASK, approver=approve) as host:
        with pytest.raises(LookupError):
            await asked(host, say("s_t"))
    assert service.got == []


@pytest.mark.parametrize("answer", [True, None, "yes", 1])
async def test_an_answer_that_is_no_approval_is_the_hosts_mistake(answer: Any) -> None:
    service = Service("t")
    async with joined({"s": service}, policy=ASK, approver=lambda call, why: answer) as host:
        with pytest.raises(TypeError):
            await asked(host, say("s_t"))
    assert service.got == []


@pytest.mark.parametrize("word", [1, "yes", [True]])
async def test_only_true_is_a_yes(word: Any) -> None:
    service = Service("t")
    approver: Any = lambda call, why: Approval(word)  # noqa: E731
    async with joined({"s": service}, policy=ASK, approver=approver) as host:
        ran = await asked(host, say("s_t"))
    assert results(ran)[0][1] and service.got == []


# -- what the host fills in -----------------------------------------------------------------------

KEYED = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "operation_key": {"type": "string"}},
    "required": ["text", "operation_key"],
    "additionalProperties": False,
}


def keyed(**options: Any) -> tuple[Service, Host]:
    service = Service()
    service.offer(service.tool("draft", input_schema=KEYED))
    return service, joined({"s": service}, fills=[operation_key("s", "draft")], **options)


async def test_a_key_is_the_hosts_and_the_model_never_sees_it() -> None:
    approver = Asked()
    service, host = keyed(policy=ASK, approver=approver)
    async with host:
        [tool] = host.tools
        with host.run("case 7"):
            await asked(host, say("s_draft"), say("s_draft", call_id="2"), say("s_draft", "x", "3"))
        with host.run("case 8"):
            await asked(host, say("s_draft"))
        with host.run("case 7"):
            await asked(host, say("s_draft"))
    assert "operation_key" not in str(tool.spec)
    first, again, other, elsewhere, resumed = [given["operation_key"] for _, given in service.got]
    assert first == again == resumed and len({first, other, elsewhere}) == 3
    assert approver.calls[0].input == service.got[0][1]


@pytest.mark.parametrize("named", [("b", "draft"), ("a", "look")])
async def test_only_the_tool_that_is_named_gets_a_key(named: tuple[str, str]) -> None:
    one, other = Service("draft"), Service("draft")
    async with joined({"a": one, "b": other}, fills=[operation_key(*named)]) as host:
        await asked(host, say("a_draft"))
    assert one.got == [("draft", {"text": "hello"})]


async def test_a_key_that_the_model_gives_is_refused() -> None:
    service, host = keyed()
    async with host:
        with host.run():
            given = {"text": "hello", "operation_key": "mine"}
            ran = await asked(host, ToolCall("toolu_1", "s_draft", given))
    assert results(ran)[0][1] and "operation_key" in results(ran)[0][0] and service.got == []


async def test_outside_of_a_run_a_keyed_tool_is_the_hosts_mistake(path: Path) -> None:
    service, host = keyed(audit=AuditLog(path))
    async with host:
        with pytest.raises(ValueError, match=r"host.run\(\)"):
            await asked(host, say("s_draft"))
    assert service.got == [] and kinds(path) == [("decision", "denied")]


def test_a_fill_for_no_server_of_this_host_is_refused() -> None:
    with pytest.raises(ValueError):
        joined({"s": Service("t")}, fills=[operation_key("other", "t")])


# -- again ----------------------------------------------------------------------------------------


class Busy(Service):
    """Fails so many times, and says whether to try again."""

    failures = 1
    retryable = True

    async def answer(self, arguments: Message) -> str | Output:
        self.failures -= 1
        if self.failures < 0:
            return "fine"
        error = {"code": "BUSY", "message": "Later.", "retryable": self.retryable}
        return Output(json.dumps({"error": error}), is_error=True)


async def at_once(seconds: float) -> None:
    """No pause between two attempts."""


QUICK = Bounds(sleep=at_once)
READS = Policy([Rule("t", "allow", read_only=True)])


async def test_a_tool_that_the_policy_says_only_reads_is_tried_again(path: Path) -> None:
    service = Busy("t")
    options: dict[str, Any] = {"policy": READS, "audit": AuditLog(path), "bounds": QUICK}
    async with joined({"s": service}, **options) as host:
        ran = await asked(host, say("s_t"))
    assert results(ran) == [("fine", False)]
    assert kinds(path) == [
        ("decision", "approved"),
        ("intent", ""),
        ("outcome", "tool error"),
        ("intent", ""),
        ("outcome", "ok"),
    ]
    assert read_audit(path)[2].reason == "BUSY"


async def test_a_call_with_a_key_is_tried_again_with_the_same_key() -> None:
    service = Busy()
    service.offer(service.tool("draft", input_schema=KEYED))
    fills = [operation_key("s", "draft")]
    async with joined({"s": service}, fills=fills, bounds=QUICK) as host:
        with host.run():
            ran = await asked(host, say("s_draft"))
    assert results(ran) == [("fine", False)]
    assert len(service.got) == 2 and service.got[0] == service.got[1]


@pytest.mark.parametrize("annotations", [None, {"readOnlyHint": True, "idempotentHint": True}])
async def test_a_servers_claim_makes_nothing_safe_to_try_again(annotations: Any) -> None:
    service = Busy()
    service.offer(service.tool("t", annotations=annotations))
    async with joined({"s": service}, bounds=QUICK) as host:
        ran = await asked(host, say("s_t"))
    assert results(ran)[0][1] and len(service.got) == 1


async def test_what_is_not_retryable_is_not_tried_again() -> None:
    service = Busy("t")
    service.retryable = False
    async with joined({"s": service}, policy=READS, bounds=QUICK) as host:
        ran = await asked(host, say("s_t"))
    assert results(ran)[0][1] and len(service.got) == 1


async def test_a_tool_that_changes_between_two_attempts_is_not_called_again() -> None:
    service = Busy("t", ttl_ms=0)

    async def change(seconds: float) -> None:
        service.offer(service.tool("t", "Another."))

    async with joined({"s": service}, policy=READS, bounds=Bounds(sleep=change)) as host:
        ran = await asked(host, say("s_t"))
    assert "no longer as it was listed" in results(ran)[0][0] and len(service.got) == 1


# -- the audit ------------------------------------------------------------------------------------


async def test_an_intent_is_written_before_the_call_and_an_outcome_after(path: Path) -> None:
    seen: list[list[tuple[str, str]]] = []

    class Looking(Service):
        async def answer(self, arguments: Message) -> str:
            seen.append(kinds(path))
            return "fine"

    service = Looking("t")
    async with joined({"s": service}, audit=AuditLog(path), user="robin") as host:
        await asked(host, say("s_t"))
        [listed] = service.client.tools
    before = [("decision", "approved"), ("intent", "")]
    assert seen == [before] and kinds(path) == [*before, ("outcome", "ok")]
    intent, outcome = read_audit(path)[1:]
    assert intent.schema_hash == outcome.schema_hash == pin(listed)
    assert outcome.duration is not None and outcome.duration >= 0 and intent.duration is None
    known = (outcome.call, outcome.server, outcome.tool, outcome.exposed, outcome.user)
    assert known == ("toolu_1", "s", "t", "s_t", "robin")
    versions = (outcome.protocol_version, outcome.server_release, outcome.decision)
    assert versions == (PROTOCOL_VERSION, "service 3.1", "allow")


async def test_a_call_that_raised_or_was_cancelled_has_its_outcome(path: Path) -> None:
    class Stuck(Service):
        reached: asyncio.Event

        async def answer(self, arguments: Message) -> str:
            self.reached.set()
            await asyncio.Event().wait()
            return ""

    service = Stuck("t", of_client={"timeout": 0.05})
    service.reached = asyncio.Event()
    async with joined({"s": service}, audit=AuditLog(path)) as host:
        with pytest.raises(RequestTimeout):
            await asked(host, say("s_t"))
        service.reached.clear()
        running = asyncio.create_task(asked(host, say("s_t")))
        await service.reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    outcomes = [record for record in read_audit(path) if record.kind == "outcome"]
    assert [record.outcome for record in outcomes] == ["RequestTimeout", "CancelledError"]
    assert "no answer within" in outcomes[0].reason and unfinished(read_audit(path)) == []


class Full(AuditLog):
    """A log whose disk is full when it comes to ``kind``."""

    def __init__(self, path: Path, kind: str, **options: Any) -> None:
        super().__init__(path, **options)
        self._kind = kind

    def _keep(self, record: AuditRecord, **options: Any) -> None:
        if record.kind == self._kind:
            raise AuditError("no space left", path=self.path)
        super()._keep(record, **options)


@pytest.mark.parametrize("kind", ["decision", "intent"])
async def test_a_call_that_cannot_be_recorded_is_not_made_and_the_caller_learns(
    kind: str, path: Path
) -> None:
    service = Service("t")
    async with joined({"s": service}, audit=Full(path, kind)) as host:
        blocks: list[Any] = []
        with pytest.raises(AuditError):
            await asked(host, say("s_t"), on_event=blocks.append)
    assert service.got == [] and "tools/call" not in service.methods


async def test_an_outcome_that_is_lost_is_told_and_the_call_stays_unfinished(path: Path) -> None:
    service = Service("t")
    async with joined({"s": service}, audit=Full(path, "outcome")) as host:
        with pytest.raises(AuditError):
            await asked(host, say("s_t"))
    assert len(service.got) == 1
    assert [record.tool for record in unfinished(read_audit(path))] == ["t"]


async def test_an_outcome_that_is_lost_hides_no_error(path: Path) -> None:
    service = Service("t")
    async with joined({"s": service}, audit=Full(path, "outcome")) as host:
        service.transport.end(lambda: TransportClosed("it broke"))
        with pytest.raises(TransportClosed) as caught:
            await asked(host, say("s_t"))
    assert "could not be recorded" in caught.value.__notes__[0]


async def test_local_calls_are_written_down_too(path: Path) -> None:
    async def execute(arguments: JsonObject) -> ToolResult:
        raise OSError("no disk")

    tool = Tool(ToolSpec("save", "Saves.", TEXT), execute)
    async with joined({}, local_tools=[tool], audit=AuditLog(path)) as host:
        with pytest.raises(OSError):
            await asked(host, say("save"))
    assert kinds(path) == [("decision", "approved"), ("intent", ""), ("outcome", "OSError")]
    assert all((record.server, record.tool) == ("", "save") for record in read_audit(path))


async def test_the_trace_says_who_was_denied_and_why() -> None:
    trace = Trace()
    policy = Policy([Rule("t", "deny", server="s", why="never")])
    async with joined({"s": Service("t")}, policy=policy, trace=trace) as host:
        await asked(host, say("s_t"), trace=trace)
    [event] = [event for event in trace.events if event.layer == "host"]
    assert (event.what, event.call) == ("denied", "toolu_1")
    assert event.facts == {"server": "s", "tool": "t", "policy": "deny", "reason": "never"}

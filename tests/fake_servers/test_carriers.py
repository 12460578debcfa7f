"""One suite over every carrier: what a server of the revision answers, whatever carries it."""

from __future__ import annotations

from typing import Any

import pytest
from fakes_judge import judge
from fakes_sample import PIXEL, sample
from fakes_wire import CARRIERS, P, call, carrier, request

ELICITS = {"elicitation": {}}


@pytest.fixture(params=CARRIERS)
def over(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def answers(over: str, message: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    """The judged answer of a fresh sample server."""
    async with carrier(over, sample(**options)) as ask:
        messages = await ask(message)
    judge(message, messages)
    return messages


async def result(over: str, message: dict[str, Any], **options: Any) -> dict[str, Any]:
    return (await answers(over, message, **options))[-1]["result"]


async def error(over: str, message: dict[str, Any]) -> dict[str, Any]:
    return (await answers(over, message))[-1]["error"]


# -- what is asked, and answered ------------------------------------------------------------------


@pytest.mark.must("S02")
async def test_discover_names_versions_capabilities_and_the_server(over: str) -> None:
    found = await result(over, request("server/discover"))
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}}
    assert found["instructions"] == "For tests."
    assert found["_meta"] == {P + "serverInfo": {"name": "sample", "version": "0.1"}}


@pytest.mark.must("S04")
async def test_client_info_is_not_needed(over: str) -> None:
    await result(over, request("server/discover", meta={P + "clientInfo": None}))


@pytest.mark.must("S01")
@pytest.mark.parametrize("request_id", ["a", "", 0, -7, 2**60])
async def test_an_id_comes_back_as_it_was(over: str, request_id: Any) -> None:
    (answer,) = await answers(over, request("tools/list", id=request_id))
    assert answer["id"] == request_id


@pytest.mark.must("S21", "S22")
@pytest.mark.parametrize(
    "method, key",
    [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ],
)
async def test_a_list_comes_whole_or_in_pages_and_says_the_same(
    over: str, method: str, key: str
) -> None:
    whole = await result(over, request(method))
    assert "nextCursor" not in whole
    paged, cursor = [], {}
    async with carrier(over, sample(page_size=2)) as ask:
        while True:
            asked = request(method, **cursor)
            messages = await ask(asked)
            judge(asked, messages)
            page = messages[-1]["result"]
            assert 1 <= len(page[key]) <= 2 and page["cacheScope"] == whole["cacheScope"]
            paged += page[key]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
    assert paged == whole[key]


@pytest.mark.must("S23")
async def test_a_tool_shows_both_schemas_and_its_annotations(over: str) -> None:
    tools = {t["name"]: t for t in (await result(over, request("tools/list")))["tools"]}
    assert tools["add"]["inputSchema"]["required"] == ["a", "b"]
    assert tools["add"]["outputSchema"]["properties"] == {"sum": {"type": "integer"}}
    assert tools["add"]["annotations"] == {"readOnlyHint": True}
    assert "outputSchema" not in tools["echo"] and "annotations" not in tools["echo"]


async def test_text_beyond_ascii_and_line_breaks_survive(over: str) -> None:
    said = {"s": "é 世界\n\r\u2028 \x7f"}
    heard = await result(over, call("echo", said))
    assert heard["content"] == [{"type": "text", "text": f"heard {said}"}]


@pytest.mark.must("S24")
async def test_structured_content_has_a_text_copy(over: str) -> None:
    sum_ = await result(over, call("add", {"a": 2, "b": 3}))
    assert sum_["structuredContent"] == {"sum": 5}
    assert sum_["content"] == [{"type": "text", "text": '{"sum": 5}'}]
    assert sum_["isError"] is False


async def test_null_is_structured_content(over: str) -> None:
    nothing = await result(over, call("nothing"))
    assert nothing["structuredContent"] is None and nothing["content"] == []


async def test_content_without_structure_has_no_structured_content(over: str) -> None:
    picture = await result(over, call("picture"))
    assert picture["content"] == [{"type": "image", "data": PIXEL, "mimeType": "image/gif"}]
    assert "structuredContent" not in picture


@pytest.mark.must("S09", "S19")
async def test_progress_comes_when_a_token_was_given_and_increases(over: str) -> None:
    *progress, last = await answers(over, call("count", meta={"progressToken": "t"}))
    assert [m["params"]["progress"] for m in progress] == [1, 2, 3]
    assert progress[0]["params"] == {
        "progressToken": "t", "progress": 1, "total": 3, "message": "step 1",
    }  # fmt: skip
    assert last["result"]["content"][0]["text"] == "counted"


@pytest.mark.must("S19")
async def test_without_a_token_there_is_no_progress(over: str) -> None:
    assert len(await answers(over, call("count"))) == 1


@pytest.mark.must("S21", "S26")
async def test_a_resource_is_text_or_base64(over: str) -> None:
    text = await result(over, request("resources/read", uri="test://text"))
    assert text["contents"] == [
        {
            "uri": "test://text",
            "mimeType": "text/plain",
            "text": "some text\n\u2028 with a separator",
        }
    ]
    assert (text["ttlMs"], text["cacheScope"]) == (5, "private")
    blob = await result(over, request("resources/read", uri="test://blob"))
    assert blob["contents"][0]["blob"] == "AP8="


async def test_a_template_gives_what_its_variables_say(over: str) -> None:
    read = await result(over, request("resources/read", uri="test://item/7"))
    assert read["contents"][0]["text"] == "item 7"


@pytest.mark.must("S27")
async def test_a_prompt_takes_its_arguments(over: str) -> None:
    got = await result(over, request("prompts/get", name="review", arguments={"code": "x = 1"}))
    assert got["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "Review x = 1."}}
    ]
    assert got["description"] == "A review."
    dialogue = await result(over, request("prompts/get", name="dialogue"))
    assert dialogue["messages"][0]["role"] == "assistant"


# -- the tool's own failures ----------------------------------------------------------------------


@pytest.mark.must("S24")
async def test_a_tool_failure_is_a_result_that_says_why(over: str) -> None:
    failed = await result(over, call("refuse"))
    assert failed["isError"] is True
    assert failed["content"][0]["text"] == "the shop is closed; try again on Monday"


@pytest.mark.must("S24", "S25")
async def test_wrong_arguments_are_a_result_naming_path_and_rule(over: str) -> None:
    failed = await result(over, call("add", {"a": "two"}))
    text = failed["content"][0]["text"]
    assert failed["isError"] is True
    assert "arguments.a: 'two' is not of type 'integer' (type)" in text
    assert "arguments: 'b' is a required property (required)" in text


@pytest.mark.must("S24", "S25")
@pytest.mark.parametrize("tool", ["crash", "wrong_shape", "no_shape", "count_down", "outside"])
async def test_a_server_bug_is_an_internal_error_that_tells_nothing(over: str, tool: str) -> None:
    failed = await error(over, call(tool, {"a": 1, "b": 2}))
    assert failed == {"code": -32603, "message": "Internal error"}


# -- rejections -----------------------------------------------------------------------------------


@pytest.mark.must("S04")
@pytest.mark.parametrize("field", ["protocolVersion", "clientCapabilities"])
@pytest.mark.parametrize("value", [None, 7])
@pytest.mark.sends_wrong("what the server must refuse")
async def test_a_missing_or_odd_meta_field_is_refused(over: str, field: str, value: Any) -> None:
    refused = await error(over, request("tools/list", meta={P + field: value}))
    assert refused["code"] == (-32020 if value and "http" in over and "V" in field else -32602)


@pytest.mark.parametrize(
    "meta",
    [
        {"progressToken": 1.5},
        {"progressToken": True},
        {P + "clientInfo": {"name": "no version"}},
        {P + "logLevel": "loud"},
    ],
)
@pytest.mark.sends_wrong("what the server must refuse")
async def test_an_odd_optional_meta_field_is_refused(over: str, meta: dict[str, Any]) -> None:
    assert (await error(over, request("tools/list", meta=meta)))["code"] == -32602


@pytest.mark.must("S05")
@pytest.mark.sends_wrong("what the server must refuse")
async def test_another_version_is_refused_with_those_that_are_spoken(over: str) -> None:
    refused = await error(over, request("tools/list", meta={P + "protocolVersion": "1900-01-01"}))
    assert refused["code"] == -32022
    assert refused["data"] == {"supported": ["2026-07-28"], "requested": "1900-01-01"}


@pytest.mark.must("S07")
@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "no/such", ""])
@pytest.mark.sends_wrong("what the server must refuse")
async def test_an_unknown_method_is_refused_and_the_versions_are_named(
    over: str, method: str
) -> None:
    refused = await error(over, request(method))
    assert refused["code"] == -32601 and "2026-07-28" in refused["message"]


@pytest.mark.must("S22", "S24", "S26", "S27")
@pytest.mark.parametrize(
    "message",
    [
        call("no_such_tool"),
        request("tools/call", arguments={}),
        request("tools/call", name="echo", arguments=[]),
        request("tools/call", name="echo", arguments=None),
        request("tools/call", name="greet", inputResponses=[]),
        request("tools/call", name="greet", inputResponses={"who": "Kim"}),
        request("tools/list", cursor="nonsense"),
        request("tools/list", cursor=7),
        request("resources/read"),
        request("resources/read", uri="test://nowhere"),
        request("resources/read", uri="test://item/gone"),
        request("resources/read", uri="test://item/a/b"),
        request("prompts/get", name="no_such_prompt"),
        request("prompts/get", name="review"),
        request("prompts/get", name="review", arguments={"code": 7}),
        request("prompts/get", name="review", arguments={"code": "x", "extra": "y"}),
    ],
)
@pytest.mark.sends_wrong("what the server must refuse")
async def test_bad_parameters_are_refused(over: str, message: dict[str, Any]) -> None:
    assert (await error(over, message))["code"] == -32602


async def test_a_cursor_of_one_list_is_bad_in_another(over: str) -> None:
    page = await result(over, request("tools/list"), page_size=1)
    async with carrier(over, sample(page_size=1)) as ask:
        (answer,) = await ask(request("prompts/list", cursor=page["nextCursor"]))
    assert answer["error"]["code"] == -32602


@pytest.mark.must("S08", "S26")
async def test_an_unknown_resource_names_its_address(over: str) -> None:
    refused = await error(over, request("resources/read", uri="test://nowhere"))
    assert refused["data"] == {"uri": "test://nowhere"}


# -- asking the client ----------------------------------------------------------------------------


@pytest.mark.must("S06", "S16")
@pytest.mark.parametrize(
    "message, required",
    [
        (call("needs_sampling"), {"sampling": {"tools": {}}}),
        (call("needs_sampling", caps={"sampling": {}}), {"sampling": {"tools": {}}}),
        (call("greet"), {"elicitation": {"form": {}}}),
        (call("greet", caps={"elicitation": {"url": {}}}), {"elicitation": {"form": {}}}),
        (call("model"), {"sampling": {}}),
        (call("roots"), {"roots": {}}),
        (request("resources/read", uri="test://secret"), {"elicitation": {"form": {}}}),
        (request("prompts/get", name="ask_first"), {"elicitation": {"form": {}}}),
    ],
)
async def test_what_the_client_did_not_declare_is_not_asked_of_it(
    over: str, message: dict[str, Any], required: dict[str, Any]
) -> None:
    refused = await error(over, message)
    assert refused["code"] == -32021
    assert refused["data"] == {"requiredCapabilities": required}


@pytest.mark.parametrize("caps", [{"sampling": {"tools": {}}}, {"sampling": {"tools": {"x": 1}}}])
async def test_a_declared_capability_lets_the_call_through(over: str, caps: Any) -> None:
    assert (await result(over, call("needs_sampling", caps=caps)))["isError"] is False


@pytest.mark.must("S16")
@pytest.mark.parametrize("caps", [{"elicitation": {}}, {"elicitation": {"form": {}}}])
async def test_input_is_asked_for_and_the_retry_goes_on_from_the_state(
    over: str, caps: dict[str, Any]
) -> None:
    async with carrier(over, sample()) as ask:
        first = call("greet", caps=caps)
        asked = (await ask(first))[-1]["result"]
        judge(first, await ask(first))
        assert asked["resultType"] == "input_required"
        assert asked["inputRequests"]["who"]["params"]["message"] == "Your name?"
        again = call(
            "greet", caps=caps, id=2, requestState=asked["requestState"],
            inputResponses={
                "who": {"action": "accept", "content": {"name": "Kim"}},
                "unasked": {"action": "cancel"},
            },
        )  # fmt: skip
        messages = await ask(again)
        judge(again, messages)
    assert messages[-1]["result"]["content"][0]["text"] == "hello Kim, round 1"


@pytest.mark.must("S18")
@pytest.mark.parametrize(
    "responses",
    [
        {},
        {"other": {"action": "accept", "content": {"name": "Kim"}}},
        {"who": {"action": "decline"}},
        {"who": {"action": "accept"}},
        {"who": {"action": "accept", "content": {"name": 7}}},
    ],
)
async def test_a_missing_or_odd_answer_is_asked_for_again(
    over: str, responses: dict[str, Any]
) -> None:
    again = call("greet", caps=ELICITS, inputResponses=responses)
    assert (await result(over, again))["resultType"] == "input_required"


async def test_a_state_alone_brings_the_client_back(over: str) -> None:
    async with carrier(over, sample()) as ask:
        state: dict[str, Any] = {}
        for _ in range(2):
            asked = (await ask(call("step", **state)))[-1]["result"]
            assert "inputRequests" not in asked
            state = {"requestState": asked["requestState"]}
        assert (await ask(call("step", **state)))[-1]["result"]["resultType"] == "complete"


@pytest.mark.must("S16")
@pytest.mark.parametrize(
    "method, params",
    [
        ("resources/read", {"uri": "test://secret"}),
        ("prompts/get", {"name": "ask_first"}),
    ],
)
async def test_resources_and_prompts_may_ask_too(
    over: str, method: str, params: dict[str, Any]
) -> None:
    asked = await result(over, request(method, caps=ELICITS, **params))
    assert asked["resultType"] == "input_required" and "requestState" not in asked
    given = {"who": {"action": "accept", "content": {}}}
    done = await result(over, request(method, caps=ELICITS, inputResponses=given, **params))
    assert done["resultType"] == "complete"


@pytest.mark.must("S17")
async def test_a_state_that_was_altered_moved_or_is_old_is_refused(over: str) -> None:
    now = [1000.0]
    async with carrier(over, sample(clock=lambda: now[0])) as ask:
        asked = (await ask(call("greet", caps=ELICITS)))[-1]["result"]
        state = asked["requestState"]
        for bad in ("", "x", state[:-2], "A" + state[1:], state.split(".")[0], state + "."):
            refused = (await ask(call("greet", caps=ELICITS, requestState=bad)))[-1]["error"]
            assert refused["code"] == -32602 and "altered" in refused["message"]
        moved = (await ask(call("greet", {"to": 1}, caps=ELICITS, requestState=state)))[-1]
        assert "another request" in moved["error"]["message"]
        now[0] += 601
        old = (await ask(call("greet", caps=ELICITS, requestState=state)))[-1]
        assert "expired" in old["error"]["message"]


@pytest.mark.must("S03")
async def test_a_retry_may_go_to_another_server_with_the_same_secret(over: str) -> None:
    asked = await result(over, call("greet", caps=ELICITS), secret=b"shared")
    again = {"who": {"action": "accept", "content": {"name": "Kim"}}}
    state = asked["requestState"]
    retry = call("greet", caps=ELICITS, requestState=state, inputResponses=again)
    said = (await result(over, retry, secret=b"shared"))["content"][0]["text"]
    assert said == "hello Kim, round 1"
    assert "altered" in (await error(over, retry))["message"]


async def test_a_server_without_a_capability_lacks_its_methods(over: str) -> None:
    from fake_servers.core import Server

    async with carrier(over, Server("bare")) as ask:
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            assert (await ask(request(method)))[-1]["error"]["code"] == -32601
        found = (await ask(request("server/discover")))[-1]["result"]
    assert found["capabilities"] == {} and "instructions" not in found

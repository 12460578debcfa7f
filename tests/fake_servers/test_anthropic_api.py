"""The real anthropic package, driven through the loop with no key and no network."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from fake_servers.anthropic_api import AnthropicApi, Broken, Status
from mini_agent.agent import run_agent
from mini_agent.model_client import DEFAULT_MODEL, AnthropicModelClient
from mini_agent.session import load_session
from mini_agent.types import Done, Text, Tool, ToolCall, ToolResult, ToolSpec

SPEC = ToolSpec("look", "Look a day up.", {"type": "object", "required": ["day"]})


async def look(arguments: dict[str, Any]) -> ToolResult:
    return ToolResult(f"nothing on {arguments['day']}")


LOOK = Tool(SPEC, look)


async def test_a_whole_round_through_the_real_package(tmp_path: Path) -> None:
    turns = [
        [Text("Let me look, wait."), ToolCall("t1", "look", {"day": "Montag ☀"})],
        [Text("Free!")],
    ]
    events: list[Any] = []
    async with AnthropicApi(turns) as api, api.client() as client:
        model = AnthropicModelClient(client=client, max_tokens=500)
        result = await run_agent(
            "Am I free?",
            model=model,
            tools=[LOOK],
            system="Be brief.",
            on_event=events.append,
            session_path=tmp_path / "s",
        )
    assert (result.text, result.stop_reason) == ("Free!", "end_turn")
    first, second = api.requests
    assert {name: first[name] for name in ("model", "max_tokens", "system", "stream", "tools")} == {
        "model": DEFAULT_MODEL,
        "max_tokens": 500,
        "system": "Be brief.",
        "stream": True,
        "tools": [
            {
                "name": "look",
                "description": "Look a day up.",
                "input_schema": {"type": "object", "required": ["day"]},
            }
        ],
    }
    assert second["messages"] == load_session(tmp_path / "s")[:3]
    assert second["messages"][2]["content"][0]["content"] == "nothing on Montag ☀"
    assert len([e for e in events if isinstance(e, Text)]) > 2  # it came in pieces


async def test_what_is_empty_or_not_given_is_not_sent() -> None:
    async with AnthropicApi([[Text("hi")], [Text("hi")]]) as api, api.client() as client:
        await run_agent("a", model=AnthropicModelClient(client=client), tools=[])
        thinking = {"type": "between_tools"}
        await run_agent("a", model=AnthropicModelClient(client=client, thinking=thinking), tools=[])
    assert not api.requests[0].keys() & {"system", "tools", "thinking"}
    assert api.requests[1]["thinking"] == thinking


async def test_the_scripted_stop_reason_arrives() -> None:
    async with AnthropicApi([[Text("I"), Done("max_tokens")]]) as api, api.client() as client:
        result = await run_agent("a", model=AnthropicModelClient(client=client), tools=[])
    assert result.stop_reason == "max_tokens"


@pytest.mark.parametrize(
    ("how", "module", "name"),
    [
        ("cut", "mini_agent", "ModelStreamError"),
        ("error", "anthropic", "APIStatusError"),
        ("abort", "httpx2", "RemoteProtocolError"),
    ],
)
async def test_an_answer_that_breaks_off_is_an_error_and_no_turn(
    how: Any, module: str, name: str, tmp_path: Path
) -> None:
    half = [Text("I will"), ToolCall("t1", "look", {"day": "monday"})]
    error: Any = None
    async with AnthropicApi([Broken(half, how)]) as api, api.client() as client:
        try:
            model = AnthropicModelClient(client=client)
            await run_agent("go", model=model, tools=[LOOK], session_path=tmp_path / "s")
        except Exception as caught:  # noqa: BLE001 - which class it is, is what is tested
            error = type(caught)
    await _settled()
    assert (error.__module__.split(".")[0], error.__name__) == (module, name)
    assert [m["role"] for m in load_session(tmp_path / "s")] == ["user"]


@pytest.mark.parametrize(("code", "name"), [(429, "RateLimitError"), (529, "APIStatusError")])
async def test_a_service_that_is_busy_is_an_error_with_its_status(code: int, name: str) -> None:
    import anthropic

    async with AnthropicApi([Status(code, retry_after=7)]) as api, api.client() as client:
        with pytest.raises(getattr(anthropic, name)) as caught:
            await run_agent("go", model=AnthropicModelClient(client=client), tools=[])
    assert caught.value.status_code == code
    assert caught.value.response.headers["retry-after"] == "7"


async def test_the_package_retries_a_busy_service_by_itself() -> None:
    turns = [Status(529), [Text("here now")]]
    async with AnthropicApi(turns) as api, api.client(max_retries=1) as client:
        result = await run_agent("go", model=AnthropicModelClient(client=client), tools=[])
    assert result.text == "here now" and len(api.requests) == 2


async def test_a_listener_that_fails_closes_the_stream_and_leaves_no_task() -> None:
    def on_event(event: Any) -> None:
        raise KeyError("listener")

    async with AnthropicApi([[Text("a long answer " * 100)]]) as api, api.client() as client:
        with pytest.raises(KeyError):
            await run_agent(
                "go", model=AnthropicModelClient(client=client), tools=[], on_event=on_event
            )
    await _settled()


async def test_a_conversation_that_the_real_service_would_refuse_is_refused() -> None:
    import anthropic

    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    messages: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "text", "text": "and?"}]},
    ]
    async with AnthropicApi([]) as api, api.client() as client:
        model = AnthropicModelClient(client=client)
        with pytest.raises(anthropic.BadRequestError):
            async for _ in model.stream(system="", messages=messages, tools=[]):
                pass
    assert api.requests == []


async def test_a_request_without_a_key_is_refused() -> None:
    import anthropic

    async with AnthropicApi([]) as api:
        http_client = anthropic.DefaultAsyncHttpxClient(trust_env=False)
        async with anthropic.AsyncAnthropic(
            base_url=api.url,
            api_key="none",
            http_client=http_client,
            max_retries=0,
            default_headers={"Authorization": anthropic.Omit()},  # type: ignore[dict-item]
        ) as client:
            with pytest.raises(anthropic.AuthenticationError):
                await client.messages.create(model="m", max_tokens=1, messages=[])


async def test_a_script_that_has_run_out_is_said_so() -> None:
    import anthropic

    async with AnthropicApi([]) as api, api.client() as client:
        with pytest.raises(anthropic.BadRequestError):
            await run_agent("go", model=AnthropicModelClient(client=client), tools=[])


async def test_it_stops_at_once_even_while_a_client_is_connected() -> None:
    api = AnthropicApi([])
    await api.start()
    host, port = api.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /v1/messages HTTP/1.1\r\n")  # half a request
    await writer.drain()
    begun = time.monotonic()
    await api.stop()
    await api.stop()
    assert time.monotonic() - begun < 0.3
    assert reader.at_eof() or await _gone(reader)
    writer.close()


async def _settled() -> None:
    """Let the package's own chain of generators close, one task after another."""
    for _ in range(100):
        await asyncio.sleep(0)


async def _gone(reader: asyncio.StreamReader) -> bool:
    with contextlib.suppress(ConnectionError):
        return await reader.read() == b""
    return True


def posted(body: bytes) -> bytes:
    head = "POST /v1/messages HTTP/1.1\r\nX-Api-Key: none\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def with_messages(messages: Any) -> bytes:
    body = {"stream": True, "model": "m", "max_tokens": 1, "messages": messages}
    return posted(json.dumps(body).encode())


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 400),
        (posted(b"{"), 400),
        (posted(b"\xff"), 400),
        (posted(b"[" * 100_000), 400),
        (with_messages(5), 400),
        (with_messages(None), 400),
        (with_messages([]), 400),
        (with_messages([None]), 400),
        (b"POST /v1/messages HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", 431),
    ],
    ids=range(13),
)
async def test_what_is_no_request_gets_a_json_error_and_nothing_is_printed(
    request_: bytes,
    status: int,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with AnthropicApi([]) as api:
        host, port = api.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(request_)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(body)["error"]["type"] == "invalid_request_error"
    assert capfd.readouterr() == ("", "") and caplog.records == []

"""Requests to the places that hold metadata and give tokens: few, small, and going nowhere else.

Guarantee: no redirect is followed, no private network is reached by surprise, no body is read
without end, nothing of httpx leaves, and no secret is in an error or in the trace.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import urllib.request
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mini_agent.errors import AuthorizationError, ConnectFailed, McpError
from mini_agent.mcp.addresses import (
    Reach,
    Resolve,
    ascii_host,
    checked_address,
    is_this_machine,
    public_addresses,
    resolved,
    written_address,
)
from mini_agent.mcp.auth_answers import LARGEST, Answer, json_object, trouble
from mini_agent.mcp.credentials import Note
from mini_agent.mcp.endpoint import Endpoint
from mini_agent.mcp.replies import elsewhere, translated
from mini_agent.types import JsonObject

if TYPE_CHECKING:
    import httpx

SECONDS = 10.0  # for one request
HERE = ("all://localhost", "all://127.0.0.1", "all://[::1]")  # where no proxy is asked
PLAIN = {"Accept": "application/json", "Accept-Encoding": "identity"}


class Web:
    """One errand to authorization servers. ``client`` is yours; without one, Web makes its own."""

    def __init__(
        self,
        reach: Reach,
        note: Note,
        *,
        client: httpx.AsyncClient | None = None,
        resolve: Resolve | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self.reach = reach
        self.note = note
        self._given = client
        self._own: httpx.AsyncClient | None = None
        self._resolve = resolve or (resolved if client is None else None)
        self._seconds = seconds

    async def __aenter__(self) -> Web:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._own is not None:
            await self._own.aclose()

    async def get(self, url: str, what: str) -> Answer:
        """The document at ``url``; ``what`` names it in the trace and in errors.

        Raises: Unusable, AuthorizationError, ConnectFailed.
        """
        return await self._ask("GET", url, what, {})

    async def post(
        self,
        url: str,
        what: str,
        *,
        form: str | None = None,
        document: JsonObject | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer to a form, already encoded, or to a JSON document.

        Raises: Unusable, AuthorizationError, ConnectFailed.
        """
        sent: dict[str, Any] = {"content": form or json.dumps(document)}
        kind = "application/json" if form is None else "application/x-www-form-urlencoded"
        return await self._ask("POST", url, what, {"Content-Type": kind, **(headers or {})}, **sent)

    # -- one request ------------------------------------------------------------------------------

    async def _ask(
        self, method: str, url: str, what: str, headers: Mapping[str, str], **sent: Any
    ) -> Answer:
        target = checked_address(url, self.reach)
        shown = elsewhere(url)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._sent(method, target, shown, {**PLAIN, **headers}, sent)
        except TimeoutError as cause:
            text = f"{shown} gave no {what} within {self._seconds:g} s; try again later"
            raise trouble(text) from cause
        self.note("authorization", step=what, where=shown, status=answer.status)
        return answer

    async def _sent(
        self, method: str, target: httpx.URL, shown: str, headers: Mapping[str, str], sent: Any
    ) -> Answer:
        client = self._client()
        addresses = await self._addresses(target, shown)
        for last, address in zip([*[False] * (len(addresses) - 1), True], addresses, strict=True):
            request = client.build_request(method, target, headers=headers, **sent)
            if address:  # the name was judged by this address, so it is this that is asked
                request.url = target.copy_with(host=address)
                request.extensions |= {"sni_hostname": ascii_host(target)}
                request.headers["Connection"] = "close"  # a pool would know it by the address
            try:
                with errors_of(target, shown):
                    return await read(client, request)
            except ConnectFailed:
                if last:
                    raise
        raise AssertionError("there is always a last address")

    async def _addresses(self, target: httpx.URL, shown: str) -> list[str]:
        """What to connect to, in order; "" for the name itself."""
        if self._resolve is None or (self._given is None and proxied(target)):
            return [""]
        try:
            return await public_addresses(target, self.reach, self._resolve) or [""]
        except OSError as cause:
            raise ConnectFailed(f"cannot find {shown}: its name does not resolve") from cause

    def _client(self) -> httpx.AsyncClient:
        import httpx

        if self._given is not None:
            return self._given
        if self._own is None:
            direct: dict[str, None] = dict.fromkeys(HERE)
            self._own = httpx.AsyncClient(mounts=direct)
        return self._own


async def read(client: httpx.AsyncClient, request: httpx.Request) -> Answer:
    """The answer to ``request``. A body that is too large, or no JSON object, counts as none.

    So does a compressed one: it was not offered, and could be a bomb.
    """
    response = await client.send(request, auth=None, stream=True, follow_redirects=False)
    body = bytearray()
    try:
        if response.headers.get("content-encoding", "identity") == "identity":
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > LARGEST:
                    break
    finally:
        await response.aclose()
    return Answer(response.status_code, json_object(bytes(body)), response.headers)


@contextlib.contextmanager
def errors_of(target: httpx.URL, shown: str) -> Iterator[None]:
    """Errors of the network leave as ours: ConnectFailed, or AuthorizationError for all else."""
    try:
        with translated(Endpoint(str(target), shown, target.host, False)):
            yield
    except (ConnectFailed, AuthorizationError):
        raise
    except McpError as cause:  # it may have reached them; the MCP server has not acted
        raise trouble(f"{cause.message}; try again later") from cause


def proxied(url: httpx.URL) -> bool:
    """True where the environment names a proxy for ``url``: it resolves names, and it judges."""
    proxies = urllib.request.getproxies()
    if is_this_machine(url.host, written_address(url.host)):
        return False
    named = proxies.get(url.scheme) or proxies.get("all")
    return bool(named) and not urllib.request.proxy_bypass(url.host)

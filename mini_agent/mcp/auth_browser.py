"""This machine's own browser, and the page on this machine that a person is sent back to.

    HttpTransport(url, auth=OAuth(AuthorizationCode(open_in_browser)))

RFC 8252, 7.3. No shell is involved: the address comes from a server that may mean ill.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import webbrowser
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from mini_agent.mcp.auth_answers import trouble
from mini_agent.mcp.endpoint import is_loopback

SECONDS = 10.0  # for one request to come in
SAID = b"This page can be closed: the program goes on.\n"
ELSEWHERE = b"Nothing is here.\n"


async def open_in_browser(url: str, *, show: Callable[[str], bool] = webbrowser.open) -> str:
    """Show ``url`` and wait for the person to come back; the address they came back to.

    Listens where the ``redirect_uri`` in ``url`` says, and takes what carries its ``state``.

    Raises: AuthorizationError when there is no browser, or something else listens there;
    ValueError for a redirect_uri that is not on this machine.
    """
    query = parse_qs(urlsplit(url).query)
    back, state = urlsplit(query["redirect_uri"][0]), query["state"][0]
    if back.scheme != "http" or not is_loopback(back.hostname or ""):
        raise ValueError("open_in_browser listens on this machine: redirect_uri must lead there")
    came: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        target = await requested(reader)
        ours = leads_to(target, back.path) and carries(target, state)
        if ours and not came.done():
            came.set_result(f"http://{back.netloc}{target}")
        with contextlib.suppress(OSError):  # a browser that does not wait for it
            writer.write(page(SAID if ours else ELSEWHERE, 200 if ours else 404))
            await writer.drain()
        writer.close()
        writers.discard(writer)

    try:
        server = await asyncio.start_server(serve, back.hostname, back.port or 80, limit=2**16)
    except OSError as cause:
        text = f"cannot listen on {back.netloc}, where the person is to be sent back to"
        raise trouble(f"{text} ({cause}); give AuthorizationCode another redirect_uri") from cause
    async with server:
        try:
            if not await asyncio.to_thread(show, url):
                text = "no browser could be opened on this machine"
                raise trouble(f"{text}; give AuthorizationCode an open_browser of your own")
            return await came
        finally:
            for writer in writers:  # browsers connect ahead of need; the server waits for them all
                writer.close()


async def requested(reader: asyncio.StreamReader) -> str:
    """The path and query of a GET request, "" for anything else."""
    try:
        async with asyncio.timeout(SECONDS):
            line = (await reader.readuntil(b"\r\n")).decode("ascii", "replace").split(" ")
            while (await reader.readuntil(b"\r\n")).strip():  # its headers: nothing to us
                pass
    except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
        return ""
    return line[1] if len(line) == 3 and line[0] == "GET" and line[1].startswith("/") else ""


def leads_to(target: str, path: str) -> bool:
    """Whether ``target`` has this path. One that cannot be read has none."""
    try:
        return urlsplit(target).path == path
    except ValueError:
        return False


def carries(target: str, state: str) -> bool:
    """Whether it answers the page that was opened, and was not sent by something else here."""
    found = parse_qs(urlsplit(target).query).get("state", [""])
    return len(found) == 1 and secrets.compare_digest(found[0].encode(), state.encode())


def page(text: bytes, status: int) -> bytes:
    """A reply in plain text that is not kept, and from which no address leaks."""
    reason = "OK" if status == 200 else "Not Found"
    lines = [
        f"HTTP/1.1 {status} {reason}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(text)}",
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer",
        "Connection: close",
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + text

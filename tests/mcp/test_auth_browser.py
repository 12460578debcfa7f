"""This machine's browser: the page that a person is sent back to, on a port of this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from urllib.parse import urlencode

import httpx
import pytest

from mini_agent.errors import AuthorizationError
from mini_agent.mcp.auth_browser import open_in_browser

pytestmark = pytest.mark.timeout(20)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def page(back: str, state: str = "s1") -> str:
    return f"https://login.example/authorize?{urlencode({'redirect_uri': back, 'state': state})}"


def visits(*addresses: str, seen: list[httpx.Response]) -> Callable[[str], bool]:
    """A browser that goes straight to ``addresses``, one after the other."""

    def show(url: str) -> bool:
        with httpx.Client(trust_env=False) as browser:
            seen.extend(browser.get(address) for address in addresses)
        return True

    return show


async def test_the_address_that_the_person_came_back_to_is_returned_whole() -> None:
    back = f"http://127.0.0.1:{free_port()}/callback"
    answer, seen = f"{back}?code=c1&state=s1&iss=x", list[httpx.Response]()
    found = await open_in_browser(page(back), show=visits(answer, seen=seen))
    assert found == answer and seen[0].status_code == 200
    assert seen[0].headers["referrer-policy"] == "no-referrer" and "c1" not in seen[0].text


async def test_what_answers_another_page_is_passed_over() -> None:
    back = f"http://127.0.0.1:{free_port()}/callback"
    wrong = [f"{back}?code=evil&state=s2", f"{back}?code=evil", back.replace("callback", "x")]
    wrong += [f"{back}?code=evil&state=s1&state=s2", back.replace("callback", "favicon.ico")]
    seen = list[httpx.Response]()
    answer = f"{back}?error=access_denied&state=s1"
    found = await open_in_browser(page(back), show=visits(*wrong, answer, seen=seen))
    assert found == answer and [r.status_code for r in seen] == [404] * 5 + [200]


@pytest.mark.parametrize("junk", [b"POST /callback?state=s1 HTTP/1.1\r\n\r\n", b"\x00\xff\r\n\r\n"])
async def test_what_is_no_request_of_a_browser_does_no_harm(junk: bytes) -> None:
    port = free_port()
    back = f"http://127.0.0.1:{port}/callback"
    seen = list[httpx.Response]()

    def show(url: str) -> bool:
        with socket.create_connection(("127.0.0.1", port)) as other:
            other.sendall(junk)
            assert b"404" in other.recv(100)
        return visits(f"{back}?code=c&state=s1", seen=seen)(url)

    assert "code=c" in await open_in_browser(page(back), show=show)


async def test_no_browser_and_a_taken_port_are_authorization_errors_that_say_what_to_do() -> None:
    port = free_port()
    back = f"http://127.0.0.1:{port}/callback"
    with pytest.raises(AuthorizationError) as none:
        await open_in_browser(page(back), show=lambda url: False)
    assert "open_browser" in none.value.message
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with pytest.raises(AuthorizationError) as busy:
            await open_in_browser(page(back), show=lambda url: True)
    assert str(port) in busy.value.message and "redirect_uri" in busy.value.message


@pytest.mark.parametrize("back", ["https://app.example/cb", "http://app.example/cb"])
async def test_it_listens_on_this_machine_only(back: str) -> None:
    with pytest.raises(ValueError):
        await open_in_browser(page(back), show=lambda url: True)


async def test_who_gives_up_frees_the_port() -> None:
    port, shown = free_port(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def show(url: str) -> bool:
        loop.call_soon_threadsafe(shown.set)
        return True

    back = f"http://127.0.0.1:{port}/callback"
    waiting = asyncio.create_task(open_in_browser(page(back), show=show))
    await shown.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not listens(port)


def listens(port: int) -> bool:
    with socket.socket() as other:
        return other.connect_ex(("127.0.0.1", port)) == 0


async def test_a_connection_that_says_nothing_is_closed_once_the_answer_is_there() -> None:
    port = free_port()
    back = f"http://127.0.0.1:{port}/callback"
    idle: list[socket.socket] = []

    def show(url: str) -> bool:
        idle.append(socket.create_connection(("127.0.0.1", port), timeout=2))
        return visits(f"{back}?code=c&state=s1", seen=[])(url)

    assert "code=c" in await open_in_browser(page(back), show=show)
    with idle[0] as connection:
        told = await asyncio.to_thread(connection.recv, 100)
    assert told == b""


async def test_an_address_that_cannot_be_read_is_no_error_of_ours() -> None:
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    port = free_port()
    back = f"http://127.0.0.1:{port}/callback"

    def show(url: str) -> bool:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as other:
            other.sendall(b"GET //[x HTTP/1.1\r\n\r\n")
            assert b"404" in other.recv(100)
        return visits(f"{back}?code=c&state=s1", seen=[])(url)

    assert "code=c" in await open_in_browser(page(back), show=show)
    assert problems == []

"""The carrier over HTTP: Streamable HTTP on 127.0.0.1, for notebooks and tests.

    async with serve(calendar_server()) as running:
        running.url                     # http://127.0.0.1:PORT/mcp

``start()`` and ``stop()`` do the same from two cells. No signal handler is set, no task stays
behind, nothing is printed, and stopping takes a few milliseconds.
"""

from __future__ import annotations

import asyncio
import socket
from types import TracebackType
from typing import TYPE_CHECKING, Self

from fake_servers.core import Server
from fake_servers.http_app import MAX_BODY, App, Replies
from fake_servers.wire import Entry

if TYPE_CHECKING:
    import uvicorn


class HttpServer:
    """``server`` on a port of its own, once started.

    ``replies``: "auto" answers with JSON, or with an event stream when there is something to say
    before the response or when the client ranks it higher; "json" and "stream" always do that.
    ``max_body`` is in bytes. ``origins`` are accepted beside the server's own.
    """

    def __init__(
        self,
        server: Server,
        *,
        replies: Replies = "auto",
        max_body: int = MAX_BODY,
        origins: tuple[str, ...] = (),
        port: int = 0,
    ) -> None:
        self.app = App(server, replies=replies, max_body=max_body, origins=origins)
        self._port = port
        self._running: uvicorn.Server | None = None
        self.url = ""

    @property
    def transcript(self) -> list[Entry]:
        """Every message of both sides, in order."""
        return self.app.transcript

    @property
    def requests(self) -> list[dict[str, str]]:
        """The headers of every HTTP request, in order, names in lower case."""
        return self.app.requests

    async def start(self) -> str:
        """Listen, and return the URL of the endpoint.

        Raises: OSError when the port is taken; RuntimeError when it is already started.
        """
        if self._running is not None:
            raise RuntimeError(f"already serving at {self.url}")
        import uvicorn

        config = uvicorn.Config(
            self.app, http="h11", ws="none", lifespan="off", timeout_keep_alive=60,
            log_config=None, access_log=False, log_level="error",
        )  # fmt: skip
        config.load()
        running = uvicorn.Server(config)  # its serve() would catch SIGINT and look every 0.1 s
        running.lifespan = config.lifespan_class(config)
        await running.startup([socket.create_server(("127.0.0.1", self._port))])
        await running.on_tick(0)
        self._running = running
        self.url = f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
        return self.url

    async def stop(self) -> None:
        """Stop listening, drop every connection, wait for what they had asked. Idempotent."""
        running, self._running = self._running, None
        if running is None:
            return
        for listener in running.servers:
            listener.close()
        for connection in list(running.server_state.connections):
            connection.transport.close()
        if running.server_state.tasks:
            await asyncio.wait(set(running.server_state.tasks), timeout=5)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()


serve = HttpServer

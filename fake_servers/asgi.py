"""Any ASGI application on a port of 127.0.0.1, for notebooks and tests.

No signal handler is set, no task stays behind, nothing is printed, and stopping takes a few
milliseconds.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from fake_servers.started import Started, stop_listening

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp


class AsgiServer(Started):
    """``application`` on a port of its own: taken by ``bind``, served once started."""

    def __init__(self, application: ASGIApp, *, port: int = 0) -> None:
        self._application = application
        self._port = port
        self._socket: socket.socket | None = None
        self._running: uvicorn.Server | None = None
        self.address = ""

    def bind(self) -> str:
        """Take the port, and return the address, ``http://127.0.0.1:PORT``.

        Raises: OSError when the port is taken.
        """
        if self._socket is None:
            self._socket = socket.create_server(("127.0.0.1", self._port))
            self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        return self.address

    async def start(self) -> str:
        """Listen, and return the address.

        Raises: OSError when the port is taken; RuntimeError when it is already started.
        """
        if self._running is not None:
            raise RuntimeError(f"already serving at {self.address}")
        import uvicorn

        self.bind()
        assert self._socket is not None
        config = uvicorn.Config(
            self._application, http="h11", ws="none", lifespan="off", timeout_keep_alive=60,
            log_config=None, access_log=False, log_level="error",
        )  # fmt: skip
        config.load()
        running = uvicorn.Server(config)  # its serve() would catch SIGINT and look every 0.1 s
        running.lifespan = config.lifespan_class(config)
        await running.startup([self._socket])
        await running.on_tick(0)
        self._running = running
        return self.address

    async def stop(self) -> None:
        """Stop listening, drop every connection, wait for what they had asked. Idempotent."""
        running, self._running = self._running, None
        bound, self._socket = self._socket, None
        if running is None:
            if bound is not None:
                bound.close()
            return
        await stop_listening(*running.servers)
        for connection in list(running.server_state.connections):
            connection.transport.close()
        if running.server_state.tasks:
            await asyncio.wait(set(running.server_state.tasks), timeout=5)

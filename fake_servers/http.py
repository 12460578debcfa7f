"""The carrier over HTTP: Streamable HTTP on 127.0.0.1, for notebooks and tests.

    async with serve(calendar_server()) as running:
        running.url                     # http://127.0.0.1:PORT/mcp

``start()`` and ``stop()`` do the same from two cells. No signal handler is set, no task stays
behind, nothing is printed, and stopping takes a few milliseconds.
"""

from __future__ import annotations

from fake_servers.asgi import AsgiServer
from fake_servers.core import Server
from fake_servers.http_app import MAX_BODY, App, Replies
from fake_servers.wire import Entry


class HttpServer(AsgiServer):
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
        super().__init__(self.app, port=port)
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
        self.url = f"{await super().start()}/mcp"
        return self.url


serve = HttpServer

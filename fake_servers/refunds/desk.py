"""The refund desk as a whole: one object that starts every service, and stops them.

    async with RefundDesk() as desk:
        token = desk.issue_token("robin", "orders:read")
        answer = await desk.client(token).post(desk.url, ...)

In memory by default, with no port and no thread, so that nothing it says changes from run to run:
ids are counted, and the clock stands still until ``desk.advance``.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx
from starlette.types import ASGIApp

from fake_servers.refunds.assembling import MCP_CLIENT, authorization_server
from fake_servers.refunds.clock import StandingClock
from fake_servers.refunds.faults import Faults
from fake_servers.refunds.instance import Instance, Settings, balanced
from fake_servers.refunds.keys import SigningKey
from fake_servers.refunds.network import InMemoryNetwork, published
from fake_servers.refunds.orders import Orders
from fake_servers.refunds.places import Loopback, Memory, Place
from fake_servers.refunds.registration import Client
from fake_servers.refunds.schemas import RELEASE
from fake_servers.refunds.server import Shape, shaped
from fake_servers.refunds.store import OrderStore
from fake_servers.refunds.tokens import Clock
from fake_servers.refunds.traffic import Traffic
from fake_servers.started import Started
from fake_servers.wire import Entry


@dataclass(eq=False)
class RefundDesk(Started):
    """Every service of the desk. ``where``: "memory", or "loopback" for ports of 127.0.0.1.

    ``instances`` of the order service and the MCP server share one store and are asked in turn;
    the store is a file at ``path``, a temporary one by default. ``release`` chooses the tools'
    schemas. With ``key_required`` False the order service takes drafts without an operation key.
    ``timeout`` is what the MCP server gives the order service, in seconds. ``shape`` makes a
    tool's result out of an upstream record. ``clients`` are known beside the one that every desk
    knows; ``documents`` are client metadata documents by URL; ``metadata`` changes what the
    authorization server says of itself, and None removes a field.
    """

    where: Literal["memory", "loopback"] = "memory"
    _: KW_ONLY
    instances: int = 1
    path: str | Path | None = None
    clock: Clock = field(default_factory=StandingClock)
    release: str = RELEASE
    signed_in: str = "robin"
    key_required: bool = True
    timeout: float = 5.0
    shape: Shape = shaped
    clients: Iterable[Client] = ()
    documents: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Make what can be planned with before anything runs."""
        self.faults = Faults()
        self.traffic = Traffic()
        self.network = InMemoryNetwork()
        self.running: list[Instance] = []
        self._open = AsyncExitStack()

    # -- start and stop ---------------------------------------------------------------------------

    async def start(self) -> str:
        """Start everything, and return the URL of the MCP endpoint."""
        self._place: Place = Memory(self.network) if self.where == "memory" else Loopback()
        self._open.push_async_callback(self._place.close)
        origins = self._place.origins
        self.url, self.issuer_url = f"{origins['refunds']}/mcp", origins["authorization"]
        self.orders_url = origins["orders"]
        published(self.documents, self.network)
        secret = secrets.token_urlsafe(32)
        self.authorization = authorization_server(
            self.issuer_url,
            self.url,
            self.orders_url,
            clock=self.clock,
            network=self.network,
            secret=secret,
            signed_in=self.signed_in,
            clients=self.clients,
            metadata=self.metadata,
        )
        self._settings = self._of_each_instance(self._start_store(), secret)
        self.running = [Instance(self._settings) for _ in range(self.instances)]
        await self._place.open(self._apps())
        return self.url

    def _start_store(self) -> Path:
        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="refunds-"))
        path = Path(self.path or Path(folder) / "orders.sqlite")
        self.store = OrderStore(path)
        self._open.callback(self.store.close)
        self.store.seed()
        return path

    def _of_each_instance(self, store: Path, secret: str) -> Settings:
        return Settings(
            place=self._place,
            url=self.url,
            path=store,
            clock=self.clock,
            client_id=MCP_CLIENT,
            client_secret=secret,
            release=self.release,
            shape=self.shape,
            key_required=self.key_required,
            timeout=self.timeout,
        )

    def _apps(self) -> dict[str, ASGIApp]:
        """The application of each service, with its faults and with note taken of what comes."""
        bare: dict[str, ASGIApp] = {
            "refunds": balanced(lambda: [instance.gate for instance in self.running]),
            "orders": balanced(lambda: [instance.service for instance in self.running]),
            "authorization": self.authorization.app(),
        }
        apps = {}
        for name, app in bare.items():
            impatient = self._place.impatient and name == "orders"
            faulty = self.faults.around(app, name, impatient=impatient)
            apps[name] = self.traffic.around(faulty, name)
        return apps

    async def stop(self) -> None:
        """Stop everything; what is held goes on first. Idempotent."""
        self.faults.clear()
        async with self._open:
            for instance in self.running:
                await instance.kill()
            self.running = []

    async def restart(self, index: int = 0) -> None:
        """Kill an instance, what it has in flight with it, and start another in its place."""
        dying = self.running[index]
        self.running[index] = Instance(self._settings)
        await dying.kill()

    # -- use --------------------------------------------------------------------------------------

    def client(self, token: str = "", **options: Any) -> httpx.AsyncClient:
        """An httpx client that reaches every service, with the token in each request if given.

        The desk closes it.
        """
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        http = httpx.AsyncClient(
            transport=self._place.transport(), headers=headers, trust_env=False, **options
        )
        self._open.push_async_callback(http.aclose)
        return http

    def issue_token(
        self,
        subject: str = "robin",
        scope: str = "orders:read refunds:draft",
        *,
        audience: str | None = None,
        expires_in: float = 300,
        key: SigningKey | None = None,
        **claims: Any,
    ) -> str:
        """An access token without the flow: of the MCP endpoint unless ``audience`` says otherwise.

        ``claims`` replace the usual ones, None takes one away; ``key`` signs in the issuer's place.
        """
        issuer = self.authorization.issuer
        more = {"exp": int(self.clock() + expires_in), **claims}
        said = issuer.claims(subject, scope.split(), audience or self.url, **more)
        said = {name: value for name, value in said.items() if value is not None}
        return key.sign(said) if key else issuer.sign(said)

    def advance(self, seconds: float) -> None:
        """Let time pass at the desk.

        Raises: TypeError when its clock is not a StandingClock.
        """
        if not isinstance(self.clock, StandingClock):
            raise TypeError("this desk was given a clock of its own: advance that one")
        self.clock.advance(seconds)

    def orders_for(self, token: str) -> Orders:
        """The order service as the first MCP server sees it for whoever holds ``token``."""
        return self.running[0].orders_for(token)

    async def browse(self, url: str) -> str:
        """What a browser does with an authorization URL: go there, and say where it is sent on to.

        Raises: RuntimeError when it is not sent anywhere, with what it is shown instead.
        """
        browser = {"User-Agent": "browser"}
        shown = await self.client().get(url, headers=browser, follow_redirects=False)
        if not shown.has_redirect_location:
            raise RuntimeError(f"{shown.status_code}: {shown.text}")
        return str(shown.headers["location"])

    @property
    def transcript(self) -> list[Entry]:
        """The MCP messages of every instance that runs, those of one after those of another."""
        return [entry for instance in self.running for entry in instance.gated.transcript]

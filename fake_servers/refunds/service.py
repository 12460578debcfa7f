"""The order service: the company's own REST API, which knows nothing of MCP.

    GET  /orders/{order_id}                  the whole record, for who may see it
    POST /refund-drafts                      a draft; the same operation_key gives the same draft
    GET  /refund-drafts/{operation_key}      is there a draft under this key?

It decides who may do what by the token's subject and its own table of rights, and believes
nobody else about it.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from fake_servers.refunds.bearer import DRAFT, READ, Denied, authenticated, bearer_token, require
from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.connection import bounded_body, hung_up
from fake_servers.refunds.fetching import FetchFailed
from fake_servers.refunds.keys import Verifier
from fake_servers.refunds.rules import read_wanted
from fake_servers.refunds.store import OrderStore
from fake_servers.refunds.tokens import Claims

MAX_BODY = 16 * 1024  # bytes


class OrderService:
    """The API over ``store``; ``verifier`` knows whose tokens are good here.

    With ``key_required`` False it is the API as it was before anybody thought of repeats.
    """

    def __init__(self, store: OrderStore, verifier: Verifier, *, key_required: bool = True) -> None:
        self._store = store
        self._verifier = verifier
        self._key_required = key_required

    def app(self) -> Starlette:
        """The service as an ASGI application."""
        return Starlette(
            routes=[
                Route("/orders/{order_id}", self.order),
                Route("/refund-drafts", self.create_draft, methods=["POST"]),
                Route("/refund-drafts/{operation_key}", self.draft),
            ],
            exception_handlers={
                Refusal: refused,
                Denied: denied,
                FetchFailed: unavailable,
                ClientDisconnect: hung_up,
            },
        )

    async def order(self, request: Request) -> JSONResponse:
        """GET /orders/{order_id}."""
        who = await self._who(request, READ)
        order = self._store.order(request.path_params["order_id"], who.subject)
        return JSONResponse(order.record())

    async def draft(self, request: Request) -> JSONResponse:
        """GET /refund-drafts/{operation_key}."""
        who = await self._who(request, READ)
        draft = self._store.draft(request.path_params["operation_key"], who.subject)
        return JSONResponse(draft.record())

    async def create_draft(self, request: Request) -> JSONResponse:
        """POST /refund-drafts: 201 for a new draft, 200 for the one that was there."""
        who = await self._who(request, DRAFT)
        wanted = read_wanted(await _body(request), key_required=self._key_required)
        draft, new = self._store.draft_once(wanted, who.subject, who.actor or who.client_id)
        return JSONResponse(draft.record(), 201 if new else 200)

    async def _who(self, request: Request, scope: str) -> Claims:
        token = bearer_token(request.headers, request.scope["query_string"], scope)
        claims = await authenticated(token, self._verifier, scope)
        require(claims, scope)
        return claims


async def _body(request: Request) -> Any:
    raw = await bounded_body(request, MAX_BODY)
    if raw is None:
        raise Refusal("INVALID_REQUEST", f"The body has more than {MAX_BODY} bytes.")
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as cause:
        raise Refusal("INVALID_REQUEST", "The body is no JSON.") from cause


async def refused(request: Request, refusal: Exception) -> JSONResponse:
    """A business refusal: its category, under its status."""
    assert isinstance(refusal, Refusal)
    return JSONResponse(refusal.to_json(), refusal.status)


async def denied(request: Request, denial: Exception) -> JSONResponse:
    """A token that will not do: the category, and the challenge that says why."""
    assert isinstance(denial, Denied)
    code = {400: "INVALID_REQUEST", 401: "INVALID_TOKEN", 403: "INSUFFICIENT_SCOPE"}[denial.status]
    headers = {"WWW-Authenticate": denial.challenge()}
    return JSONResponse(Refusal(code).to_json(), denial.status, headers)


async def unavailable(request: Request, error: Exception) -> JSONResponse:
    """The issuer's keys cannot be had, so that no token can be judged: nobody is let in."""
    return JSONResponse(Refusal("SERVICE_UNAVAILABLE").to_json(), 503, {"Retry-After": "1"})

"""What the places of OAuth answer, and how its refusals are worded: values in, values out.

Guarantee: no secret of a request is in a text that is made of its answer.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mini_agent.errors import AuthorizationError
from mini_agent.mcp.messages import excerpt
from mini_agent.mcp.replies import named
from mini_agent.redact import Redactor
from mini_agent.types import JsonObject

LARGEST = 1024 * 1024  # bytes of a document; real ones have a few thousand
LONGEST_WORDS = 200  # characters of what a refusal says that are shown
MOST_READ = 2000  # and that are searched for secrets


class Denied(AuthorizationError):
    """Somebody was asked to sign in, and said no.

    Fault: nobody. The server has not acted. The client can be used again, and the person is then
    asked again.
    """

    fault = "nobody: a person said no"


def trouble(text: str, code: str = "") -> AuthorizationError:
    """Why nobody is signed in. The status is that of the refusal which asked for it.

    ``code`` is the error of an authorization server.
    """
    return (Denied if code == "access_denied" else AuthorizationError)(text, status=401)


@dataclass(frozen=True)
class Answer:
    """A status, and the JSON object that came with it, {} where none did."""

    status: int
    document: JsonObject
    headers: Mapping[str, str]

    @property
    def good(self) -> bool:
        """True for a 2xx."""
        return 200 <= self.status < 300


def json_object(body: bytes) -> JsonObject:
    """The JSON object in ``body``, {} where it holds none."""
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(body) if len(body) <= LARGEST else None
        return found if isinstance(found, dict) else {}
    return {}


def said_no(answer: Answer, secrets: Iterable[str] = ()) -> str:
    """The words of a refusal, with no secret in them: status, error code, description."""
    clean = Redactor([secret for secret in secrets if secret]).text
    told = [answer.document.get(name) for name in ("error", "error_description")]
    words = [excerpt(clean(w[:MOST_READ]), LONGEST_WORDS) for w in told if isinstance(w, str) and w]
    return ", ".join([named(answer.status), *words])

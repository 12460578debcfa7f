"""What a server that refuses says it wants: the WWW-Authenticate header, and the scopes to ask for.

Pure: text in, values out. Specification: basic/authorization, "Scope Selection Strategy";
RFC 9110, 11.6.1; RFC 6750, 3; RFC 9728, 5.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

LONGEST = 8192  # characters of a header that are read

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_GAP = re.compile(r"[\s,]*")
_SCHEME = re.compile(rf"({_TOKEN})(?=[\s,]|$)")
_TOKEN68 = re.compile(r"[ \t]+([A-Za-z0-9\-._~+/]+=*)[ \t]*(?=,|$)")
# Unquoted values that are no tokens (an address, say) are wrong, met in the field, and plain.
_PARAM = re.compile(rf'({_TOKEN})[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_JUNK = re.compile(r"[^,]*")
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


@dataclass(frozen=True)
class Challenge:
    """One challenge: its scheme in small letters, its parameters by their names in small letters.

    ``Challenge()`` is that of a server that said nothing.
    """

    scheme: str = ""
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def error(self) -> str:
        """``invalid_token``, ``insufficient_scope``, … as the server put it; "" for none."""
        return self.params.get("error", "")

    @property
    def resource_metadata(self) -> str:
        """Where the server's own metadata is, "" when it did not say."""
        return self.params.get("resource_metadata", "")

    @property
    def scopes(self) -> tuple[str, ...] | None:
        """The scopes that this request needs, None when it did not say."""
        said = self.params.get("scope")
        return None if said is None else scopes_in(said)


def parse_challenges(header: str) -> list[Challenge]:
    """Every challenge of a WWW-Authenticate header, in order. What is none is passed over."""
    text, at = header[:LONGEST], 0
    found: list[tuple[str, dict[str, str]]] = []
    while (at := _end(_GAP.match(text, at), at)) < len(text):
        param = _PARAM.match(text, at)
        if param and found:
            name, quoted, bare = param.groups()
            value = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            found[-1][1].setdefault(name.lower(), value)
            at = param.end()
        elif not param and (scheme := _SCHEME.match(text, at)):
            found.append((scheme[1].lower(), {}))
            at = _end(_TOKEN68.match(text, scheme.end()), scheme.end())
        else:
            at = _end(_JUNK.match(text, at), at)
    return [Challenge(scheme, params) for scheme, params in found]


def _end(match: re.Match[str] | None, default: int) -> int:
    return default if match is None else match.end()


def parse_challenge(header: str, schemes: Sequence[str] = ("bearer",)) -> Challenge:
    """The first challenge of one of these schemes, an empty one where there is none."""
    found = (one for one in parse_challenges(header) if one.scheme in schemes)
    return next(found, Challenge())


# -- scopes ---------------------------------------------------------------------------------------


def scopes_in(text: str) -> tuple[str, ...]:
    """The scopes of a space-separated list, each once, in order. What is no scope is left out."""
    return tuple(dict.fromkeys(word for word in text.split() if _SCOPE.fullmatch(word)))


def union(*lists: Iterable[str]) -> tuple[str, ...]:
    """Everything in any of them, each once, in the order it first came."""
    return tuple(dict.fromkeys(scope for scopes in lists for scope in scopes))


def scopes_to_ask(
    challenged: tuple[str, ...] | None,
    resource: tuple[str, ...] | None,
    *,
    issuer: tuple[str, ...] | None = None,
    before: tuple[str, ...] | None = None,
) -> tuple[str, ...] | None:
    """The scopes to ask for, None to leave it to the authorization server.

    The challenge's own; without them, all that the resource lists; without those, none. What was
    asked of this authorization server ``before`` stays, so that nothing granted is lost.
    ``offline_access`` (a refresh token) is added only where ``issuer``, the authorization server,
    lists it.
    """
    wanted = resource if challenged is None else challenged
    if wanted is None and before is None:
        return None
    offline = ("offline_access",) if "offline_access" in (issuer or ()) else ()
    return union(before or (), wanted or (), offline)

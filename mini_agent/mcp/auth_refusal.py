"""Whether a refusal is worth signing in for: not for a token just given, not twice for one scope.

Specification: basic/authorization, "Step-Up Authorization Flow".
"""

from __future__ import annotations

from mini_agent.mcp.auth_answers import trouble
from mini_agent.mcp.auth_challenge import Challenge
from mini_agent.mcp.auth_signin import Session
from mini_agent.mcp.credentials import Refusal


def check_not_in_vain(refusal: Refusal, session: Session | None) -> None:
    """A token given during this request, and refused all the same, is not asked for again.

    Raises: AuthorizationError.
    """
    name = "Authorization"
    just_given = refusal.sent.get(name, "") != refusal.first.get(name, "")
    if just_given and session is not None and not session.renewed:
        text = f"the server refuses the token that {session.issuer.issuer} has just given for it"
        raise trouble(f"{text}; ask whoever runs the server")


def more_to_ask(
    challenge: Challenge, session: Session | None, tried: set[frozenset[str]]
) -> frozenset[str]:
    """The scopes that the server wants, when asking for them is something new.

    ``tried`` are those that were asked for already.

    Raises: AuthorizationError.
    """
    wanted = frozenset(challenge.scopes or ())
    held = session.tokens.scopes if session is not None else ()
    lacking = " ".join(sorted(wanted - set(held or ())))
    if not lacking:
        text = "the server wants more scopes and names none that the token lacks"
        raise trouble(f"{text}; ask whoever runs it")
    if wanted in tried:
        text = f"the server wants the scopes {lacking}, which were asked for and not granted"
        raise trouble(f"{text}; forget() lets them be asked for once more")
    return wanted

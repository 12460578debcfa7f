"""What was approved, and not executed yet: each yes holds for one call, to the letter, and once.

None outlives the call that the loop follows: a later one with the same id finds nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from mini_agent.approval import Decision, HostCall
from mini_agent.difference import canonical
from mini_agent.trace import Followed, followed, following_now


@dataclass(frozen=True)
class Binding:
    """All that an approval is bound to. ``arguments`` are canonical JSON; anything else is another.

    ``call`` is the id that the loop follows, so that what one call was granted serves no other.
    """

    call: str
    server: str
    tool: str
    arguments: str
    pin: str


def binding(call: HostCall) -> Binding:
    """What an approval of ``call`` is bound to.

    Raises: TypeError or ValueError for arguments that JSON cannot say.
    """
    return Binding(followed(), call.server, call.tool, canonical(call.input), call.pin)


class Grants:
    """The approvals that are still to be used, each with what the policy had said."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Followed, dict[Binding, list[Decision]]] = WeakKeyDictionary()

    def give(self, bound: Binding, decision: Decision) -> None:
        """Note that what is ``bound`` may be done once more."""
        self._of.setdefault(following_now(), {}).setdefault(bound, []).append(decision)

    def take(self, bound: Binding) -> Decision | None:
        """Use up one approval. None when there is none for exactly this."""
        granted = self._of.get(following_now(), {})
        decisions = granted.get(bound)
        if not decisions:
            return None
        decision = decisions.pop()
        if not decisions:
            del granted[bound]
        return decision

"""One thing that a reader of a review should look at, and the one way of quoting in its words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mini_agent.visible import visible

LONGEST_QUOTE = 120  # characters; what is cut is seen to be


@dataclass(frozen=True)
class Finding:
    """``what`` was found, in words, and ``where``: the path of the text or schema that holds it.

    A ``serious`` one is reason enough to deny: it is no accident of a careless author, or it would
    hurt even as one. ``quote`` is the server's own text, kept apart from ours: a reason to deny
    goes to the model, and must not bring it the very words that it was denied for.
    """

    kind: str
    where: str
    what: str
    serious: bool = False
    quote: str = ""

    @property
    def told(self) -> str:
        """Where and what, as part of a sentence, without the quote."""
        return f"its {quoted(self.where)} {self.what}"

    @property
    def sentence(self) -> str:
        """All of it."""
        return f"{self.told}{f': {quoted(self.quote)}' if self.quote else ''}."


def quoted(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Somebody else's words in quotation marks that they cannot close, made visible and cut."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return '"' + visible(cut).replace('"', "'") + '"'


def listed(texts: Iterable[str], most: int = 8) -> str:
    """Each of ``texts`` quoted, with commas between; after ``most``, how many more there are."""
    items = list(texts)
    more = [f"and {len(items) - most} more"] if len(items) > most else []
    return ", ".join([*(quoted(text, 60) for text in items[:most]), *more])

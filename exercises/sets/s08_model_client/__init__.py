"""Exercises of 08: where the same pattern is already."""

from exercises.machine import Set

SET = Set(
    "08_model_client",
    "Where is the same pattern already?",
    "A provider's stream comes in, the loop's own words go out, and nothing is guessed. At the end "
    "you build this bridge for a provider that nobody has seen yet.",
)

"""Exercises of 07: where a foreign tool becomes ours."""

from exercises.machine import Set

SET = Set(
    "07_adapter",
    "Where does a foreign tool become ours?",
    "The adapter knows both sides, so it decides what the model reads, under which name, and what "
    "only the host may see. Whoever is friendly in the wrong place hides a broken pipe.",
)

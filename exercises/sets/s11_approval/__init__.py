"""Exercises of 11: who says yes."""

from exercises.machine import Set

SET = Set(
    "11_approval",
    "Who says yes?",
    "Rules decide what need not be asked, a person decides the rest, and a yes is good for exactly "
    "what was shown. Each task takes one of the three.",
)

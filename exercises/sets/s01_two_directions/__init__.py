"""Exercises of 01: why not just call that API."""

from exercises.machine import Set

SET = Set(
    "01_two_directions",
    "Why not just call that API?",
    "Who chooses, who else must be able to ask, and who has to change when something changes: "
    "three questions to ask before anything is connected. Then one service more, written by hand.",
)

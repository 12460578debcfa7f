"""Exercises of 10: whose fault it was, and who must know."""

from exercises.machine import Set

SET = Set(
    "10_two_error_paths",
    "Whose fault was it, and who must know?",
    "A failure has two questions: who can do something about it, and may it have been done "
    "already? Answer both before anything runs, then write what a host does with the answers.",
)

"""Exercises of 12: what we let in."""

from exercises.machine import Set

SET = Set(
    "12_trust_boundary",
    "What did I let in?",
    "Everything that comes from a server was written by somebody else. Read it, keep what you "
    "read, decide, and write down what happened: a task for each.",
)

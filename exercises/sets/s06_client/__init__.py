"""Exercises of 06: what the protocol layer owns."""

from exercises.machine import Set

SET = Set(
    "06_client",
    "What does the protocol layer own?",
    "A client decides when to ask again and when to stop, and what becomes of a server that does "
    "not answer. Each of these tasks is one such decision.",
)

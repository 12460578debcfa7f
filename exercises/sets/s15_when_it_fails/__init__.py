"""Exercises of 15: who owns a failure, and what its owner may do."""

from exercises.machine import Set

SET = Set(
    "15_when_it_fails",
    "Which layer owns each failure?",
    "Once more, or never again? Say it for nine calls, rename a field under the feet of others, "
    "and settle a write whose answer is lost.",
)

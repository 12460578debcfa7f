"""Exercises of 09: the loop."""

from exercises.machine import Set

SET = Set(
    "09_agent_loop",
    "What is the loop, once all else has a home?",
    "One rule holds the loop together: each call has one result, in order, whatever happens. Say "
    "where each failure goes, keep the rule, mend what has broken it, and stop a run without "
    "breaking it.",
)

"""Exercises of 13: a real service behind MCP."""

from exercises.machine import Set

SET = Set(
    "13_refund_desk",
    "How does a real service stand behind MCP?",
    "A read that goes wrong is asked again; a write that goes wrong has happened. Here you count "
    "what has happened, make the key that keeps it at once, and put one more read in front.",
)

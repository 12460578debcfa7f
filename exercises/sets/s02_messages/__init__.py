"""Exercises of 02: what is on the wire."""

from exercises.machine import Set

SET = Set(
    "02_messages",
    "What is on the wire?",
    "Messages are values: no process and no network is needed to write one, to read one, or to "
    "refuse one. The last two tasks are the door through which everything comes in.",
)

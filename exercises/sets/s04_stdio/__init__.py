"""Exercises of 04: what a child process can do to us."""

from exercises.machine import Set

SET = Set(
    "04_stdio",
    "What can a child process do to me?",
    "A pipe carries bytes and forgets everything else. Where a line ends, whose answer it is, and "
    "that nobody is there any more: somebody has to know.",
)

"""Exercises of 03: what any transport must promise."""

from exercises.machine import Set

SET = Set(
    "03_transport",
    "What must any transport promise?",
    "The seam under the client is two methods wide. Here you stand on both sides of it: you are a "
    "server that is a list, a transport around another, and the test that finds a client out.",
)

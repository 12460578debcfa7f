"""Exercises of 05: what a network can do to us."""

from exercises.machine import Set

SET = Set(
    "05_http",
    "What can a network do to me?",
    "Over a network others answer too: gateways, login pages, nobody. Here you say what may have "
    "happened, what may be sent again, and what a header and an event stream really hold.",
)

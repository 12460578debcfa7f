"""Exercises of 17: which failure needs this layer."""

from exercises.machine import Set

SET = Set(
    "17_layers_you_do_not_need",
    "Which failure needs this layer?",
    "A layer is worth what it notices. Here you say who notices what, and build the two layers "
    "that the notebook says a calendar on a pipe does not need.",
)

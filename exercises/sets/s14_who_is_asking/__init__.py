"""Exercises of 14: who is asking, and who looks."""

from exercises.machine import Set

SET = Set(
    "14_who_is_asking",
    "Whose identity travels?",
    "A token is good at one place and for one thing, and an answer for one request. Say where and "
    "for what, forge what a careless client takes, and guard the way out.",
)

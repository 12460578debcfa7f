"""Exercises of 14: who is asking, and who looks."""

from exercises.machine import Set

SET = Set(
    "14_who_is_asking",
    "Whose identity travels?",
    "A token is good at one place, an answer to one request, a name at one address. Say where, "
    "forge what a careless client takes, and guard the way out.",
)

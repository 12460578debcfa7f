"""Exercises of 16: what a server offers beside its tools."""

from exercises.machine import Set

SET = Set(
    "16_resources_and_prompts",
    "What if the loop had a place for them?",
    "Who consumes it? Decide it for nine wishes, keep a model to one kind of address, and let a "
    "person begin a conversation.",
)

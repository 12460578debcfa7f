"""The capstone: a service of one's own, through the whole chain."""

from exercises.machine import Set

SET = Set(
    "capstone",
    "What will you build?",
    "One service of your own, from the process that it runs in to the notes that somebody else "
    "signs. It takes everything from 03 to 12, and ends where notebook 19 ends.",
)

"""Design notes of one service: made from a description and a review, written as a folder, checked.

``Notes`` is the description, ``write`` makes the folder, ``accept`` reads it and says which of the
three acceptance items hold.
"""

from mini_agent.design_notes.acceptance import Acceptance, accept
from mini_agent.design_notes.folder import write
from mini_agent.design_notes.notes import FAILURES, Failure, Notes

__all__ = ["FAILURES", "Acceptance", "Failure", "Notes", "accept", "write"]

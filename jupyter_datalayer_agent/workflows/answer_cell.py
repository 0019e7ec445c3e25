"""A question to the Strategist with its answer, as a cell of the scratchpad."""

from __future__ import annotations

import re

from ..protocol.history import Provenance, StrategistReply
from ..protocol.scratchpad import ScratchpadCell

ERROR = "error"
"""The turn and the provider in the provenance of a cell without an answer."""

CITED = re.compile(r"\]\(turn:([\w-]+)\)")


def answer_cell(question: str, reply: StrategistReply) -> ScratchpadCell:
    """The answer, or why there is none; its citations as links that JupyterLab's renderer keeps."""
    if reply.error is not None:
        return problem_cell(question, reply.error.message, reply.session_id)
    if not reply.reply.strip():
        return problem_cell(question, "it was stopped.", reply.session_id)
    text = CITED.sub(r"](#turn-\1)", reply.reply)
    return ScratchpadCell(
        content=f"{_asked(question)}\n\n{text}",
        turn_id=reply.turn_id,
        provenance=reply.provenance,
        session_id=reply.session_id,
    )


def problem_cell(question: str, message: str, session_id: str) -> ScratchpadCell:
    """A cell that says why there is no answer; its provenance names none."""
    return ScratchpadCell(
        content=f"{_asked(question)}\n\n> Not answered: {message}",
        provenance=Provenance(ai_turn_id=ERROR, provider_id=ERROR, response_type="batch"),
        session_id=session_id,
    )


def _asked(question: str) -> str:
    return f"**{' '.join(question.split())}**"

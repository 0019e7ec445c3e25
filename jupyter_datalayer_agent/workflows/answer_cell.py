"""A question to the Strategist with what came of it, as a cell of the scratchpad."""

from __future__ import annotations

import re

from ..protocol.history import StrategistReply
from ..protocol.scratchpad import ScratchpadCell

CITED = re.compile(r"\]\(turn:([\w-]+)\)")


def answer_cell(question: str, reply: StrategistReply) -> ScratchpadCell:
    """The answer, or why there is none; its citations as links that JupyterLab's renderer keeps."""
    if reply.error is not None:
        return problem_cell(question, reply.error.message)
    if not reply.reply.strip():
        return problem_cell(question, "it was stopped.")
    text = CITED.sub(r"](#turn-\1)", reply.reply)
    return ScratchpadCell(
        content=f"{_asked(question)}\n\n{text}",
        turn_id=reply.turn_id,
        provenance=reply.provenance,
        session_id=reply.session_id,
    )


def problem_cell(question: str, message: str) -> ScratchpadCell:
    """Why there is no answer."""
    return ScratchpadCell(content=f"{_asked(question)}\n\n> Not answered: {message}")


def _asked(question: str) -> str:
    return f"**{' '.join(question.split())}**"

"""What a session remembers of a message: its title, and what the person chose."""

from __future__ import annotations

from ..protocol.requests import Session, SessionSettings
from .targets import Submission

UNTITLED = "New chat"
TITLE_CHARACTERS = 60


def to_remember(record: Session, about: Submission) -> tuple[str | None, SessionSettings | None]:
    """The title, made of the first message; the mode, model and notebook where they are others
    than before. None for what stays."""
    title = None
    if record.title == UNTITLED:
        first = next((line.strip() for line in about.text.splitlines() if line.strip()), "")
        title = first[:TITLE_CHARACTERS] or None
    chosen = {
        "mode": about.request.mode,
        "model": about.request.model,
        "notebook": about.gate.target,
    }
    new = {
        name: value
        for name, value in chosen.items()
        if value is not None and value != getattr(record.settings, name)
    }
    return title, SessionSettings.model_validate(new) if new else None

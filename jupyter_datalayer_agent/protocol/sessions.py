"""Requests and replies about a whole session: forks, the list of its prompts, exports."""

from __future__ import annotations

from typing import Literal

from .base import Mode, TurnStatus, Wire

ExportFormat = Literal["md", "ipynb", "json"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = ("md", "ipynb", "json")


class ForkOrigin(Wire):
    """Where a session was forked from; its original may be gone since.

    ``turn_id`` is the last turn of the original that was copied, None where there was none.
    """

    session_id: str
    title: str
    turn_id: str | None = None


class ForkRequest(Wire):
    """Body of ``POST sessions/{id}/fork``: the last turn that is copied; left out, all are."""

    turn_id: str | None = None


class ChangedPath(Wire):
    """A document that a turn changed. ``cells`` counts the cells; 0 for a file as a whole."""

    path: str
    cells: int


class PromptStep(Wire):
    """A turn in the list of prompts. ``message`` is the first line of what the user wrote;
    ``withdrawn``: the user went back to before it."""

    turn_id: str
    index: int
    message: str
    mode: Mode
    status: TurnStatus
    started_at: int
    changes: list[ChangedPath] = []
    withdrawn: bool = False


class PromptsReply(Wire):
    """Answer of ``GET sessions/{id}/prompts``: every turn of the session, the oldest first."""

    prompts: list[PromptStep]

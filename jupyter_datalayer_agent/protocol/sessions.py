"""Requests and replies about a whole session: forks, the list of its prompts, exports."""

from __future__ import annotations

from typing import Literal

from .base import Mode, TurnStatus, Wire

# What was used: tokens, cost, time and tool calls, by day, model or session.


UsageBy = Literal["day", "model", "session"]


class UsageRow(Wire):
    """What was used in a day, by a model, or in a session.

    ``key`` is the day (``2026-11-22``, in the server's time zone), the model's name (empty for
    turns without one) or the session's id, empty for suggested next cells, which no session
    remembers; ``label`` is the session's title. ``cost`` is in US
    dollars and of the ``priced_calls`` only, None where there are none. ``duration_ms`` is the time
    that turns took.
    """

    key: str
    label: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    total_tokens: int = 0
    model_calls: int = 0
    priced_calls: int = 0
    cost: float | None = None
    turns: int = 0
    duration_ms: float = 0
    tool_calls: int = 0
    tool_errors: int = 0


class UsageReply(Wire):
    """Answer of ``GET usage``: rows of the last ``days`` days, today included, and their sum.

    Days are in order, the newest first; models and sessions by their tokens, the most first.
    Sessions that were deleted are not in it; of a fork, only what it did itself.
    """

    by: UsageBy
    days: int
    since: int
    total: UsageRow
    rows: list[UsageRow]


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

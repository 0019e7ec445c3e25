"""Answers of several models to one message: what each read, said and cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from .base import Wire
from .errors import ErrorCode
from .tools import ToolCallStatus

# What names an answer.


ResponseType = Literal["batch", "synthesis", "summary", "plan", "proposal"]
"""``batch``: a direct answer; ``synthesis``: drawn from other
turns (the Strategist's) or from the answers of several models;
``summary``: of compacted turns; ``plan``; ``proposal``: code for the user to accept."""


class Provenance(Wire):
    """What names one answer for ever.

    ``provider_id`` is the model's provider as litellm names it, ``workflow`` where no model
    answered, ``error`` where nothing did. An answer asked again of another model of the same
    provider has another index.
    """

    ai_turn_id: str
    provider_id: str
    response_type: ResponseType
    response_index: int = Field(default=0, ge=0)


MOST_MODELS = 4
"""How many models may answer at once."""


def different_models(models: Sequence[str], *, at_least: int) -> list[str]:
    """The names of models that are asked at once. Raises ``ValueError`` for too few, too many, and
    one that is named twice."""
    names = [name.strip() for name in models]
    if not at_least <= len(names) <= MOST_MODELS:
        raise ValueError(f"name {at_least} to {MOST_MODELS} models, not {len(names)}")
    if not all(names):
        raise ValueError("the name of a model is empty")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is named twice; name different models")
    return names


class Usage(Wire):
    """Tokens: of a model call, a turn or (``session_tokens``) the session so far.

    ``cost`` is in US dollars, None where no price is known; where a turn's calls are priced in
    part, it is the sum of those that are. ``estimated``: the provider counted nothing, at least
    for a part.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    total_tokens: int = 0
    session_tokens: int = 0
    cost: float | None = None
    session_cost: float | None = None
    estimated: bool = False


class ToolCallRecord(Wire):
    """A tool call as the turn kept it: ``output`` is the whole output, before any cut.
    ``answer_id`` is the answer of a comparison whose model made the call."""

    call_id: str
    name: str
    arguments: Any = None
    status: ToolCallStatus | Literal["running"]
    output: Any = None
    duration_ms: float | None = None
    answer_id: str | None = None


class CitedAnswer(Wire):
    """An answer that a synthesis is of, under the ``number`` by which the synthesis cites it, as in
    "[1]"; without an ``answer_id`` the turn's own. ``cited``: the text cites it."""

    number: int
    answer_id: str | None = None
    model: str
    provenance: Provenance
    cited: bool = False


class FurtherAnswer(Wire):
    """What another model answered to the message of a turn, or with ``sources`` the synthesis of
    its answers. ``usage`` and ``duration_ms`` are None of those that earlier versions kept."""

    answer_id: str
    model: str
    text: str
    provenance: Provenance
    created_at: int
    usage: Usage | None = None
    duration_ms: float | None = None
    tool_calls: list[ToolCallRecord] = []
    sources: list[CitedAnswer] | None = None


class AnswerFailure(Wire):
    """A model of a comparison that gave no complete answer, and why."""

    answer_id: str
    model: str
    status: Literal["stopped", "failed"]
    code: ErrorCode | None = None
    message: str | None = None

"""What names an answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Wire

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

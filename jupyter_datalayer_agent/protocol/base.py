"""The model that everything on the wire derives from, and the ids and times it uses."""

from __future__ import annotations

import secrets
import time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from .limits import MAX_NAME_CHARACTERS

Name = Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)]
"""The name or id of something, in a request."""

Mode = Literal["ask", "edit", "agent"]
NotebookMode = Literal["off", "read-only", "full"]
Location = Literal["panel", "inline", "magic", "api"]
ApprovalPolicy = Literal["never", "destructive", "always"]
SharePolicy = Literal["always", "ask", "never"]
"""Whether something may go to the model: outputs, or rows of data."""
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Audience = Literal["page", "stream", "none"]
"""Who can answer a turn's questions: a page (which may take as long as it likes), a program that
listens, or nobody (``POST chat``)."""
SessionKind = Literal["chat", "strategist"]
TurnStatus = Literal["running", "completed", "failed", "aborted"]


class Wire(BaseModel):
    """Snake case in Python, camelCase in JSON; unknown fields are an error that names them."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        ser_json_inf_nan="constants",
    )

    def to_wire(self) -> dict[str, object]:
        """The JSON object, with camelCase keys and without fields that are not set (None)."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def new_id(prefix: str) -> str:
    """An id that sorts by time: ``prefix_`` + 11 hex digits of milliseconds + 10 random ones."""
    return f"{prefix}_{time.time_ns() // 1_000_000:011x}{secrets.token_hex(5)}"


def now_ms() -> int:
    """Milliseconds since 1970, the unit of every time on the wire."""
    return time.time_ns() // 1_000_000

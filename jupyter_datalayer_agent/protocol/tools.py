"""What a tool returns, and how tools are listed."""

from __future__ import annotations

from typing import Any, Literal

from .base import Location, Mode, Wire
from .sharing import ShareKind

ToolErrorCode = Literal[
    "not_found",
    "stale",
    "invalid_arguments",
    "not_allowed",
    "denied",
    "kernel_error",
    "timeout",
    "aborted",
    "too_large",
    "internal",
]

# What a message lacks for the gate: Agent mode, or a notebook that is attached and active.
Lack = Literal["mode", "notebook"]
ToolCallStatus = Literal["ok", "error", "denied", "aborted"]
ChangeOp = Literal["insert", "update", "delete", "move", "create", "write"]


class Change(Wire):
    """One change to a document, read back after it was made.

    ``before`` and ``after`` are sources (None where the cell did not, or does not, exist);
    ``index`` is the cell's place afterwards (before, for a removal), counted from 0. ``cell_id``
    is None for a change to a whole file.
    """

    path: str
    op: ChangeOp
    cell_id: str | None = None
    index: int | None = None
    before: str | None = None
    after: str | None = None
    cell_type: Literal["code", "markdown", "raw"] | None = None


class ToolError(Wire):
    """Why a tool did not do what was asked, for the model: ``hint`` says what would be right."""

    code: ToolErrorCode
    message: str
    hint: str | None = None


class ToolResult(Wire):
    """What a tool did. ``ok`` is true only after the result was read back.

    ``output`` is JSON: what the model reads, whole (the copy sent to the model may be cut, and may
    lack what is ``withheld`` from it).
    """

    ok: bool
    name: str
    output: Any = None
    error: ToolError | None = None
    changes: list[Change] | None = None
    duration_ms: float = 0
    withheld: list[ShareKind] | None = None


class ToolCallRequest(Wire):
    """Body of ``POST tools/{name}``: an explicit ``path`` counts as attached and active."""

    arguments: dict[str, Any] = {}
    path: str | None = None
    session_id: str | None = None
    mode: Mode = "agent"
    client_id: str | None = None


class ToolListing(Wire):
    """One tool as ``GET tools`` shows it; ``reason`` says why it is not enabled."""

    name: str
    description: str
    parameters: dict[str, Any]
    group: str
    changes: bool
    destructive: bool
    parallel: bool
    aliases: list[str] = []
    enabled: bool
    reason: str | None = None


class ToolsReply(Wire):
    """Answer of ``GET tools``."""

    mode: Mode
    location: Location
    notebook_mode: Literal["off", "read-only", "full"]
    tools: list[ToolListing]

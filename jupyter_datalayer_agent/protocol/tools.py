"""What a tool returns, and how tools are listed."""

from __future__ import annotations

from typing import Any, Literal

from .base import Location, Mode, SharePolicy, Wire

# What may go to the model, and what is asked before something does.


ShareKind = Literal["outputs", "row_data"]

PRIVATE_NOTE = "datalayerPrivate"
"""A key of an item in the history which contains something private; it is never sent:
``{"kinds": [...], "bare": the item's text without them}``."""


class SharingNow(Wire):
    """What may go to the model, as it applies to a turn; ``locked`` by the administrator."""

    outputs: SharePolicy = "always"
    row_data: SharePolicy = "always"
    locked: list[ShareKind] = []


class ShareRequest(Wire):
    """With an approval: what is about to be sent to the model.

    ``text`` is what the model reads when the user agrees, ``withheld`` what it reads otherwise;
    ``pictures`` are so many that go along. ``ok``: the call that it comes from went well.
    """

    kinds: list[ShareKind]
    text: str
    withheld: str
    pictures: int = 0
    ok: bool = True


# Files of the server root that count once the user has allowed them as they are.


class FolderFileDecision(Wire):
    """Body of ``PUT instructions`` and ``PUT mcp-folder-file``: the content that the user saw, and
    whether it may be used."""

    content_hash: str
    allowed: bool


class FolderInstructions(Wire):
    """``AGENTS.md`` of the server root. Its ``text`` is what is sent, only while it is ``allowed``,
    which holds for the content with ``content_hash`` alone; ``has_changed``: it was allowed with
    another. ``declined``: the user does not want to be asked about this content."""

    path: str
    content_hash: str
    text: str
    allowed: bool
    has_changed: bool
    declined: bool


class InstructionsReply(Wire):
    """Answer of ``GET instructions``; without a ``file``, ``problem`` is why one is not read."""

    file: FolderInstructions | None = None
    problem: str | None = None


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
    "held_back",
    "cut_off",
    "server_error",
    "internal",
]

# What the gate requires of a message: Agent mode, or a notebook that is attached and active.
MissingRequirement = Literal["mode", "notebook"]
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


class CodePart(Wire):
    """Code that would run: the ``subject`` ("Cell 2") names it, and ``cell_id`` is the cell's (or
    the block's), None where it has none yet."""

    subject: str
    source: str
    cell_id: str | None = None


class NotDone(Wire):
    """What of the changes and runs that a turn tried did not come about, though it ended as if all
    were well. ``message`` is for the user; ``call_id`` is the call that it is about.
    ``call_as_text``: the answer has a tool call as text, which was not carried out."""

    kind: Literal["change_failed", "run_failed", "call_failed", "nothing_done", "call_as_text"]
    message: str
    call_id: str | None = None


class TurnFacts(Wire):
    """What a turn did, counted from the results of its calls. ``changed`` are
    cells, and documents that were changed as a whole; ``runs`` cells, blocks and pieces of code;
    ``errors`` those of them whose last run failed. ``other_calls`` did something else, or may have.
    ``message`` says it to the user."""

    changed: int = 0
    runs: int = 0
    errors: int = 0
    other_calls: int = 0
    message: str


class ToolLabel(Wire):
    """What a tool does, for a user: ``action`` as they are asked for it ("Run cells"), and
    ``activity`` while it is done ("Running cells"). "cells" or "a cell" at the end stands for
    those that the arguments name, "a file" for the one of ``path``."""

    action: str
    activity: str


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


class CodeChange(Wire):
    """A cell's source before and after a change; ``before`` is empty for a new cell."""

    before: str = ""
    after: str


class ActsRequest(Wire):
    """Body of ``POST acts``: sources that are about to be changed so, and run, in the notebook."""

    path: str
    client_id: str | None = None
    changes: list[CodeChange]


class ActsReply(Wire):
    """Answer of ``POST acts``: what the changed code would do beyond the kernel that it did not do
    before, as text; nothing where there is none."""

    reason: str | None = None


class ToolCallRequest(Wire):
    """Body of ``POST tools/{name}``: an explicit ``path`` counts as attached and active."""

    arguments: dict[str, Any] = {}
    path: str | None = None
    session_id: str | None = None
    mode: Mode = "agent"
    client_id: str | None = None


class ToolListing(Wire):
    """One tool as ``GET tools`` shows it: ``description`` is written for the model, ``label`` for
    users, None where the tool declares none; ``reason`` says why it is not enabled."""

    name: str
    label: ToolLabel | None = None
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

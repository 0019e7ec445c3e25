"""Files of the server root that count once the user has allowed them as they are."""

from __future__ import annotations

from .base import Wire


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

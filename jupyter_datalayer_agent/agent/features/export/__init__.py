"""A conversation as text: for people (Markdown), for Jupyter (a notebook), for programs (JSON)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....models.errors import redact
from ....protocol.requests import Session, Turn
from ....protocol.sessions import ExportFormat
from .as_json import as_json
from .as_markdown import as_markdown
from .as_notebook import as_notebook

if TYPE_CHECKING:
    from ....store.store import Store

WRITERS: dict[ExportFormat, Callable[[Session, list[Turn]], str]] = {
    "md": as_markdown,
    "ipynb": as_notebook,
    "json": as_json,
}
PAGE = 100


async def exported(store: Store, session_id: str, kind: ExportFormat) -> tuple[Session, str]:
    """The session and its conversation as text, without what looks like a key.

    Raises ``AgentError`` ``not_found``.
    """
    session = await store.sessions.get(session_id)
    turns: list[Turn] = []
    before = None
    while True:
        page = await store.turn_reader.list_page(session_id, PAGE, before)
        turns[:0] = page.turns
        before = page.before
        if before is None:
            return session, redact(WRITERS[kind](session, turns))

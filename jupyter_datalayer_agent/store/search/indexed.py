"""The texts that are in the index: messages, answers, and what was written into documents."""

from __future__ import annotations

from ..encoding import from_json, plain_text

TEXT = """CASE s.role WHEN 'user' THEN t.message WHEN 'assistant' THEN t.reply
        WHEN 'answer' THEN (SELECT text FROM responses WHERE id = s.change_id)
        ELSE (SELECT data FROM changes WHERE id = s.change_id) END"""
"""Of a row ``s`` of ``search_texts`` and its turn ``t``: what ``text_of`` makes a text of."""

TEXTS_OF_BLOCK = f"""
    SELECT s.role, {TEXT} FROM search_texts AS s CROSS JOIN turns AS t ON t.id = s.turn_id
    WHERE s.id > ? AND s.id <= ?"""


def text_of(role: str, value: str) -> str:
    """The text of a row. A change is kept as JSON, where a character may be cut in half."""
    return value if role != "code" else plain_text(from_json(value)["after"])


def path_of(role: str, value: str) -> str | None:
    """The document into which it was written; None for what was said."""
    path: str | None = from_json(value)["path"] if role == "code" else None
    return path

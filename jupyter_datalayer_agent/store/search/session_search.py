"""Finds the sessions that have a text in their title or in one of the user's messages.

A text of three characters and more is looked up in the indexes of trigrams. A shorter one, and one
that very many texts have, is found sooner by going through the sessions from the newest on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from ..encoding import plain_text
from .texts import Query

MOST = 2_000
"""Texts that are looked at; one that more have is common enough to be found among the newest."""

MESSAGES = """
    SELECT s.session_id, t.message
    FROM search_index AS f
    CROSS JOIN search_texts AS s ON s.id = f.rowid CROSS JOIN turns AS t ON t.id = s.turn_id
    WHERE f.search_index MATCH :match AND s.role = 'user'"""
TITLES = """
    SELECT n.session_id, f.title FROM session_titles AS f
    CROSS JOIN session_names AS n ON n.id = f.rowid
    WHERE f.session_titles MATCH :match LIMIT :most"""
MATCHES = "SELECT rowid FROM search_index WHERE search_index MATCH :match LIMIT :most"


def sessions_with(connection: sqlite3.Connection, text: str) -> set[str] | None:
    """The ids of the sessions that have ``text``, ignoring case; None where it is
    too short or too common for the index."""
    query = Query.whole(plain_text(text))
    if query.match is None or "\0" in text:
        return None
    values = {"match": query.match, "most": MOST}
    matches = connection.execute(MATCHES, values).fetchall()
    titles = connection.execute(TITLES, values).fetchall()
    if max(len(matches), len(titles)) >= MOST:
        return None
    return {session for session, found in _all(connection, values, titles) if query.in_text(found)}


def _all(
    connection: sqlite3.Connection, values: dict[str, object], titles: list[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    yield from titles
    yield from connection.execute(MESSAGES, values)

"""Finds what was said and written: any part of any text, the newest first.

Queries of three characters and more go to an FTS5 index of trigrams (``search_index``), which is
walked from its newest row and left at the limit. Shorter ones go to an index that says which
blocks of texts have them (``search_short``, see grams.py); the newest texts, which are in no block
yet, are looked through. One session is looked through, too, where it is not a very long one.

The index is contentless: texts are read from the turns, by their numbers in ``search_texts``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ...protocol.history import SearchHit
from ..encoding import plain_text
from .grams import BLOCK, fold, gram, spellings
from .indexed import TEXT, path_of, text_of
from .snippets import snippet

if TYPE_CHECKING:
    import sqlite3

TRIGRAM = 3
LONG_SESSION = 2_000
"""Texts of a session that are looked through one by one; a longer one is searched by the index."""
MAX_CANDIDATES = 2_000
"""Texts that are looked at for the short words of a query whose long words the index has."""

_COLUMNS = f"""
    s.session_id, n.title, s.turn_id, s.role, {TEXT},
    CASE s.role WHEN 'user' THEN t.started_at ELSE coalesce(t.ended_at, t.started_at) END"""
_JOINED = (
    "CROSS JOIN turns AS t ON t.id = s.turn_id CROSS JOIN sessions AS n ON n.id = s.session_id"
)
# A fork has its original's turns again: they are shown once, unless the fork itself is searched.
_ORIGINAL = "NOT EXISTS (SELECT 1 FROM turns AS o WHERE o.id = t.copied_from)"

MATCHING = f"""
    SELECT {_COLUMNS} FROM search_index AS f
    CROSS JOIN search_texts AS s ON s.id = f.rowid {_JOINED}
    WHERE f.search_index MATCH :match AND {_ORIGINAL} ORDER BY f.rowid DESC"""
MATCHING_IN_SESSION = f"""
    SELECT {_COLUMNS} FROM search_index AS f
    CROSS JOIN search_texts AS s ON s.id = f.rowid {_JOINED}
    WHERE f.search_index MATCH :match AND f.rowid BETWEEN :first AND :last
    AND s.session_id = :session ORDER BY f.rowid DESC"""
BLOCKS = "SELECT rowid FROM search_short WHERE search_short MATCH :match ORDER BY rowid DESC"
NUMBERED = f"""
    SELECT {_COLUMNS} FROM search_texts AS s {_JOINED}
    WHERE s.id > :after AND s.id <= :last AND {_ORIGINAL} ORDER BY s.id DESC"""
OF_SESSION = f"""
    SELECT {_COLUMNS} FROM search_texts AS s {_JOINED}
    WHERE s.session_id = :session ORDER BY s.id DESC"""
COUNT = f"""
    SELECT count(*) FROM (
        SELECT 1 FROM search_texts WHERE session_id = :session LIMIT {LONG_SESSION + 1})"""
BOUNDS = "SELECT min(id), max(id) FROM search_texts WHERE session_id = :session"
SEALED = "SELECT max(blocks) FROM search_sealed"

Row = tuple[str, str, str, str, str, int]
"""Session, its title, turn, role, what ``text_of`` makes a text of, time."""


@dataclass(frozen=True)
class Query:
    """What is looked for: one of these spellings as a whole, or each of these words."""

    alternatives: tuple[tuple[str, ...], ...]

    @classmethod
    def whole(cls, text: str) -> Query:
        """The text as given."""
        return cls((spellings(text),))

    @classmethod
    def words(cls, text: str) -> Query | None:
        """Each of its words; None where that says no more than the whole, or no word is long."""
        words = list(dict.fromkeys(text.split()))
        if len(words) < 2 or max(map(len, words)) < TRIGRAM:
            return None
        return cls(tuple(spellings(word) for word in words))

    @property
    def match(self) -> str | None:
        """An FTS5 expression for the parts that the trigram index has, or None."""
        parts = [
            "(" + " OR ".join(map(expression, part)) + ")"
            for part in self.alternatives
            if min(map(len, part)) >= TRIGRAM
        ]
        return " AND ".join(parts) or None

    @property
    def complete(self) -> bool:
        """Whether ``match`` has every part."""
        return all(min(map(len, part)) >= TRIGRAM for part in self.alternatives)

    def in_text(self, text: str) -> bool:
        """Whether a text has what is looked for."""
        folded = fold(text)
        return all(any(each in folded for each in part) for part in self.alternatives)


def search(
    connection: sqlite3.Connection, query: str, limit: int, session_id: str | None
) -> list[SearchHit]:
    """See ``HistoryQueries.search``. Every character of ``query`` is taken as it is."""
    text = plain_text(query).strip()
    if not text or "\0" in text:
        return []
    for wanted in (Query.whole(text), Query.words(text)):
        if wanted is None:
            break
        rows = list(islice(_find(connection, wanted, session_id), limit))
        if rows:
            return [_hit(row, wanted) for row in rows]
    return []


def _find(connection: sqlite3.Connection, query: Query, session_id: str | None) -> Iterator[Row]:
    if session_id is not None:
        return _in_session(connection, query, session_id)
    if query.match is None:
        return _short(connection, query)
    rows = connection.execute(MATCHING, {"match": query.match})
    return _having(rows if query.complete else islice(rows, MAX_CANDIDATES), query)


def _in_session(connection: sqlite3.Connection, query: Query, session_id: str) -> Iterator[Row]:
    session = {"session": session_id}
    (count,) = connection.execute(COUNT, session).fetchone()
    if count <= LONG_SESSION or query.match is None:
        return _having(connection.execute(OF_SESSION, session), query)
    first, last = connection.execute(BOUNDS, session).fetchone()
    values = {**session, "match": query.match, "first": first, "last": last}
    return _having(connection.execute(MATCHING_IN_SESSION, values), query)


def _short(connection: sqlite3.Connection, query: Query) -> Iterator[Row]:
    """The newest texts, which are in no block, then the blocks that have it."""
    sealed = connection.execute(SEALED).fetchone()[0] or 0
    newest = {"after": sealed * BLOCK, "last": 1 << 62}
    yield from _having(connection.execute(NUMBERED, newest), query)
    (whole,) = query.alternatives
    match = " OR ".join(f'"{gram(each[:2])}"' for each in whole)
    for (block,) in connection.execute(BLOCKS, {"match": match}):
        texts = {"after": (block - 1) * BLOCK, "last": block * BLOCK}
        yield from _having(connection.execute(NUMBERED, texts), query)


def _having(rows: Iterator[Row] | sqlite3.Cursor, query: Query) -> Iterator[Row]:
    return (row for row in rows if query.in_text(text_of(row[3], row[4])))


def expression(text: str) -> str:
    """What finds a text of three characters and more, and little besides.

    As a phrase SQLite would compare the positions of each of its trigrams, which takes long where
    most texts have them. Every third one says nearly as much: those within the text's length of
    each other, unless one is there twice. What is found is looked through in any case.
    """
    places = sorted({*range(0, len(text) - 2, TRIGRAM), len(text) - TRIGRAM})
    trigrams = [text[place : place + TRIGRAM] for place in places]
    if len(text) < 2 * TRIGRAM or len(set(trigrams)) < len(trigrams):
        return _quoted(text)
    return f"NEAR({' '.join(map(_quoted, trigrams))}, {len(text) - TRIGRAM - 1})"


def _quoted(text: str) -> str:
    escaped = text.replace('"', '""')
    return f'"{escaped}"'


def _hit(row: Row, query: Query) -> SearchHit:
    session_id, title, turn_id, role, value, at = row
    shown, marks = snippet(
        text_of(role, value), [each for part in query.alternatives for each in part]
    )
    return SearchHit.model_validate(
        {
            "session_id": session_id,
            "session_title": title,
            "turn_id": turn_id,
            "role": "user" if role == "user" else "assistant",
            "path": path_of(role, value),
            "snippet": shown,
            "marks": marks,
            "created_at": at,
        }
    )

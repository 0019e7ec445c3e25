"""Search over all sessions."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from ..protocol.history import Mark, SearchHit
from .encoding import from_json, plain_text

# An index of characters and pairs of characters, for queries that are too short for trigrams.
#
# One row for each block of ``BLOCK`` texts lists the characters and pairs that occur in the block,
# so that each block that is searched contains at least one hit (unless that was deleted since).


BLOCK = 64
"""Texts in a block, by their numbers: block 1 has the texts 1 to 64."""


def fold(text: str) -> str:
    """The text in lower case, with every character at its former position."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := each.lower()) == 1 else each for each in text)


def spellings(query: str) -> tuple[str, ...]:
    """The query as given, and with accents composed and decomposed: texts may have either form."""
    forms = (query, unicodedata.normalize("NFC", query), unicodedata.normalize("NFD", query))
    return tuple(dict.fromkeys(fold(form) for form in forms))


def gram(text: str) -> str:
    """One or two characters, encoded as a word that the index does not alter."""
    return "x".join(f"{ord(each):x}" for each in text)


def grams(texts: Iterable[str]) -> str:
    """The characters and pairs in a block's texts as words, except those with white space."""
    parts: set[str] = set()
    for text in texts:
        folded = fold(text)
        parts.update(folded)
        parts.update(map("".join, pairwise(folded)))
    return " ".join(gram(part) for part in parts if not any(map(str.isspace, part)))


# The indexed texts: messages, answers, and text that was written into documents.


TEXT = """CASE s.role WHEN 'user' THEN t.message WHEN 'assistant' THEN t.reply
        WHEN 'answer' THEN (SELECT text FROM responses WHERE id = s.change_id)
        ELSE (SELECT data FROM changes WHERE id = s.change_id) END"""
"""The value from which ``text_of`` makes a text, for a row ``s`` of ``search_texts`` and its turn
``t``."""

TEXTS_OF_BLOCK = f"""
    SELECT s.role, {TEXT} FROM search_texts AS s CROSS JOIN turns AS t ON t.id = s.turn_id
    WHERE s.id > ? AND s.id <= ?"""


def text_of(role: str, value: str) -> str:
    """The text of a row. A change is stored as JSON, which may contain half a character."""
    return value if role != "code" else plain_text(from_json(value)["after"])


def path_of(role: str, value: str) -> str | None:
    """The document into which a text was written; None for a message or an answer."""
    path: str | None = from_json(value)["path"] if role == "code" else None
    return path


# The part of a text that shows the hits, and their positions in it.


BEFORE = 60
LENGTH = 240
"""Characters shown before the first hit, and in all."""
MAX_MARKS = 20
_SPACE = re.compile(r"\s")


def snippet(text: str, wanted: Sequence[str]) -> tuple[str, list[Mark]]:
    """A line of ``text`` around the first of ``wanted`` (folded), with a mark for each hit in it.

    White space is shown as single blanks, character for character, so that code stays readable.
    """
    folded = fold(text)
    places = [place for each in wanted if (place := folded.find(each)) >= 0]
    first = min(places, default=0)
    start = max(0, min(first - BEFORE, len(text) - LENGTH))
    end = min(len(text), start + LENGTH)
    head, tail = "…" if start else "", "…" if end < len(text) else ""
    window = _SPACE.sub(" ", text[start:end])
    shown = f"{head}{window}{tail}"
    marks = [
        Mark(start=_utf16(shown, len(head) + a), end=_utf16(shown, len(head) + b))
        for a, b in _hits(folded[start:end], wanted)
    ]
    return shown, marks


def _hits(window: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """The positions of the hits in order, with overlapping ones joined."""
    hits: list[tuple[int, int]] = []
    for each in wanted:
        place = window.find(each)
        while place >= 0 and len(hits) < MAX_MARKS * 2:
            hits.append((place, place + len(each)))
            place = window.find(each, place + len(each))
    joined: list[tuple[int, int]] = []
    for a, b in sorted(hits):
        if joined and a <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return joined[:MAX_MARKS]


def _utf16(text: str, end: int) -> int:
    """A position in a text, in UTF-16 code units."""
    return len(text[:end].encode("utf-16-le", "surrogatepass")) // 2


# Searches any part of any text, newest first.
#
# Queries of three characters or more use an FTS5 index of trigrams (``search_index``), which is
# read from its newest row until the limit is reached. Shorter ones use an index of the blocks that
# contain them (``search_short``, see above); the newest texts, which are in no block yet, are
# scanned. A search in one session also scans its texts, unless there are very many.
#
# The index is contentless: texts are read from the turns, by their numbers in ``search_texts``.


TRIGRAM = 3
LONG_SESSION = 2_000
"""The most texts of a session that are scanned; a longer session is searched by the index."""
MAX_CANDIDATES = 2_000
"""The most texts with a query's long words, as the index has them, that are scanned for the short
ones."""

_COLUMNS = f"""
    s.session_id, n.title, s.turn_id, s.role, {TEXT},
    CASE s.role WHEN 'user' THEN t.started_at ELSE coalesce(t.ended_at, t.started_at) END"""
_JOINED = (
    "CROSS JOIN turns AS t ON t.id = s.turn_id CROSS JOIN sessions AS n ON n.id = s.session_id"
)
# A fork repeats its original's turns. They are shown once, unless the fork itself is searched.
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
    """The query: each part is a text or a word with its spellings, one of which must occur."""

    alternatives: tuple[tuple[str, ...], ...]

    @classmethod
    def whole(cls, text: str) -> Query:
        """The text as given."""
        return cls((spellings(text),))

    @classmethod
    def words(cls, text: str) -> Query | None:
        """The text's words; None if there is only one, or if none is long enough for the index."""
        words = list(dict.fromkeys(text.split()))
        if len(words) < 2 or max(map(len, words)) < TRIGRAM:
            return None
        return cls(tuple(spellings(word) for word in words))

    @property
    def match(self) -> str | None:
        """An FTS5 expression for the parts that the trigram index can find, or None."""
        parts = [
            "(" + " OR ".join(map(expression, part)) + ")"
            for part in self.alternatives
            if min(map(len, part)) >= TRIGRAM
        ]
        return " AND ".join(parts) or None

    @property
    def complete(self) -> bool:
        """Whether ``match`` covers every part."""
        return all(min(map(len, part)) >= TRIGRAM for part in self.alternatives)

    def in_text(self, text: str) -> bool:
        """Whether a text contains every part."""
        folded = fold(text)
        return all(any(each in folded for each in part) for part in self.alternatives)


def search(
    connection: sqlite3.Connection, query: str, limit: int, session_id: str | None
) -> list[SearchHit]:
    """See ``HistoryQueries.search``. No character of ``query`` has a special meaning."""
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
    """Search the newest texts, which are in no block yet, then the blocks that match."""
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
    """An FTS5 expression that matches a text of three characters or more, and little besides.

    For a phrase, SQLite compares the positions of all trigrams, which takes long if most texts have
    them. Every third trigram, within the text's length of each other, is nearly as selective,
    unless one occurs twice. The rows that match are checked in any case.
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


# Finds the sessions that have a text in their title or in one of the user's messages.
#
# A text of three characters or more is looked up in the trigram indexes. A shorter one, and one
# that very many texts contain, is found faster by scanning the sessions, newest first.


MOST = 2_000
"""The most matches that are read. A query with more is common enough to scan for instead."""

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
    """The ids of the sessions that contain ``text``, ignoring case; None if it is too short or too
    common for the index."""
    query = Query.whole(plain_text(text))
    if query.match is None or "\0" in text:
        return None
    values = {"match": query.match, "most": MOST}
    matches = connection.execute(MATCHES, values).fetchall()
    titles = connection.execute(TITLES, values).fetchall()
    if max(len(matches), len(titles)) >= MOST:
        return None
    return {session for session, text in _all(connection, values, titles) if query.in_text(text)}


def _all(
    connection: sqlite3.Connection, values: dict[str, object], titles: list[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    yield from titles
    yield from connection.execute(MESSAGES, values)

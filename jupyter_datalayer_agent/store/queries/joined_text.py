"""The text of a turn that has ended, kept in one piece and not as it was streamed.

Pieces of one item whose numbers follow each other, with no other event between, become one event
with the number of the last of them. It keeps how long each piece was: a reader who has had some of
them is given the rest, nothing twice and nothing left out. What was reverted is dropped.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..encoding import from_json, to_json
from .replay import DELTAS

PIECES_A_STEP = 500
"""How many events one step joins at most: some milliseconds of the writer's time."""
COST_OF_A_TURN = 10
"""As many pieces as looking through one turn takes the time of."""

_ENCODING = ("utf-16-le", "surrogatepass")
"""Lengths are those of UTF-16: a piece may end within a character."""

_OF_TURN = "session_id = :session AND seq >= :{} AND seq < :{} AND turn_id = :turn"
_FROM_HERE = _OF_TURN.format("next", "end")
_TEXT = f"type IN ({', '.join(map(repr, DELTAS))})"

NEXT_TURN = """
    SELECT t.id, t.session_id, t.first_seq, u.next_seq, coalesce(
        (SELECT n.first_seq FROM turns AS n
         WHERE n.session_id = t.session_id AND n.position = t.position + 1), 1 << 62)
    FROM unjoined_turns AS u JOIN turns AS t ON t.id = u.turn_id LIMIT 1"""
TAKEN_BACK = f"""
    SELECT seq, json_extract(data, '$.itemId') FROM events
    WHERE {_FROM_HERE} AND type = 'item_discarded' ORDER BY seq"""
DROP = f"""
    DELETE FROM events WHERE {_OF_TURN.format("first", "discarded")} AND {_TEXT}
    AND json_extract(data, '$.itemId') = :item"""
PIECES = f"""
    SELECT seq, type, data, pieces FROM events WHERE {_FROM_HERE} AND {_TEXT}
    ORDER BY seq LIMIT :limit"""
KEEP = "UPDATE events SET data = ?, pieces = ? WHERE session_id = ? AND seq = ?"
REMOVE = "DELETE FROM events WHERE session_id = ? AND seq = ?"
GO_ON = "UPDATE unjoined_turns SET next_seq = ? WHERE turn_id = ?"
DONE = "DELETE FROM unjoined_turns WHERE turn_id = ?"
LOOK_AGAIN = """
    INSERT OR IGNORE INTO unjoined_turns (turn_id, next_seq) SELECT id, first_seq FROM turns
    WHERE id = ? AND status <> 'running'"""
"""More text of a turn came after its end."""


@dataclass
class _Run:
    """Pieces of one item that follow each other: their numbers, lengths and texts."""

    key: tuple[str, str]
    seqs: list[int]
    lengths: list[int]
    texts: list[bytes]
    last: dict[str, Any]

    @property
    def first(self) -> int:
        """The number of its first piece."""
        return self.seqs[-1] - len(self.lengths) + 1

    def takes(self, other: _Run) -> bool:
        """Take what follows it at once, if it is more of the same text."""
        if self.key != other.key or self.seqs[-1] + 1 != other.first:
            return False
        self.seqs += other.seqs
        self.lengths += other.lengths
        self.texts += other.texts
        self.last = other.last
        return True


def is_unjoined(connection: sqlite3.Connection) -> bool:
    """Whether there is text to be joined."""
    return connection.execute("SELECT 1 FROM unjoined_turns LIMIT 1").fetchone() is not None


def join_some(connection: sqlite3.Connection) -> bool:
    """One step; its work is bounded, whatever the size of the database. False: nothing is left."""
    left = PIECES_A_STEP
    while left > 0:
        found = connection.execute(NEXT_TURN).fetchone()
        if found is None:
            return False
        left -= COST_OF_A_TURN + _join_turn(connection, found)
    return True


def _join_turn(connection: sqlite3.Connection, found: tuple[str, str, int, int, int]) -> int:
    """Join the next of a turn's pieces; how many there were."""
    turn: dict[str, Any] = dict(
        zip(("turn", "session", "first", "next", "end"), found, strict=True)
    )
    for seq, item in connection.execute(TAKEN_BACK, turn).fetchall():
        connection.execute(DROP, {**turn, "discarded": seq, "item": item})
    rows = connection.execute(PIECES, {**turn, "limit": PIECES_A_STEP}).fetchall()
    runs = list(_runs(rows))
    for run in runs:
        _join(connection, turn["session"], run)
    if len(rows) < PIECES_A_STEP:
        connection.execute(DONE, (turn["turn"],))
    else:
        # The last one may go on.
        connection.execute(GO_ON, (runs[-1].seqs[-1], turn["turn"]))
    return len(rows)


def rest_of(event: dict[str, Any], pieces: str | None, after: int) -> dict[str, Any]:
    """The event for a reader who has had everything up to the number ``after``."""
    lengths: list[int] = from_json(pieces) or []
    had = after - (event["seq"] - len(lengths))
    if not lengths or had <= 0:
        return event
    text = event["delta"].encode(*_ENCODING)[2 * sum(lengths[:had]) :]
    return {**event, "delta": text.decode(*_ENCODING)}


def _runs(rows: Iterable[tuple[int, str, str, str | None]]) -> Iterator[_Run]:
    run: _Run | None = None
    for seq, kind, data, pieces in rows:
        event = from_json(data)
        text = event["delta"].encode(*_ENCODING)
        lengths = from_json(pieces) or [len(text) // 2]
        one = _Run((kind, event["itemId"]), [seq], lengths, [text], event)
        if run is not None and not run.takes(one):
            yield run
            run = one
        run = run or one
    if run is not None:
        yield run


def _join(connection: sqlite3.Connection, session_id: str, run: _Run) -> None:
    if len(run.seqs) == 1:
        return
    connection.executemany(REMOVE, [(session_id, seq) for seq in run.seqs[:-1]])
    text = b"".join(run.texts).decode(*_ENCODING)
    lengths = json.dumps(run.lengths, separators=(",", ":"))
    data = to_json({**run.last, "delta": text})
    connection.execute(KEEP, (data, lengths, session_id, run.seqs[-1]))

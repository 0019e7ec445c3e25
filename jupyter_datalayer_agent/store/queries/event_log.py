"""A session's events: appended while turns run, read again by clients that come back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import now_ms
from ...protocol.events import BaseEvent, TurnAborted
from ...protocol.requests import ToolCallRecord, Usage
from ...protocol.tools import Change
from .. import schema
from ..encoding import from_json, to_json
from ..file.database import Database
from ..file.driver import Connection
from ..records import StoredEvent, TurnContext
from .statements import Compiled, Statement, insert_into, run_all, turn_statements

# A turn's events in short: enough to draw the turn again.


DELTAS = ("text_delta", "reasoning_delta", "answer_delta")


def join_deltas(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events (wire JSON, in order) with the deltas of one item joined into one event.

    A joined event takes the place of the last of its deltas and has that one's ``seq``. What an
    ``item_discarded`` took back is left out; all other events stay as they are.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    kept: dict[object, dict[str, Any]] = {}
    for event in events:
        if event["type"] in DELTAS:
            key = (event["type"], event["itemId"])
            parts.setdefault(key, []).append(event["delta"])
            kept.pop(key, None)
            kept[key] = event
            continue
        if event["type"] == "item_discarded":
            for kind in DELTAS:
                parts.pop((kind, event["itemId"]), None)
                kept.pop((kind, event["itemId"]), None)
        kept[event["seq"]] = event
    return [
        {**event, "delta": "".join(parts[key])} if isinstance(key, tuple) else event
        for key, event in kept.items()
    ]


def shown_texts(events: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The answer texts that a user had been shown, by item id, in order."""
    return {
        event["itemId"]: event["delta"]
        for event in join_deltas(events)
        if event["type"] == "text_delta"
    }


# The text of a turn that has ended, kept in one piece and not as it was streamed.
#
# Pieces of one item whose numbers follow each other, with no other event between, become one event
# with the number of the last of them. It keeps how long each piece was: a reader who has had some
# of them is given the rest, nothing twice and nothing left out. What was reverted is dropped.


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


EVENTS = schema.events.c
SESSIONS = schema.sessions.c
TURNS = schema.turns.c

NEWEST_EVENT = (
    sa.select(sa.func.max(EVENTS.seq))
    .where(EVENTS.session_id == SESSIONS.id)
    .correlate(schema.sessions)
    .scalar_subquery()
)
LAST_SEQ = sa.func.coalesce(NEWEST_EVENT, SESSIONS.seq_base)
"""The number of a session's newest event, for a select from ``sessions``."""

_LAST_SEQ_OF = Compiled(sa.select(LAST_SEQ).where(SESSIONS.id == sa.bindparam("session")))
INSERT_EVENT = insert_into(schema.events)
SET_ABORTED_REASON = Compiled(
    sa.update(schema.turns)
    .where(TURNS.id == sa.bindparam("turn"))
    .values(aborted_reason=sa.bindparam("reason"))
)


def save_events(
    connection: Connection, session_id: str, turn_id: str | None, events: Sequence[BaseEvent]
) -> None:
    """Number the events and store them, and the reason of a ``turn_aborted`` with its turn. They
    are published once the transaction is committed.

    Only one transaction writes at a time, in whatever server: no number is given twice.
    """
    if not events:
        return
    seq, now, rows = last_seq(connection, session_id), now_ms(), []
    for event in events:
        seq += 1
        event.seq, event.turn_id, event.at = seq, turn_id, event.at or now
        wire = event.to_wire()
        text = to_json(wire)
        rows.append(
            {
                "session_id": session_id,
                "seq": seq,
                "turn_id": turn_id,
                "type": wire["type"],
                "data": text,
                "pieces": None,
            }
        )
        connection.stored.append(StoredEvent(session_id, event, text))
        if isinstance(event, TurnAborted):
            SET_ABORTED_REASON.run(connection, turn=turn_id, reason=event.reason)
    run_all(connection, [INSERT_EVENT.rows(rows)])


def last_seq(connection: sqlite3.Connection, session_id: str) -> int:
    """The number of the session's newest event; 0 when there is none, or no such session."""
    row = _LAST_SEQ_OF.run(connection, session=session_id).fetchone()
    return row[0] if row is not None else 0


class EventLog:
    """Appends, each one transaction, and the replay of events."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self,
        session_id: str,
        turn_id: str | None,
        *,
        events: Sequence[BaseEvent] = (),
        items: Sequence[Mapping[str, Any]] = (),
        tool_calls: Sequence[ToolCallRecord] = (),
        changes: Sequence[Change] = (),
        usage: Usage | None = None,
        model: str | None = None,
        context: TurnContext | None = None,
        duration_ms: float | None = None,
    ) -> None:
        """Save all of these in one transaction; the cost does not depend on the chat's length.

        ``items`` keep their order; a call that is known already (by ``call_id``) is updated, and
        keeps what is None in the update; ``usage`` is that of one call of ``model``; ``context`` is
        what comes before the message in requests; ``duration_ms`` how long the turn has worked, for
        the case that its server dies. With ``turn_id`` None only events may be given.
        Raises ``not_found`` when the session was deleted meanwhile.
        """
        statements: list[Statement] = []
        if turn_id is not None:
            statements = turn_statements(
                session_id,
                turn_id,
                items=items,
                tool_calls=tool_calls,
                changes=changes,
                usage=usage,
                model=model,
                context=context,
                duration_ms=duration_ms,
            )
        elif items or tool_calls or changes or usage or context or duration_ms is not None:
            raise ValueError("Only events may be appended without a turn")

        def write(connection: Connection) -> None:
            save_events(connection, session_id, turn_id, events)
            run_all(connection, statements)

        if events or statements:
            await self._database.quick(write)

    async def last_seq(self, session_id: str) -> int:
        """The number of the session's newest event; 0 when there is none, or no such session."""
        return await self._database.look(lambda connection: last_seq(connection, session_id))

    async def after(
        self, session_id: str, after: int = 0, limit: int = 1000
    ) -> list[dict[str, Any]]:
        """Up to ``limit`` events with a greater ``seq``, in order, as they go over the wire."""

        async def query(connection: AsyncConnection) -> Sequence[Any]:
            statement = (
                sa.select(EVENTS.data, EVENTS.pieces)
                .where(EVENTS.session_id == session_id, EVENTS.seq > after)
                .order_by(EVENTS.seq)
                .limit(limit)
            )
            return (await connection.execute(statement)).all()

        rows = await self._database.read(query)
        return [rest_of(from_json(row.data), row.pieces, after) for row in rows]

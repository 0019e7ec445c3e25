"""A session's events: appended while turns run, read again by clients that come back."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
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
from .joined_text import rest_of
from .statements import Compiled, Statement, insert_into, run_all, turn_statements

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

"""A session's events: appended while turns run, read again by clients that come back."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.events import BaseEvent
from ...protocol.requests import ToolCallRecord, Usage
from ...protocol.tools import Change
from .. import schema
from ..database import Database
from ..encoding import from_json
from ..records import TurnContext
from .joined_text import rest_of
from .statements import Compiled, event_statements, run_all, turn_statements

EVENTS = schema.events.c
SESSIONS = schema.sessions.c

NEWEST_EVENT = (
    sa.select(sa.func.max(EVENTS.seq))
    .where(EVENTS.session_id == SESSIONS.id)
    .correlate(schema.sessions)
    .scalar_subquery()
)
LAST_SEQ = sa.func.coalesce(NEWEST_EVENT, SESSIONS.seq_base)
"""The number of a session's newest event, for a select from ``sessions``."""

SELECT_LAST_SEQ = Compiled(sa.select(LAST_SEQ).where(SESSIONS.id == sa.bindparam("session")))


class EventLog:
    """Appends, each one transaction, and the replay of events."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self,
        session_id: str,
        turn_id: str | None,
        *,
        events: Sequence[BaseEvent],
        items: Sequence[Mapping[str, Any]],
        tool_calls: Sequence[ToolCallRecord],
        changes: Sequence[Change],
        usage: Usage | None,
        model: str | None,
        context: TurnContext | None,
    ) -> None:
        """See ``Store.append``."""
        statements = event_statements(session_id, turn_id, events)
        if turn_id is not None:
            statements += turn_statements(
                session_id,
                turn_id,
                items=items,
                tool_calls=tool_calls,
                changes=changes,
                usage=usage,
                model=model,
                context=context,
            )
        elif items or tool_calls or changes or usage or context:
            raise ValueError("Only events may be appended without a turn")
        if statements:
            await self._database.quick(lambda connection: run_all(connection, statements))

    async def last_seq(self, session_id: str) -> int:
        """See ``Store.last_seq``."""

        def query(connection: sqlite3.Connection) -> int:
            row = SELECT_LAST_SEQ.run(connection, session=session_id).fetchone()
            return row[0] if row is not None else 0

        return await self._database.look(query)

    async def after(self, session_id: str, after: int, limit: int) -> list[dict[str, Any]]:
        """See ``Store.events_after``."""

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

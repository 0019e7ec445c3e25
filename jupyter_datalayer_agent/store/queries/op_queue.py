"""Messages that wait for the running turn to end; they survive a restart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import now_ms
from ...protocol.events import BaseEvent
from ...protocol.ops import UserMessage
from .. import schema
from ..encoding import as_given, from_json, to_json
from ..file.database import Database
from ..file.driver import Connection
from ..records import StoredOp
from .event_log import save_events
from .statements import Compiled, insert_into

OPS = schema.queued_ops.c
INSERT_OP = insert_into(schema.queued_ops)
DELETE_OP = Compiled(
    sa.delete(schema.queued_ops).where(
        OPS.session_id == sa.bindparam("session"), OPS.op_id == sa.bindparam("op")
    )
)
HOLD_OP = Compiled(
    sa.update(schema.queued_ops)
    .values(held=True)
    .where(OPS.session_id == sa.bindparam("session"), OPS.op_id == sa.bindparam("op"))
)


class OpQueue:
    """The waiting messages of every session, oldest first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(
        self, session_id: str, op_id: str, op: UserMessage, *, events: Sequence[BaseEvent] = ()
    ) -> None:
        """Save a queued message, with its events."""
        row = {
            "session_id": session_id,
            "op_id": op_id,
            "data": to_json(as_given(op)),
            "created_at": now_ms(),
            "held": False,
        }

        def write(connection: Connection) -> None:
            INSERT_OP.run(connection, **row)
            save_events(connection, session_id, None, events)

        await self._database.quick(write)

    async def remove(
        self, session_id: str, op_id: str, *, events: Sequence[BaseEvent] = ()
    ) -> bool:
        """Remove a queued message and save ``events``; False, without events, if there is none."""

        def write(connection: Connection) -> bool:
            removed = DELETE_OP.run(connection, session=session_id, op=op_id).rowcount > 0
            if removed:
                save_events(connection, session_id, None, events)
            return removed

        return await self._database.quick(write)

    async def hold(
        self, session_id: str, op_ids: Sequence[str], *, events: Sequence[BaseEvent]
    ) -> None:
        """Hold queued messages until the user sends them; saved with their events."""

        def write(connection: Connection) -> None:
            for op_id in op_ids:
                HOLD_OP.run(connection, session=session_id, op=op_id)
            save_events(connection, session_id, None, events)

        await self._database.quick(write)

    async def knows(self, session_id: str, op_id: str) -> bool:
        """Whether the message with this op id is queued or has a turn."""

        async def query(connection: AsyncConnection) -> bool:
            for table in (schema.queued_ops.c, schema.turns.c):
                found = sa.select(sa.literal(1)).where(
                    table.session_id == session_id, table.op_id == op_id
                )
                if (await connection.execute(found.limit(1))).first() is not None:
                    return True
            return False

        return await self._database.read(query)

    async def waiting(self, session_id: str) -> list[StoredOp]:
        """The session's queued messages, oldest first."""

        async def query(connection: AsyncConnection) -> Sequence[Any]:
            statement = (
                sa.select(OPS.op_id, OPS.data, OPS.created_at, OPS.held)
                .where(OPS.session_id == session_id)
                .order_by(OPS.id)
            )
            return (await connection.execute(statement)).all()

        rows = await self._database.read(query)
        return [
            StoredOp(
                row.op_id,
                UserMessage.model_validate(from_json(row.data)),
                row.created_at,
                bool(row.held),
            )
            for row in rows
        ]

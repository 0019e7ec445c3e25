"""Messages that wait for the running turn to end; they survive a restart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ..protocol.base import now_ms
from ..protocol.events import BaseEvent
from ..protocol.ops import UserMessage
from . import schema
from .database import Database
from .encoding import as_given, from_json, to_json
from .records import QueuedOp
from .statements import event_statements
from .writer import Transaction

OPS = schema.queued_ops.c


class OpQueue:
    """The waiting messages of every session, oldest first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(
        self, session_id: str, op_id: str, op: UserMessage, events: Sequence[BaseEvent]
    ) -> None:
        """See ``Store.save_queued_op``."""
        row = {
            "session_id": session_id,
            "op_id": op_id,
            "data": to_json(as_given(op)),
            "created_at": now_ms(),
        }
        statements = event_statements(session_id, None, events)

        async def write(transaction: Transaction) -> None:
            await transaction.connection.execute(sa.insert(schema.queued_ops), row)
            await transaction.run(statements)

        await self._database.write(write)

    async def remove(self, session_id: str, op_id: str, events: Sequence[BaseEvent]) -> bool:
        """See ``Store.remove_queued_op``."""
        statements = event_statements(session_id, None, events)
        delete = sa.delete(schema.queued_ops).where(
            OPS.session_id == session_id, OPS.op_id == op_id
        )

        async def write(transaction: Transaction) -> bool:
            removed = (await transaction.connection.execute(delete)).rowcount > 0
            if removed:
                await transaction.run(statements)
            return removed

        return await self._database.write(write)

    async def waiting(self, session_id: str) -> list[QueuedOp]:
        """See ``Store.queued_ops``."""

        async def query(connection: AsyncConnection) -> Sequence[Any]:
            statement = (
                sa.select(OPS.op_id, OPS.data, OPS.created_at)
                .where(OPS.session_id == session_id)
                .order_by(OPS.id)
            )
            return (await connection.execute(statement)).all()

        rows = await self._database.read(query)
        return [
            QueuedOp(row.op_id, UserMessage.model_validate(from_json(row.data)), row.created_at)
            for row in rows
        ]

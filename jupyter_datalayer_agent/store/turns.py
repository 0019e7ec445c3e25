"""Turns: begun, ended, and read again with everything that belongs to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ..protocol.base import Location, Mode, NotebookMode, now_ms
from ..protocol.errors import AgentError, ErrorBody
from ..protocol.events import BaseEvent
from ..protocol.requests import ChatRequest, Usage
from . import schema
from .database import Database
from .encoding import as_given, plain_text, to_json
from .event_log import LAST_SEQ
from .recovery import recover_session
from .sessions import unknown_session
from .statements import event_statements, turn_statements
from .writer import Transaction

SESSIONS = schema.sessions.c
TURNS = schema.turns.c


@dataclass(frozen=True)
class TurnStart:
    """What is known of a turn when it begins."""

    session_id: str
    turn_id: str
    mode: Mode
    notebook_mode: NotebookMode
    location: Location
    model: str | None
    request: ChatRequest
    op_id: str | None

    def row(self, server_id: str) -> dict[str, Any]:
        """The columns that do not depend on the database."""
        return {
            "id": self.turn_id,
            "session_id": self.session_id,
            "status": "running",
            "mode": self.mode,
            "notebook_mode": self.notebook_mode,
            "location": self.location,
            "model": self.model,
            "op_id": self.op_id,
            "server_id": server_id,
            "request": to_json(as_given(self.request)),
            "message": plain_text(self.request.message),
            "reply": "",
            "started_at": now_ms(),
        }


@dataclass(frozen=True)
class TurnEnd:
    """How a turn ended. Times in ms."""

    status: str
    reply: str
    error: ErrorBody | None
    usage: Usage
    ttft_ms: float | None
    duration_ms: float | None
    aborted_reason: str | None

    def row(self) -> dict[str, Any]:
        """The columns that the end sets."""
        reason = {} if self.aborted_reason is None else {"aborted_reason": self.aborted_reason}
        return {
            **reason,
            "status": self.status,
            "reply": plain_text(self.reply),
            "error": None if self.error is None else to_json(self.error.to_wire()),
            "usage": to_json(self.usage.to_wire()),
            "ttft_ms": self.ttft_ms,
            "duration_ms": self.duration_ms,
            "ended_at": now_ms(),
        }


class Turns:
    """Begins and ends turns. A session has at most one that runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._end_not_kept: set[str] = set()

    async def start(
        self,
        start: TurnStart,
        events: Sequence[BaseEvent],
        items: Sequence[Mapping[str, Any]],
    ) -> int:
        """See ``Store.start_turn``."""
        row = start.row(self._database.server.server_id)
        statements = event_statements(start.session_id, start.turn_id, events)
        statements += turn_statements(start.session_id, start.turn_id, items=items)

        async def write(transaction: Transaction) -> int:
            connection = transaction.connection
            await recover_session(transaction, start.session_id, self._is_over)
            position, last_seq = await _place(connection, start.session_id)
            first_seq = min([last_seq + 1, *(event.seq for event in events)])
            values = {**row, "position": position, "first_seq": first_seq}
            await connection.execute(sa.insert(schema.turns), values)
            await _touch(connection, start.session_id)
            await transaction.run(statements)
            return position

        return await self._database.write(write)

    async def finish(
        self,
        turn_id: str,
        end: TurnEnd,
        events: Sequence[BaseEvent],
        items: Sequence[Mapping[str, Any]],
    ) -> None:
        """See ``Store.finish_turn``."""
        row = end.row()

        async def write(transaction: Transaction) -> None:
            connection = transaction.connection
            session_id = await connection.scalar(
                sa.select(TURNS.session_id).where(TURNS.id == turn_id)
            )
            if session_id is None:
                raise unknown_turn(turn_id)
            update = sa.update(schema.turns).where(TURNS.id == turn_id, TURNS.status == "running")
            if (await connection.execute(update, row)).rowcount == 0:
                raise AgentError("internal", f"The turn {turn_id} has already ended.")
            await _touch(connection, session_id)
            await transaction.run(turn_statements(session_id, turn_id, items=items))
            await transaction.run(event_statements(session_id, turn_id, events))

        self._end_not_kept.add(turn_id)
        await self._database.write(write)
        self._end_not_kept.discard(turn_id)

    async def recover(self, session_id: str | None) -> list[str]:
        """See ``Store.recover``."""

        async def running(connection: AsyncConnection) -> Sequence[str]:
            statement = sa.select(TURNS.session_id).where(TURNS.status == "running")
            if session_id is not None:
                statement = statement.where(TURNS.session_id == session_id)
            return (await connection.scalars(statement)).all()

        async def write(transaction: Transaction) -> list[str]:
            recovered = []
            for session in await running(transaction.connection):
                turn_id = await recover_session(transaction, session, self._is_over)
                if turn_id is not None:
                    recovered.append(turn_id)
            return recovered

        if not await self._database.read(running):
            return []
        return await self._database.write(write)

    def _is_over(self, turn_id: str, server_id: str) -> bool:
        """Whether a turn that is marked as running has nobody who runs it."""
        return turn_id in self._end_not_kept or not self._database.server.is_alive(server_id)


def unknown_turn(turn_id: str) -> AgentError:
    """The error for an id that no turn has."""
    return AgentError("not_found", f"There is no turn {turn_id}.")


async def _place(connection: AsyncConnection, session_id: str) -> tuple[int, int]:
    """The position of the session's next turn, and the number of its newest event."""
    newest = (
        sa.select(sa.func.coalesce(sa.func.max(TURNS.position) + 1, 0))
        .where(TURNS.session_id == SESSIONS.id)
        .correlate(schema.sessions)
        .scalar_subquery()
    )
    statement = sa.select(newest, LAST_SEQ).where(SESSIONS.id == session_id)
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        raise unknown_session(session_id)
    return row[0], row[1]


async def _touch(connection: AsyncConnection, session_id: str) -> None:
    update = sa.update(schema.sessions).where(SESSIONS.id == session_id)
    await connection.execute(update.values(updated_at=now_ms()))

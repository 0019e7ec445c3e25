"""The plans of planned workflows, and the turns that wait for the user across a restart."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.events import BaseEvent
from ...protocol.plans import Plan
from ...protocol.requests import ChatRequest
from .. import schema
from ..encoding import from_json, to_json
from ..file.database import Database
from ..file.driver import in_thread
from ..records import StoredPlan, WaitingTurn
from .answers import keep_plan
from .event_log import save_events
from .recovery import open_wait, read_events

PLANS = schema.plans.c
TURNS = schema.turns.c


class Plans:
    """The table of plans."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(
        self, session_id: str, turn_id: str, plan: Plan, *, events: Sequence[BaseEvent] = ()
    ) -> None:
        """Save the turn's plan in its current state, with its events."""
        data = to_json(plan.to_wire())

        async def write(connection: AsyncConnection) -> None:
            changed = await connection.execute(
                sa.update(schema.plans).where(PLANS.turn_id == turn_id).values(data=data)
            )
            if changed.rowcount == 0:
                row = {"turn_id": turn_id, "session_id": session_id, "data": data}
                await connection.execute(sa.insert(schema.plans), row)
                await in_thread(connection, lambda raw: keep_plan(raw, turn_id))
            await in_thread(connection, lambda raw: save_events(raw, session_id, turn_id, events))

        await self._database.write(write)

    async def last(self, session_id: str) -> StoredPlan | None:
        """The plan of the newest turn that has one."""

        async def read(connection: AsyncConnection) -> StoredPlan | None:
            row = (
                await connection.execute(
                    sa.select(PLANS.turn_id, PLANS.data, TURNS.request)
                    .select_from(schema.plans.join(schema.turns, TURNS.id == PLANS.turn_id))
                    .where(PLANS.session_id == session_id, TURNS.withdrawn_at.is_(None))
                    .order_by(TURNS.position.desc())
                    .limit(1)
                )
            ).one_or_none()
            if row is None:
                return None
            return StoredPlan(
                row.turn_id,
                Plan.model_validate(from_json(row.data)),
                ChatRequest.model_validate(from_json(row.request)),
            )

        return await self._database.read(read)

    async def left_waiting(self) -> list[str]:
        """The sessions whose turn waits for the user and is run by no living server."""
        server = self._database.server
        running = sa.select(TURNS.session_id, TURNS.id, TURNS.server_id, TURNS.first_seq).where(
            TURNS.status == sa.literal_column("'running'")  # as the index of these has it
        )

        async def read(connection: AsyncConnection) -> list[str]:
            found = []
            for row in (await connection.execute(running)).all():
                if row.server_id == server.server_id or server.is_alive(row.server_id):
                    continue
                if open_wait(await read_events(connection, row.session_id, row.id, row.first_seq)):
                    found.append(row.session_id)
            return found

        return await self._database.read(read)

    async def take_waiting(self, session_id: str) -> WaitingTurn | None:
        """The session's turn that waits for the user and that no living server runs; from now on
        this server does. To be called when no such turn is in memory here."""
        server = self._database.server

        async def write(connection: AsyncConnection) -> WaitingTurn | None:
            row = (
                await connection.execute(
                    sa.select(schema.turns).where(
                        TURNS.session_id == session_id, TURNS.status == "running"
                    )
                )
            ).one_or_none()
            if row is None or (
                row.server_id != server.server_id and server.is_alive(row.server_id)
            ):
                return None
            wait = open_wait(await read_events(connection, session_id, row.id, row.first_seq))
            if wait is None:
                return None
            await connection.execute(
                sa.update(schema.turns).where(TURNS.id == row.id).values(server_id=server.server_id)
            )
            plan = await connection.scalar(sa.select(PLANS.data).where(PLANS.turn_id == row.id))
            return WaitingTurn(
                turn_id=row.id,
                request=ChatRequest.model_validate(from_json(row.request)),
                op_id=row.op_id,
                wait=wait,
                plan=None if plan is None else Plan.model_validate(from_json(plan)),
            )

        return await self._database.write(write)

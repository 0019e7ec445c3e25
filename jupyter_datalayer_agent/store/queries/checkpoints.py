"""What turns changed in documents: as it was before, until it is kept or reverted."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.events import BaseEvent
from .. import schema
from ..encoding import from_json, packed, to_json, unpacked
from ..file.database import Database
from ..file.driver import Connection
from ..records import ChangeState, CheckpointCell, CheckpointPart, CheckpointSpan, Place
from .event_log import save_events
from .statements import Compiled, insert_into, run_all, turn_statements

SPANS = schema.checkpoints.c
CELLS = schema.checkpoint_cells.c
TURNS = schema.turns.c

INSERT_CELL = insert_into(schema.checkpoint_cells)
INSERT_LATER = insert_into(schema.later_events)
_PART = (
    CELLS.turn_id == sa.bindparam("turn"),
    CELLS.path == sa.bindparam("path"),
    CELLS.span == sa.bindparam("number"),
    CELLS.cell_id == sa.bindparam("cell"),
)
SET_LEFT = Compiled(
    sa.update(schema.checkpoint_cells).where(*_PART).values(cell_left=sa.bindparam("left"))
)
DROP_CELL = Compiled(sa.delete(schema.checkpoint_cells).where(*_PART))
SETTLE_CELL = Compiled(
    sa.update(schema.checkpoint_cells)
    .where(
        CELLS.turn_id == sa.bindparam("turn"),
        CELLS.path == sa.bindparam("path"),
        CELLS.cell_id == sa.bindparam("cell"),
    )
    .values(state=sa.bindparam("new"), before=sa.null(), cell_left=sa.null())
)
DROP_SETTLED = Compiled(
    sa.delete(schema.checkpoints).where(
        SPANS.turn_id == sa.bindparam("turn"),
        ~sa.exists().where(
            CELLS.turn_id == SPANS.turn_id,
            CELLS.path == SPANS.path,
            CELLS.state == sa.literal_column("'open'"),
        ),
    )
)
NEWEST_TURN = Compiled(
    sa.select(TURNS.id)
    .where(TURNS.session_id == sa.bindparam("session"), TURNS.withdrawn_at.is_(None))
    .order_by(TURNS.position.desc())
    .limit(sa.literal_column("1"))
)


def _upsert_span() -> Compiled:
    insert = sqlite.insert(schema.checkpoints)
    new = insert.excluded
    update = insert.on_conflict_do_update(
        index_elements=["turn_id", "path", "span"],
        set_={"order_left": new.order_left, "moved": new.moved},
    )
    return Compiled(update, [c.name for c in schema.checkpoints.columns if c.name != "id"])


UPSERT_SPAN = _upsert_span()


class Checkpoints:
    """Checkpoints by turn."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, turn_id: str, part: CheckpointPart) -> None:
        """Save a part of a turn's checkpoint of one document. Call it before the change."""
        where = {"turn": turn_id, "path": part.path, "number": part.span}
        row = {"turn_id": turn_id, "path": part.path, "span": part.span}

        def write(connection: sqlite3.Connection) -> None:
            if part.orders is not None:
                order, left = (packed(each) for each in part.orders)
                UPSERT_SPAN.run(
                    connection,
                    **row, cell_order=order, order_left=left, moved=to_json(part.moved),
                )  # fmt: skip
            for cell in part.added:
                INSERT_CELL.run(
                    connection,
                    **row,
                    cell_id=cell.cell_id,
                    state="open",
                    before=packed(cell.before),
                    cell_left=packed(cell.left),
                )
            for cell_id, value in part.left.items():
                SET_LEFT.run(connection, **where, cell=cell_id, left=packed(value))
            for cell_id in part.dropped:
                DROP_CELL.run(connection, **where, cell=cell_id)

        await self._database.quick(write)

    async def next_span(self, turn_id: str, path: str) -> int:
        """A number that no span of the turn in this document has."""
        statement = sa.select(sa.func.coalesce(sa.func.max(CELLS.span) + 1, 0)).where(
            CELLS.turn_id == turn_id, CELLS.path == path
        )

        async def query(connection: AsyncConnection) -> int:
            return await connection.scalar(statement) or 0

        return await self._database.read(query)

    async def open_spans(self, turn_id: str) -> list[CheckpointSpan]:
        """The turn's changes that are neither kept nor reverted, by path and in their order."""

        async def query(connection: AsyncConnection) -> list[CheckpointSpan]:
            spans = (
                await connection.execute(
                    sa.select(schema.checkpoints)
                    .where(SPANS.turn_id == turn_id)
                    .order_by(SPANS.path, SPANS.span)
                )
            ).all()
            cells = await connection.execute(
                sa.select(schema.checkpoint_cells)
                .where(CELLS.turn_id == turn_id, CELLS.state == "open")
                .order_by(CELLS.id)
            )
            found: dict[tuple[str, int], list[CheckpointCell]] = {}
            for row in cells:
                cell = CheckpointCell(row.cell_id, unpacked(row.before), unpacked(row.cell_left))
                found.setdefault((row.path, row.span), []).append(cell)
            return [
                CheckpointSpan(
                    path=row.path,
                    order=unpacked(row.cell_order),
                    order_left=unpacked(row.order_left),
                    moved=from_json(row.moved),
                    cells=found.get((row.path, row.span), []),
                )
                for row in spans
            ]

        return await self._database.read(query)

    async def states(self, turn_id: str) -> dict[Place, ChangeState]:
        """The state of each recorded cell (or document) that the turn changed."""
        statement = sa.select(CELLS.path, CELLS.cell_id, CELLS.state).where(
            CELLS.turn_id == turn_id
        )

        async def query(connection: AsyncConnection) -> Sequence[Any]:
            return (await connection.execute(statement.order_by(CELLS.id))).all()

        rows = await self._database.read(query)
        return {(row.path, row.cell_id): row.state for row in rows}

    async def settle(
        self,
        session_id: str,
        turn_id: str,
        settled: Mapping[Place, ChangeState],
        *,
        events: Sequence[BaseEvent] = (),
        items: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Save the decisions on a turn's changes, with their events.

        The data to revert them goes. ``items`` are sent to the model where the conversation is
        now, which may be turns later.
        """

        def write(connection: Connection) -> None:
            for (path, cell_id), state in settled.items():
                SETTLE_CELL.run(connection, turn=turn_id, path=path, cell=cell_id, new=state)
            DROP_SETTLED.run(connection, turn=turn_id)
            save_events(connection, session_id, turn_id, events)
            later = [{"turn_id": turn_id, "seq": event.seq} for event in events]
            run_all(connection, [INSERT_LATER.rows(later)])
            if items:
                # What the model is sent goes where the conversation is now.
                newest = NEWEST_TURN.run(connection, session=session_id).fetchone()
                if newest is not None:
                    run_all(connection, turn_statements(session_id, newest[0], items=items))

        await self._database.quick(write)

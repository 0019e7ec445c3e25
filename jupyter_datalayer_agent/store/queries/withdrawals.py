"""Turns that the user went back to before: kept and shown, and not sent any more; and the light
list of all turns that a user chooses from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import now_ms
from ...protocol.errors import AgentError
from ...protocol.events import BaseEvent
from ...protocol.sessions import ChangedPath, PromptStep
from .. import schema
from ..file.database import Database
from ..file.driver import Connection
from .checkpoints import NEWEST_TURN
from .event_log import last_seq, save_events
from .sessions import unknown_session
from .statements import Compiled, run_all, turn_statements
from .turns import TOUCH, unknown_turn

SESSIONS = schema.sessions.c
TURNS = schema.turns.c
CHANGES = schema.changes.c
LINE_CHARACTERS = 200

WITHDRAW = Compiled(
    sa.update(schema.turns)
    .where(TURNS.id == sa.bindparam("turn"))
    .values(withdrawn_at=sa.bindparam("now"), withdrawn_seq=sa.bindparam("seq"))
)
# A message may be long, and only its beginning is shown.
_BEGINNING = sa.func.substr(sa.func.ltrim(TURNS.message, " \t\r\n"), 1, LINE_CHARACTERS)
_CELL = sa.func.json_extract(CHANGES.data, "$.cellId")


class Withdrawals:
    """Going back in a conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def after(self, session_id: str, turn_id: str, include_turn: bool) -> list[str]:
        """The turns after ``turn_id``, with ``include_turn`` also that one, which are not withdrawn
        yet, in order. Raises ``not_found``; ``invalid_request`` for a turn that is withdrawn."""

        async def query(connection: AsyncConnection) -> list[str]:
            found = await connection.execute(
                sa.select(TURNS.position, TURNS.withdrawn_at).where(
                    TURNS.id == turn_id, TURNS.session_id == session_id
                )
            )
            turn = found.one_or_none()
            if turn is None:
                raise unknown_turn(turn_id)
            if turn.withdrawn_at is not None:
                raise AgentError(
                    "invalid_request",
                    "The conversation was already rewound to before this turn. Fork from it "
                    "to continue there.",
                )
            later = await connection.scalars(
                sa.select(TURNS.id)
                .where(
                    TURNS.session_id == session_id,
                    TURNS.position >= turn.position + (not include_turn),
                    TURNS.withdrawn_at.is_(None),
                )
                .order_by(TURNS.position)
            )
            return list(later)

        return await self._database.read(query)

    async def withdraw(
        self,
        session_id: str,
        turn_ids: Sequence[str],
        events: Sequence[BaseEvent],
        note: Sequence[Mapping[str, Any]],
    ) -> None:
        """Withdraw the turns now, and keep its events. The items of ``note`` are
        sent to the model after the newest turn that is left, if any."""
        now = now_ms()

        def write(connection: Connection) -> None:
            TOUCH.run(connection, session=session_id, now=now)
            save_events(connection, session_id, None, events)
            seq = last_seq(connection, session_id)
            for turn_id in turn_ids:
                WITHDRAW.run(connection, turn=turn_id, now=now, seq=seq)
            newest = NEWEST_TURN.run(connection, session=session_id).fetchone()
            if newest is not None:
                run_all(connection, turn_statements(session_id, newest[0], items=note))

        await self._database.quick(write)

    async def prompts(self, session_id: str) -> list[PromptStep]:
        """Every turn of the session in short, in order. Raises ``not_found``."""

        async def query(connection: AsyncConnection) -> list[PromptStep]:
            known = await connection.scalar(sa.select(SESSIONS.id).where(SESSIONS.id == session_id))
            if known is None:
                raise unknown_session(session_id)
            changes = await _changed(connection, session_id)
            rows = await connection.execute(
                sa.select(
                    TURNS.id,
                    TURNS.position,
                    _BEGINNING.label("message"),
                    TURNS.mode,
                    TURNS.status,
                    TURNS.started_at,
                    TURNS.withdrawn_at,
                )
                .where(TURNS.session_id == session_id)
                .order_by(TURNS.position)
            )
            return [
                PromptStep(
                    turn_id=row.id,
                    index=row.position,
                    message=_first_line(row.message),
                    mode=row.mode,
                    status=row.status,
                    started_at=row.started_at,
                    changes=changes[row.id],
                    withdrawn=row.withdrawn_at is not None,
                )
                for row in rows
            ]

        return await self._database.read(query)


async def _changed(connection: AsyncConnection, session_id: str) -> dict[str, list[ChangedPath]]:
    """What each turn changed, by turn."""
    rows = await connection.execute(
        sa.select(CHANGES.turn_id, CHANGES.path, sa.func.count(_CELL.distinct()).label("cells"))
        .select_from(schema.changes.join(schema.turns, TURNS.id == CHANGES.turn_id))
        .where(TURNS.session_id == session_id)
        .group_by(CHANGES.turn_id, CHANGES.path)
        .order_by(sa.func.min(CHANGES.id))
    )
    changed: dict[str, list[ChangedPath]] = defaultdict(list)
    for row in rows:
        changed[row.turn_id].append(ChangedPath(path=row.path, cells=row.cells))
    return changed


def _first_line(text: Any) -> str:
    return next(iter(str(text).splitlines()), "").strip()

"""Turns: begun, ended, and read again with everything that belongs to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import Location, Mode, NotebookMode, now_ms
from ...protocol.errors import AgentError, ErrorBody
from ...protocol.events import BaseEvent
from ...protocol.requests import ChatRequest, Usage
from ...protocol.tools import NotDone, TurnFacts
from .. import schema
from ..encoding import as_given, plain_text, to_json
from ..file.database import Database
from ..file.driver import Connection
from .event_log import LAST_SEQ, save_events
from .recovery import recover_session
from .renames import register_root
from .responses import keep_answer
from .sessions import unknown_session
from .statements import Compiled, insert_into, run_all, turn_statements
from .upkeep import Upkeep

SESSIONS = schema.sessions.c
TURNS = schema.turns.c

NOT_YET = (
    "aborted_reason", "error", "usage", "ended_at", "ttft_ms", "duration_ms", "withdrawn_at",
    "copied_from", "chosen_answer", "not_done", "withdrawn_seq", "facts",
)  # fmt: skip
"""The columns that are empty while a turn runs."""

INSERT_TURN = insert_into(schema.turns)
FINISH_TURN = Compiled(
    sa.update(schema.turns)
    .where(TURNS.id == sa.bindparam("turn"))
    .values(aborted_reason=sa.func.coalesce(sa.bindparam("reason"), TURNS.aborted_reason)),
    [
        "status",
        "reply",
        "error",
        "not_done",
        "facts",
        "usage",
        "ttft_ms",
        "duration_ms",
        "ended_at",
    ],
)
TOUCH = Compiled(
    sa.update(schema.sessions)
    .where(SESSIONS.id == sa.bindparam("session"))
    .values(updated_at=sa.bindparam("now"))
)
SESSION_OF = Compiled(
    sa.select(TURNS.session_id, TURNS.status).where(TURNS.id == sa.bindparam("turn"))
)
PLACE = Compiled(
    sa.select(
        sa.select(sa.func.coalesce(sa.func.max(TURNS.position) + 1, 0))
        .where(TURNS.session_id == SESSIONS.id)
        .correlate(schema.sessions)
        .scalar_subquery(),
        LAST_SEQ,
        sa.select(TURNS.id)
        .where(TURNS.session_id == SESSIONS.id, TURNS.status == sa.literal_column("'running'"))
        .correlate(schema.sessions)
        .scalar_subquery(),
    ).where(SESSIONS.id == sa.bindparam("session"))
)
"""The position of a session's next turn, the number of its newest event, its running turn."""


class Turns:
    """Begins and ends turns. A session has at most one that runs."""

    def __init__(self, database: Database, upkeep: Upkeep, root: str | None = None) -> None:
        self._database = database
        self._upkeep = upkeep
        self._root = root or ""
        self._has_root = False
        self._end_not_kept: set[str] = set()

    async def start(
        self,
        *,
        session_id: str,
        turn_id: str,
        mode: Mode,
        notebook_mode: NotebookMode,
        location: Location,
        request: ChatRequest,
        model: str | None = None,
        op_id: str | None = None,
        events: Sequence[BaseEvent] = (),
        items: Sequence[Mapping[str, Any]] = (),
    ) -> int:
        """Begin a turn, with its first events and items; its index in the session, from 0.

        Raises ``not_found`` for an unknown session, ``turn_in_progress`` while a turn runs in it,
        here or in another server. A running turn whose server died is ended first, with events of
        its own.
        """
        row = {
            "id": turn_id,
            "session_id": session_id,
            "status": "running",
            "mode": mode,
            "notebook_mode": notebook_mode,
            "location": location,
            "model": model,
            "op_id": op_id,
            "server_id": self._database.server.server_id,
            "request": to_json(as_given(request)),
            "message": plain_text(request.message),
            "reply": "",
            "started_at": now_ms(),
            **dict.fromkeys(NOT_YET),
        }
        statements = turn_statements(session_id, turn_id, items=items)

        def write(connection: Connection) -> int | None:
            """The turn's position; None while another one is marked as running."""
            place = PLACE.run(connection, session=session_id).fetchone()
            if place is None:
                raise unknown_session(session_id)
            position, last_seq, running = place
            if running is not None:
                return None
            if not self._has_root:
                register_root(connection, self._database.server.server_id, self._root)
            INSERT_TURN.run(connection, **row, position=position, first_seq=last_seq + 1)
            TOUCH.run(connection, session=session_id, now=row["started_at"])
            save_events(connection, session_id, turn_id, events)
            run_all(connection, statements)
            return int(position)

        position = await self._database.quick(write)
        if position is None and await self.recover(session_id):
            position = await self._database.quick(write)
        if position is None:
            raise AgentError("turn_in_progress", "A turn is already running in this session.")
        self._has_root = True
        return position

    async def finish(
        self,
        turn_id: str,
        *,
        status: Literal["completed", "failed", "aborted"],
        reply: str = "",
        error: ErrorBody | None = None,
        not_done: NotDone | None = None,
        facts: TurnFacts | None = None,
        usage: Usage | None = None,
        ttft_ms: float | None = None,
        duration_ms: float | None = None,
        aborted_reason: str | None = None,
        events: Sequence[BaseEvent] = (),
        items: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """End a running turn. Times in ms.

        Give the turn's last events and items here: they and the end are then kept together, and a
        crash cannot part them. ``aborted_reason`` may be left out when the turn has a
        ``turn_aborted`` event. ``usage`` is the turn's sum; the session's count grows by what
        ``append`` was given.
        """
        row = {
            "status": status,
            "reason": aborted_reason,
            "reply": plain_text(reply),
            "error": None if error is None else to_json(error.to_wire()),
            "not_done": None if not_done is None else to_json(not_done.to_wire()),
            "facts": None if facts is None else to_json(facts.to_wire()),
            "usage": to_json((usage or Usage()).to_wire()),
            "ttft_ms": ttft_ms,
            "duration_ms": duration_ms,
            "ended_at": now_ms(),
        }

        def write(connection: Connection) -> None:
            found = SESSION_OF.run(connection, turn=turn_id).fetchone()
            if found is None:
                raise unknown_turn(turn_id)
            session_id, kept_status = found
            if kept_status != "running":
                raise AgentError("internal", f"The turn {turn_id} has already ended.")
            FINISH_TURN.run(connection, turn=turn_id, **row)
            keep_answer(connection, turn_id)
            TOUCH.run(connection, session=session_id, now=row["ended_at"])
            run_all(connection, turn_statements(session_id, turn_id, items=items))
            save_events(connection, session_id, turn_id, events)

        try:
            await self._database.quick(write)
        except AgentError:
            # This turn no longer runs, whatever its status in the database.
            self._end_not_kept.add(turn_id)
            raise
        self._upkeep.begin()

    async def abandon(self, turn_id: str) -> None:
        """This turn no longer runs and its end could not be saved: ``recover`` ends it."""
        self._end_not_kept.add(turn_id)

    async def recover(self, session_id: str | None) -> list[str]:
        """End the orphaned running turns of one session or of all: ``Store.recover`` without the
        answers."""

        async def running(connection: AsyncConnection) -> Sequence[str]:
            statement = sa.select(TURNS.session_id).where(TURNS.status == "running")
            if session_id is not None:
                statement = statement.where(TURNS.session_id == session_id)
            return (await connection.scalars(statement)).all()

        async def write(connection: AsyncConnection) -> list[str]:
            recovered = []
            for session in await running(connection):
                turn_id = await recover_session(
                    connection, session, self._is_over, self._end_not_kept.__contains__
                )
                if turn_id is not None:
                    recovered.append(turn_id)
            return recovered

        if not await self._database.read(running):
            return []
        return await self._database.write(write)

    def _is_over(self, turn_id: str, server_id: str) -> bool:
        """Whether a turn that is marked as running is orphaned."""
        return turn_id in self._end_not_kept or not self._database.server.is_alive(server_id)


def unknown_turn(turn_id: str) -> AgentError:
    """The error for an id that no turn has."""
    return AgentError("not_found", f"There is no turn {turn_id}.")

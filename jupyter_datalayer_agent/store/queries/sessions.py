"""Sessions: made, listed, changed, emptied and deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import new_id, now_ms
from ...protocol.errors import AgentError
from ...protocol.events import BaseEvent
from ...protocol.requests import Session, SessionSettings, SessionsReply
from ...protocol.sessions import ForkOrigin
from .. import schema
from ..encoding import from_json, like_pattern, plain_text, to_json
from ..file.database import Database
from ..file.driver import in_thread
from ..search import sessions_with
from .event_log import LAST_SEQ, save_events
from .statements import Compiled, insert_into
from .upkeep import Upkeep

SESSIONS = schema.sessions.c
TURNS = schema.turns.c
MAX_LIMIT = 200
INSERT_SESSION = insert_into(schema.sessions)

_TURN_COUNT = (
    sa.select(sa.func.coalesce(sa.func.max(TURNS.position) + 1, 0))
    .where(TURNS.session_id == SESSIONS.id)
    .correlate(schema.sessions)
    .scalar_subquery()
)
_RUNNING = (
    sa.select(TURNS.id)
    .where(TURNS.session_id == SESSIONS.id, TURNS.status == "running")
    .correlate(schema.sessions)
    .scalar_subquery()
)
_KIND = sa.func.coalesce(
    sa.select(schema.session_kinds.c.kind)
    .where(schema.session_kinds.c.session_id == SESSIONS.id)
    .correlate(schema.sessions)
    .scalar_subquery(),
    "chat",
)
_SELECT = sa.select(
    SESSIONS.id,
    SESSIONS.title,
    SESSIONS.settings,
    SESSIONS.created_at,
    SESSIONS.updated_at,
    SESSIONS.session_tokens,
    SESSIONS.session_cost,
    SESSIONS.forked_from,
    LAST_SEQ.label("last_seq"),
    _TURN_COUNT.label("turn_count"),
    _RUNNING.label("running_turn_id"),
    _KIND.label("kind"),
)
_IS_CHAT = ~sa.exists().where(schema.session_kinds.c.session_id == SESSIONS.id)
_NAMES = _SELECT.selected_columns.keys()
SELECT_SESSION = Compiled(_SELECT.where(SESSIONS.id == sa.bindparam("session")))
UPDATE_SESSION = Compiled(
    sa.update(schema.sessions).where(SESSIONS.id == sa.bindparam("session")),
    ["title", "settings", "updated_at"],
)


def unknown_session(session_id: str) -> AgentError:
    """The error for an id that no session has."""
    return AgentError("not_found", f"There is no session {session_id}.")


class SessionQueries:
    """The table of sessions."""

    def __init__(self, database: Database, upkeep: Upkeep) -> None:
        self._database = database
        self._upkeep = upkeep

    async def create(
        self, title: str = "New session", settings: SessionSettings | None = None
    ) -> Session:
        """A new, empty session."""
        now = now_ms()
        settings = settings or SessionSettings()
        row: dict[str, Any] = {
            "id": new_id("s"),
            "title": plain_text(title),
            "settings": to_json(settings.to_wire()),
            "created_at": now,
            "updated_at": now,
            "session_tokens": 0,
            "seq_base": 0,
            "session_cost": None,
            "forked_from": None,
        }

        await self._database.quick(lambda connection: INSERT_SESSION.run(connection, **row))
        return Session(
            id=row["id"],
            title=row["title"],
            created_at=now,
            updated_at=now,
            settings=settings,
        )

    async def get(self, session_id: str) -> Session:
        """The session. Raises ``not_found``."""
        return await self._database.look(lambda connection: row_of(connection, session_id))

    async def list_page(
        self,
        query: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        *,
        undecided_in: str | None = None,
    ) -> SessionsReply:
        """Sessions, the newest updated first; ``query`` must be in the title or a message.
        ``undecided_in``: only those with changes in this document that wait for a decision.

        ``limit`` is kept between 1 and 200. Raises ``invalid_request`` for a cursor that no reply
        gave.
        """
        limit = max(1, min(limit, MAX_LIMIT))
        statement = _SELECT.where(_IS_CHAT)
        statement = statement.order_by(SESSIONS.updated_at.desc(), SESSIONS.id.desc())
        if undecided_in is not None:
            statement = statement.where(_is_undecided_in(undecided_in))
        if cursor:
            position = sa.tuple_(*map(sa.literal, _parse_cursor(cursor)))
            statement = statement.where(sa.tuple_(SESSIONS.updated_at, SESSIONS.id) < position)

        async def read(connection: AsyncConnection) -> list[Session]:
            wanted = statement
            if query:
                ids = await in_thread(connection, lambda raw: sessions_with(raw, query))
                wanted = statement.where(_matches(query) if ids is None else SESSIONS.id.in_(ids))
            rows = await connection.execute(wanted.limit(limit + 1))
            return [_session(row._mapping) for row in rows]

        found = await self._database.read(read)
        page = found[:limit]
        more = f"{page[-1].updated_at}:{page[-1].id}" if len(found) > limit else None
        return SessionsReply(sessions=page, next_cursor=more)

    async def update(
        self,
        session_id: str,
        *,
        title: str | None = None,
        settings: SessionSettings | None = None,
    ) -> Session:
        """Change the title, and of the settings those that are set. Raises ``not_found``."""

        def write(connection: sqlite3.Connection) -> Session:
            session = row_of(connection, session_id)
            given = settings.model_fields_set if settings is not None else ()
            changed = session.model_copy(
                update={
                    "title": session.title if title is None else plain_text(title),
                    "updated_at": now_ms(),
                    "settings": session.settings.model_copy(
                        update={name: getattr(settings, name) for name in given}
                    ),
                }
            )
            UPDATE_SESSION.run(
                connection,
                session=session_id,
                title=changed.title,
                settings=to_json(changed.settings.to_wire()),
                updated_at=changed.updated_at,
            )
            return changed

        return await self._database.quick(write)

    async def unused(self, before: int) -> list[str]:
        """Sessions in which nothing happened since ``before`` (ms since 1970), the oldest first.

        Not among them are those where a turn runs or waits, or a message does.
        """

        async def query(connection: AsyncConnection) -> list[str]:
            waits = sa.exists().where(schema.queued_ops.c.session_id == SESSIONS.id)
            runs = sa.exists().where(TURNS.session_id == SESSIONS.id, TURNS.status == "running")
            found = await connection.scalars(
                sa.select(SESSIONS.id)
                .where(SESSIONS.updated_at < before, ~waits, ~runs)
                .order_by(SESSIONS.updated_at, SESSIONS.id)
            )
            return list(found)

        return await self._database.read(query)

    async def reset(
        self, session_id: str, *, title: str | None = None, events: Sequence[BaseEvent] = ()
    ) -> None:
        """Delete the turns, events and token count; event numbers continue from where they were,
        with ``events``. ``title`` is what the session is called then.

        Waiting messages stay. Raises ``not_found``.
        """

        async def write(connection: AsyncConnection) -> None:
            session = await _get(connection, session_id)
            for table in (schema.turns, schema.events, schema.compactions):
                await connection.execute(sa.delete(table).where(table.c.session_id == session_id))
            await connection.execute(
                sa.update(schema.sessions)
                .where(SESSIONS.id == session_id)
                .values(
                    title=session.title if title is None else title,
                    seq_base=session.last_seq,
                    session_tokens=0,
                    session_cost=None,
                    forked_from=None,
                    updated_at=now_ms(),
                )
            )
            await in_thread(connection, lambda raw: save_events(raw, session_id, None, events))

        await self._database.write(write)
        self._upkeep.begin()

    async def delete(self, session_id: str) -> None:
        """Delete the session and all that belongs to it. Raises ``not_found``."""

        async def write(connection: AsyncConnection) -> None:
            delete = sa.delete(schema.sessions).where(SESSIONS.id == session_id)
            if (await connection.execute(delete)).rowcount == 0:
                raise unknown_session(session_id)

        await self._database.write(write)
        self._upkeep.begin()


async def _get(connection: AsyncConnection, session_id: str) -> Session:
    row = (await connection.execute(_SELECT.where(SESSIONS.id == session_id))).one_or_none()
    if row is None:
        raise unknown_session(session_id)
    return _session(row._mapping)


def row_of(connection: sqlite3.Connection, session_id: str) -> Session:
    """The session, read in the connection's thread. Raises ``not_found``."""
    row = SELECT_SESSION.run(connection, session=session_id).fetchone()
    if row is None:
        raise unknown_session(session_id)
    return _session(dict(zip(_NAMES, row, strict=True)))


def _session(row: Any) -> Session:
    settings = SessionSettings.model_validate(from_json(row["settings"]))
    origin = from_json(row["forked_from"])
    forked_from = None if origin is None else ForkOrigin.model_validate(origin)
    return Session(**{**row, "settings": settings, "forked_from": forked_from})


def _matches(query: str) -> sa.ColumnElement[bool]:
    pattern = like_pattern(query)
    message = sa.exists().where(
        TURNS.session_id == SESSIONS.id, TURNS.message.like(pattern, escape="\\")
    )
    return SESSIONS.title.like(pattern, escape="\\") | message


def _is_undecided_in(path: str) -> sa.ColumnElement[bool]:
    spans = schema.checkpoints.c
    # What is settled has no span any more.
    return sa.exists().where(
        spans.path == path,
        spans.turn_id == TURNS.id,
        TURNS.session_id == SESSIONS.id,
        TURNS.withdrawn_at.is_(None),
    )


def _parse_cursor(cursor: str) -> tuple[int, str]:
    updated_at, _, session_id = cursor.partition(":")
    if not (updated_at.isdecimal() and session_id and len(updated_at) < 19):
        raise AgentError("invalid_request", "The cursor is not valid.")
    return int(updated_at), session_id

"""What the model is sent of a conversation: its newest compaction, and the turns after it."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import now_ms
from ...protocol.events import BaseEvent
from ...protocol.requests import Usage
from .. import schema
from ..encoding import from_json, plain_text, to_json
from ..file.database import Database
from ..file.driver import in_thread
from ..records import Compaction, StoredConversation, TurnContext, TurnHistory
from .answers import CHOSEN_TEXT, keep_summary
from .chosen_answers import with_answer
from .event_log import last_seq, save_events
from .statements import run_all, turn_statements

COMPACTIONS = schema.compactions.c
ITEMS = schema.items.c
CONTEXTS = schema.contexts.c
TURNS = schema.turns.c

# A turn that the user went back behind after it was compacted is still in the summary.
_OUT_OF_DATE = sa.exists().where(
    TURNS.session_id == COMPACTIONS.session_id,
    TURNS.position <= COMPACTIONS.through,
    TURNS.withdrawn_seq > COMPACTIONS.seq,
)


class Compactions:
    """The table of compactions. Turns and items are never deleted for one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def conversation(self, session_id: str) -> StoredConversation:
        """The session's newest compaction that holds, if any, and the turns after it, without
        those that were withdrawn. A turn that is still running is among them."""

        async def query(connection: AsyncConnection) -> StoredConversation:
            compaction = await _newest(connection, session_id)
            return StoredConversation(compaction, await _turns(connection, session_id, compaction))

        return await self._database.read(query)

    async def last_item(self, session_id: str, through: int) -> int:
        """The row of the newest item of the session's turns up to the position ``through``."""

        async def query(connection: AsyncConnection) -> int:
            found: int | None = await connection.scalar(
                sa.select(sa.func.max(ITEMS.id))
                .select_from(schema.items.join(schema.turns, ITEMS.turn_id == TURNS.id))
                .where(TURNS.session_id == session_id, TURNS.position <= through)
            )
            return found or 0

        return await self._database.read(query)

    async def save(
        self,
        session_id: str,
        compaction: Compaction,
        model: str | None,
        *,
        turn_id: str | None,
        events: Sequence[BaseEvent],
    ) -> None:
        """Keep what is sent from now on in place of older turns, with its events.

        ``model`` wrote the summary. Without ``turn_id`` the events belong to the session.
        """
        row = {
            "session_id": session_id,
            "through": compaction.through,
            "last_item": compaction.last_item,
            "how": compaction.how,
            "items": to_json(compaction.items),
            "messages": to_json(compaction.messages),
            "summary": None if compaction.summary is None else plain_text(compaction.summary),
            "model": model,
            "tokens_before": compaction.tokens_before,
            "tokens_after": compaction.tokens_after,
            "created_at": now_ms(),
        }

        async def write(connection: AsyncConnection) -> None:
            await in_thread(connection, lambda raw: save_events(raw, session_id, turn_id, events))
            seq = await in_thread(connection, lambda raw: last_seq(raw, session_id))
            await connection.execute(sa.insert(schema.compactions), {**row, "seq": seq})
            if compaction.how == "summary" and compaction.summary is not None:
                text = compaction.summary
                where = (session_id, turn_id, compaction.through)
                await in_thread(connection, lambda raw: keep_summary(raw, *where, model, text))

        await self._database.write(write)

    async def count(
        self,
        session_id: str,
        position: int,
        usage: Usage,
        model: str,
        *,
        events: Sequence[BaseEvent],
    ) -> None:
        """Count a call that belongs to no turn for the one at ``position``."""

        async def write(connection: AsyncConnection) -> None:
            turn_id = (
                await connection.execute(
                    sa.select(TURNS.id).where(
                        TURNS.session_id == session_id, TURNS.position == position
                    )
                )
            ).scalar_one()
            statements = turn_statements(session_id, turn_id, usage=usage, model=model)
            await in_thread(connection, lambda raw: run_all(raw, statements))
            await in_thread(connection, lambda raw: save_events(raw, session_id, None, events))

        await self._database.write(write)


async def _newest(connection: AsyncConnection, session_id: str) -> Compaction | None:
    row = (
        await connection.execute(
            sa.select(schema.compactions)
            .where(COMPACTIONS.session_id == session_id, ~_OUT_OF_DATE)
            .order_by(COMPACTIONS.id.desc())
            .limit(1)
        )
    ).one_or_none()
    if row is None:
        return None
    return Compaction(
        through=row.through,
        last_item=row.last_item,
        how=row.how,
        items=from_json(row.items),
        messages=from_json(row.messages),
        summary=row.summary,
        tokens_before=row.tokens_before,
        tokens_after=row.tokens_after,
    )


async def _turns(
    connection: AsyncConnection, session_id: str, compaction: Compaction | None
) -> list[TurnHistory]:
    """The turns after the compaction; of those before it, what was added later."""
    of_session = (TURNS.session_id == session_id) & TURNS.withdrawn_at.is_(None)
    turns = sa.select(TURNS.id, TURNS.position, TURNS.status, TURNS.aborted_reason, CHOSEN_TEXT)
    items = sa.select(ITEMS.turn_id, ITEMS.data).join(schema.turns, ITEMS.turn_id == TURNS.id)
    after: sa.ColumnElement[bool] = sa.true()
    if compaction is not None:
        # A note comes to the newest turn that there is, so only that one can have items to come.
        late = (TURNS.position == compaction.through) & (ITEMS.id > compaction.last_item)
        items = items.where((TURNS.position > compaction.through) | late)
        after = TURNS.position >= compaction.through
    by_turn: dict[str, list[str]] = {}
    for item in await connection.execute(items.where(of_session, after).order_by(ITEMS.id)):
        by_turn.setdefault(item.turn_id, []).append(item.data)
    rows = await connection.execute(turns.where(of_session, after).order_by(TURNS.position))
    through = -1 if compaction is None else compaction.through
    contexts = await _contexts(connection, of_session & (TURNS.position > through))
    return [
        TurnHistory(
            turn_id=row.id,
            index=row.position,
            status=row.status,
            aborted_reason=row.aborted_reason if row.position > through else None,
            items=with_answer(
                [from_json(data) for data in by_turn.get(row.id, [])],
                row.chosen_text if row.position > through else None,
            ),
            context=contexts.get(row.id),
        )
        for row in rows
        if row.position > through or row.id in by_turn
    ]


async def _contexts(
    connection: AsyncConnection, where: sa.ColumnElement[bool]
) -> dict[str, TurnContext]:
    """The contexts of these turns, by turn."""
    found = await connection.execute(
        sa.select(schema.contexts).join(schema.turns, CONTEXTS.turn_id == TURNS.id).where(where)
    )
    return {row.turn_id: TurnContext(from_json(row.data), from_json(row.stated)) for row in found}

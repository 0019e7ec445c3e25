"""A conversation copied into a session of its own, up to one of its turns.

What the copied turns said and did is there again under new ids; what they cost and what could be
reverted of them stay with the original. A copy of a turn that was withdrawn is the conversation
as it was when that turn began.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import new_id, now_ms
from ...protocol.errors import AgentError
from ...protocol.requests import Session
from ...protocol.sessions import ForkOrigin
from .. import schema
from ..encoding import from_json, to_json
from ..file.database import Database
from .checkpoints import INSERT_CELL
from .event_log import INSERT_EVENT, join_deltas
from .sessions import INSERT_SESSION, row_of, unknown_session
from .statements import (
    INSERT_CHANGE,
    INSERT_ITEM,
    UPSERT_TOOL_CALL,
    Compiled,
    Statement,
    insert_into,
    run_all,
)
from .turns import INSERT_TURN, children_of, events_of, unknown_turn

SESSIONS = schema.sessions.c
TURNS = schema.turns.c
COMPACTIONS = schema.compactions.c
ITEMS = schema.items.c
PLANS = schema.plans.c
INSERT_PLAN = insert_into(schema.plans)
INSERT_COMPACTION = insert_into(schema.compactions)
INSERT_KIND = insert_into(schema.session_kinds)
INSERT_DATASET = insert_into(schema.session_datasets)
_LAST_SUMMED_UP = (
    sa.select(ITEMS.id)
    .where(ITEMS.turn_id == sa.bindparam("turn"))
    .order_by(ITEMS.id)
    .limit(sa.bindparam("count"))
    .subquery()
)
SET_LAST_ITEM = Compiled(
    sa.update(schema.compactions)
    .where(COMPACTIONS.session_id == sa.bindparam("session"))
    .values(
        last_item=sa.select(
            sa.func.coalesce(sa.func.max(_LAST_SUMMED_UP.c.id), 0)
        ).scalar_subquery()
    )
)
MAX_TITLE = 200

Row = Mapping[str, Any]


@dataclass
class _Original:
    """What is read of a session that is to be copied; the rows of a turn by its id."""

    session: Row
    turns: list[Row]
    items: Mapping[str, Sequence[Any]]
    tool_calls: Mapping[str, Sequence[Any]]
    changes: Mapping[str, Sequence[Any]]
    cells: Mapping[str, Sequence[Any]]
    plans: Mapping[str, str]
    events: Mapping[str, list[dict[str, Any]]]
    compaction: Row | None
    kinds: list[Row]
    datasets: list[Row]


@dataclass
class _Copy:
    """The rows of the new session, by table."""

    session: Row
    turns: list[Row] = field(default_factory=list)
    items: list[Row] = field(default_factory=list)
    tool_calls: list[Row] = field(default_factory=list)
    changes: list[Row] = field(default_factory=list)
    cells: list[Row] = field(default_factory=list)
    plans: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    compactions: list[Row] = field(default_factory=list)
    kinds: list[Row] = field(default_factory=list)
    datasets: list[Row] = field(default_factory=list)
    summed_up: int = 0
    """How many items of the last turn that a compaction stands for it stands for."""

    def statements(self) -> list[Statement]:
        """What makes it, in an order that keeps every reference whole."""
        return [
            INSERT_SESSION.rows([self.session]),
            # Before the turns: those of some kinds are not searched.
            INSERT_KIND.rows(self.kinds),
            INSERT_DATASET.rows(self.datasets),
            INSERT_TURN.rows(self.turns),
            INSERT_ITEM.rows(self.items),
            UPSERT_TOOL_CALL.rows(self.tool_calls),
            INSERT_CHANGE.rows(self.changes),
            INSERT_CELL.rows(self.cells),
            INSERT_PLAN.rows(self.plans),
            INSERT_EVENT.rows(self.events),
            INSERT_COMPACTION.rows(self.compactions),
        ]


class Forks:
    """Makes copies of conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def fork(
        self, session_id: str, turn_id: str | None, note: Sequence[Mapping[str, Any]]
    ) -> Session:
        """A new session with the turns up to ``turn_id`` (None: all that have ended and were not
        withdrawn). The items of ``note`` are sent to the model after the last of them.

        Raises ``not_found``, and ``turn_in_progress`` for a turn that still runs.
        """

        async def read(connection: AsyncConnection) -> _Original:
            return await _read(connection, session_id, turn_id)

        copy = _copied(await self._database.read(read), note)
        new = copy.session["id"]

        def write(connection: Any) -> Session:
            run_all(connection, copy.statements())
            if copy.compactions:
                turn = copy.turns[copy.compactions[0]["through"]]["id"]
                SET_LAST_ITEM.run(connection, session=new, turn=turn, count=copy.summed_up)
            return row_of(connection, new)

        return await self._database.quick(write)


async def _read(connection: AsyncConnection, session_id: str, turn_id: str | None) -> _Original:
    session = await _one(connection, schema.sessions, SESSIONS.id == session_id)
    if session is None:
        raise unknown_session(session_id)
    turns = await _turns(connection, session_id, turn_id)
    ids = [turn["id"] for turn in turns]
    return _Original(
        session=session,
        turns=turns,
        items=await children_of(connection, schema.items, ids),
        tool_calls=await children_of(connection, schema.tool_calls, ids),
        changes=await children_of(connection, schema.changes, ids),
        cells=await children_of(connection, schema.checkpoint_cells, ids),
        plans=await _plans(connection, session_id),
        events=await events_of(connection, ids),
        compaction=await _compaction(connection, session_id, turns),
        kinds=await _of_session(connection, schema.session_kinds, session_id),
        datasets=await _of_session(connection, schema.session_datasets, session_id),
    )


async def _turns(connection: AsyncConnection, session_id: str, turn_id: str | None) -> list[Row]:
    """The turns that are copied, in order: those that the last of them was begun with."""
    of_session = sa.select(schema.turns).where(TURNS.session_id == session_id)
    if turn_id is None:
        statement = of_session.where(TURNS.status != "running", TURNS.withdrawn_at.is_(None))
    else:
        last = await _one(
            connection, schema.turns, (TURNS.id == turn_id) & (TURNS.session_id == session_id)
        )
        if last is None:
            raise unknown_turn(turn_id)
        if last["status"] == "running":
            raise AgentError(
                "turn_in_progress", "This turn is running. Wait until it ends, or fork before it."
            )
        statement = of_session.where(
            TURNS.position <= last["position"],
            (TURNS.id == turn_id)
            | TURNS.withdrawn_at.is_(None)
            | (TURNS.withdrawn_seq >= last["first_seq"]),
        )
    rows = await connection.execute(statement.order_by(TURNS.position))
    return [dict(row._mapping) for row in rows]


async def _plans(connection: AsyncConnection, session_id: str) -> dict[str, str]:
    statement = sa.select(PLANS.turn_id, PLANS.data).where(PLANS.session_id == session_id)
    return {row.turn_id: row.data for row in await connection.execute(statement)}


async def _compaction(
    connection: AsyncConnection, session_id: str, turns: Sequence[Row]
) -> Row | None:
    """The newest summary that was made before the last of these turns was left (withdrawn, or
    followed by another), and that stands for none but turns which are copied."""
    if not turns:
        return None
    last = turns[-1]
    next_turn = sa.select(TURNS.first_seq).where(
        TURNS.session_id == session_id, TURNS.position == last["position"] + 1
    )
    ends = [last["withdrawn_seq"], await connection.scalar(next_turn)]
    of_withdrawn = sa.exists().where(
        TURNS.session_id == session_id,
        TURNS.position <= COMPACTIONS.through,
        TURNS.withdrawn_seq > COMPACTIONS.seq,
        TURNS.withdrawn_seq < last["first_seq"],
    )
    statement = (
        sa.select(schema.compactions)
        .where(
            COMPACTIONS.session_id == session_id,
            COMPACTIONS.through < last["position"],
            *(COMPACTIONS.seq < end for end in ends if end is not None),
            ~of_withdrawn,
        )
        .order_by(COMPACTIONS.id.desc())
        .limit(1)
    )
    row = (await connection.execute(statement)).one_or_none()
    return None if row is None else dict(row._mapping)


async def _of_session(connection: AsyncConnection, table: sa.Table, session_id: str) -> list[Row]:
    rows = await connection.execute(sa.select(table).where(table.c.session_id == session_id))
    return [dict(row._mapping) for row in rows]


async def _one(
    connection: AsyncConnection, table: sa.Table, where: sa.ColumnElement[bool]
) -> Row | None:
    row = (await connection.execute(sa.select(table).where(where))).one_or_none()
    return None if row is None else dict(row._mapping)


def _copied(original: _Original, note: Sequence[Mapping[str, Any]]) -> _Copy:
    now = now_ms()
    old = original.session
    origin = ForkOrigin(
        session_id=old["id"],
        title=old["title"],
        turn_id=original.turns[-1]["id"] if original.turns else None,
    )
    copy = _Copy(
        {
            **old,
            "id": new_id("s"),
            "title": _title(old["title"]),
            "created_at": now,
            "updated_at": now,
            "session_tokens": 0,
            "session_cost": None,
            "seq_base": 0,
            "forked_from": to_json(origin.to_wire()),
        }
    )
    new = {"session_id": copy.session["id"]}
    copy.kinds += [{**row, **new} for row in original.kinds]
    copy.datasets += [{**row, **new} for row in original.datasets]
    for position, turn in enumerate(original.turns):
        _add_turn(copy, original, turn, position, now)
    if copy.turns:
        copy.items += [{"turn_id": copy.turns[-1]["id"], "data": to_json(item)} for item in note]
    if original.compaction is not None:
        through = original.compaction["through"]
        place = sum(turn["position"] <= through for turn in original.turns) - 1
        made = sum(turn["first_seq"] <= original.compaction["seq"] for turn in original.turns)
        seq = copy.turns[made - 1]["first_seq"]
        copy.compactions.append({**original.compaction, **new, "through": place, "seq": seq})
        of_turn = original.items[original.turns[place]["id"]]
        copy.summed_up = sum(item.id <= original.compaction["last_item"] for item in of_turn)
    return copy


def _title(title: str) -> str:
    mark = " (fork)"
    return title if title.endswith(mark) else f"{title[: MAX_TITLE - len(mark)]}{mark}"


def _add_turn(copy: _Copy, original: _Original, turn: Row, position: int, now: int) -> None:
    session_id, old, new = copy.session["id"], turn["id"], new_id("turn")
    events = _events(original.events[old], new, start=len(copy.events) + 1)
    cells = original.cells[old]
    if any(cell.state == "open" for cell in cells):
        kept = {"type": "changes_kept", "ofTurnId": new, "at": now}
        events.append({**kept, "turnId": new, "seq": len(copy.events) + len(events) + 1})
    request = {**from_json(turn["request"]), "sessionId": session_id}
    copy.turns.append(
        {
            **turn,
            "id": new,
            "session_id": session_id,
            "position": position,
            "op_id": None,
            "request": to_json(request),
            "first_seq": len(copy.events) + 1,
            "withdrawn_at": None,
            "withdrawn_seq": None,
            "copied_from": old,
        }
    )
    copy.items += _of(new, original.items[old])
    copy.tool_calls += _of(new, original.tool_calls[old])
    copy.changes += _of(new, original.changes[old])
    # What the original can still take back is not this turn's to take back.
    copy.cells += [
        {**row, "state": "undone" if row["state"] == "undone" else "kept", **_NO_DATA}
        for row in _of(new, cells)
    ]
    if (plan := original.plans.get(old)) is not None:
        copy.plans.append({"turn_id": new, "session_id": session_id, "data": plan})
    copy.events += [
        {
            "session_id": session_id,
            "seq": event["seq"],
            "turn_id": new,
            "type": event["type"],
            "data": to_json(event),
            "pieces": None,
        }
        for event in events
    ]


_NO_DATA = {"before": None, "cell_left": None}


def _events(events: Iterable[dict[str, Any]], turn_id: str, *, start: int) -> list[dict[str, Any]]:
    """The turn's events in short, numbered from ``start``."""
    mine = {"turnId": turn_id}
    return [
        {**event, **mine, **({"ofTurnId": turn_id} if "ofTurnId" in event else {}), "seq": number}
        for number, event in enumerate(join_deltas(events), start)
    ]


def _of(turn_id: str, rows: Iterable[Any]) -> list[dict[str, Any]]:
    return [{**row._mapping, "turn_id": turn_id} for row in rows]

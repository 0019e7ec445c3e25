"""Turns: begun, ended, and read again with everything that belongs to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.answers import FurtherAnswer, Provenance
from ...protocol.base import Location, Mode, NotebookMode, now_ms
from ...protocol.errors import AgentError, ErrorBody
from ...protocol.events import BaseEvent
from ...protocol.pictures import without_pictures
from ...protocol.requests import ChatRequest, ToolCallRecord, Turn, TurnsReply, Usage
from ...protocol.tools import Change, NotDone, TurnFacts
from .. import schema
from ..encoding import as_given, from_json, plain_text, to_json
from ..file.database import Database
from ..file.driver import Connection
from ..records import TurnHistory
from .answers import CHOSEN_TEXT, cited_answers, keep_answer
from .chosen_answers import with_answer
from .event_log import LAST_SEQ, join_deltas, save_events
from .recovery import recover_session
from .renames import register_root
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


# Turns read again: for the page and programs, and for the model's history.


MAX_LIMIT = 200
IDS_AT_ONCE = 500
"""SQLite takes a bounded number of values in one statement."""

EVENTS = schema.events.c
RESPONSES = schema.responses.c
USAGE = schema.usage.c
_NEXT = schema.turns.alias("next_turn").c

_NEXT_FIRST_SEQ = (
    sa.select(_NEXT.first_seq)
    .where(_NEXT.session_id == TURNS.session_id, _NEXT.position == TURNS.position + 1)
    .correlate(schema.turns)
    .scalar_subquery()
)
_OF_TURN = (
    (EVENTS.session_id == TURNS.session_id)
    & (EVENTS.seq >= TURNS.first_seq)
    & (EVENTS.seq < sa.func.coalesce(_NEXT_FIRST_SEQ, sa.literal(1 << 62)))
    & (
        (EVENTS.turn_id == TURNS.id)
        # What a user asked for between two turns is at the end of the one before.
        | (EVENTS.turn_id.is_(None) & (EVENTS.type == "context_compacted"))
    )
)
_TAKEN_BACK = sa.exists().where(
    schema.checkpoint_cells.c.turn_id == schema.changes.c.turn_id,
    schema.checkpoint_cells.c.path == schema.changes.c.path,
    schema.checkpoint_cells.c.cell_id == "",
    schema.checkpoint_cells.c.state == "undone",
)
# What was decided of a turn's changes may be recorded when other turns have come after it.
_LATER = (
    sa.select(schema.later_events.c.turn_id, EVENTS.data)
    .select_from(
        schema.later_events.join(schema.turns, schema.later_events.c.turn_id == TURNS.id).join(
            schema.events,
            (EVENTS.session_id == TURNS.session_id) & (EVENTS.seq == schema.later_events.c.seq),
        )
    )
    .where(EVENTS.seq >= _NEXT_FIRST_SEQ)
    .order_by(EVENTS.seq)
)
_LAST_SEQ = sa.func.coalesce(
    sa.select(EVENTS.seq)
    .where(_OF_TURN)
    .order_by(EVENTS.seq.desc())
    .limit(1)
    .correlate(schema.turns)
    .scalar_subquery(),
    TURNS.first_seq,
).label("last_seq")
_SELECT = sa.select(schema.turns, _LAST_SEQ)
# A session's turns have the positions 0, 1, 2, …
_COUNT = sa.select(sa.func.max(TURNS.position) + 1)


class TurnReader:
    """Reads turns with what belongs to them, each list of them as one state of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, turn_id: str, include_events: bool = False) -> Turn:
        """The turn with its items, calls, changes, usage. Raises ``not_found``.

        ``events`` are the turn's events with the deltas of one item joined into one.
        """

        async def query(connection: AsyncConnection) -> list[Turn]:
            rows = (await connection.execute(_SELECT.where(TURNS.id == turn_id))).all()
            return await _with_parts(connection, rows, include_events)

        turns = await self._database.read(query)
        if not turns:
            raise unknown_turn(turn_id)
        return turns[0]

    async def list_page(
        self,
        session_id: str,
        limit: int = 20,
        before: str | None = None,
        include_events: bool = False,
        *,
        after: str | None = None,
        around: str | None = None,
    ) -> TurnsReply:
        """The newest ``limit`` (1 to 200) turns, or those before, after or around a turn (an id);
        oldest first.

        Raises ``not_found`` when that is no turn of the session.
        """
        limit = max(1, min(limit, MAX_LIMIT))

        async def query(connection: AsyncConnection) -> TurnsReply:
            count = await connection.scalar(_COUNT.where(TURNS.session_id == session_id)) or 0
            first, end = 0, count
            if before is not None:
                end = await _position(connection, session_id, before)
            if after is not None:
                first = await _position(connection, session_id, after) + 1
                end = min(end, first + limit)
            if around is not None:
                middle = await _position(connection, session_id, around)
                end = min(count, max(limit, middle + limit - limit // 2))
            first = max(first, end - limit)
            statement = _SELECT.where(
                TURNS.session_id == session_id, TURNS.position >= first, TURNS.position < end
            )
            found = (await connection.execute(statement.order_by(TURNS.position))).all()
            turns = await _with_parts(connection, found, include_events)
            return TurnsReply(
                turns=turns,
                before=turns[0].id if turns and first > 0 else None,
                after=turns[-1].id if turns and end < count else None,
            )

        return await self._database.read(query)

    async def history(self, session_id: str, last_turns: int | None = None) -> list[TurnHistory]:
        """The newest ``last_turns`` turns (None: all) with their items, oldest first, without those
        that were withdrawn.

        A turn that is still running is among them.
        """

        async def query(connection: AsyncConnection) -> list[TurnHistory]:
            statement = (
                sa.select(TURNS.id, TURNS.position, TURNS.status, TURNS.aborted_reason, CHOSEN_TEXT)
                .where(TURNS.session_id == session_id, TURNS.withdrawn_at.is_(None))
                .order_by(TURNS.position.desc())
                .limit(last_turns)
            )
            rows = (await connection.execute(statement)).all()[::-1]
            items = await children_of(connection, schema.items, [row.id for row in rows])
            return [
                TurnHistory(
                    turn_id=row.id,
                    index=row.position,
                    status=row.status,
                    aborted_reason=row.aborted_reason,
                    items=with_answer(
                        [from_json(item.data) for item in items[row.id]], row.chosen_text
                    ),
                )
                for row in rows
            ]

        return await self._database.read(query)

    async def session_of(self, turn_id: str) -> str:
        """The id of the turn's session. Raises ``not_found``."""

        async def query(connection: AsyncConnection) -> str | None:
            statement = sa.select(TURNS.session_id).where(TURNS.id == turn_id)
            found: str | None = await connection.scalar(statement)
            return found

        session_id = await self._database.read(query)
        if session_id is None:
            raise unknown_turn(turn_id)
        return session_id

    async def created_paths(self, session_id: str) -> list[str]:
        """The documents that the session's turns created, oldest first, without those that were
        reverted."""

        async def query(connection: AsyncConnection) -> list[str]:
            made = schema.changes.join(schema.turns, schema.changes.c.turn_id == TURNS.id)
            rows = await connection.execute(
                sa.select(schema.changes.c.path)
                .select_from(made)
                .where(
                    TURNS.session_id == session_id,
                    TURNS.withdrawn_at.is_(None),
                    sa.func.json_extract(schema.changes.c.data, "$.op") == "create",
                    ~_TAKEN_BACK,
                )
                .order_by(schema.changes.c.id)
            )
            return list(dict.fromkeys(rows.scalars()))

        return await self._database.read(query)

    async def changes(self, turn_id: str) -> list[Change]:
        """What the turn changed in documents, in order. Raises ``not_found``."""

        async def query(connection: AsyncConnection) -> list[Change] | None:
            known = await connection.scalar(sa.select(TURNS.id).where(TURNS.id == turn_id))
            if known is None:
                return None
            return _changes((await children_of(connection, schema.changes, [turn_id]))[turn_id])

        changes = await self._database.read(query)
        if changes is None:
            raise unknown_turn(turn_id)
        return changes


async def _position(connection: AsyncConnection, session_id: str, turn_id: str) -> int:
    position: int | None = await connection.scalar(
        sa.select(TURNS.position).where(TURNS.id == turn_id, TURNS.session_id == session_id)
    )
    if position is None:
        raise AgentError("not_found", f"There is no turn {turn_id} in this session.")
    return position


async def children_of(
    connection: AsyncConnection, table: sa.Table, turn_ids: Sequence[str]
) -> dict[str, list[sa.Row[Any]]]:
    """The rows of ``table`` that belong to these turns, by turn, in the order of their making."""
    by_turn: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    for start in range(0, len(turn_ids), IDS_AT_ONCE):
        chunk = turn_ids[start : start + IDS_AT_ONCE]
        statement = sa.select(table).where(table.c.turn_id.in_(chunk)).order_by(table.c.id)
        for row in await connection.execute(statement):
            by_turn[row.turn_id].append(row)
    return by_turn


async def _with_parts(
    connection: AsyncConnection, rows: Sequence[sa.Row[Any]], include_events: bool
) -> list[Turn]:
    ids = [row.id for row in rows]
    items = await children_of(connection, schema.items, ids)
    calls = await children_of(connection, schema.tool_calls, ids)
    changes = await children_of(connection, schema.changes, ids)
    answers = await _answers(connection, ids, calls)
    costs = await children_of(connection, schema.usage, [row.id for row in rows if not row.usage])
    events = await events_of(connection, ids) if include_events else None
    return [
        _turn(
            row,
            # They may be large, and the documents have them.
            items=[without_pictures(from_json(item.data)) for item in items[row.id]],
            tool_calls=[_tool_call(call) for call in calls[row.id] if call.answer_id is None],
            changes=_changes(changes[row.id]),
            answers=_in_order(answers[row.id], from_json(row.request).get("compare") or []),
            usage=Usage.model_validate(from_json(row.usage)) if row.usage else _sum(costs[row.id]),
            events=None if events is None else join_deltas(events[row.id]),
        )
        for row in rows
    ]


def _in_order(answers: list[FurtherAnswer], models: Sequence[str]) -> list[FurtherAnswer]:
    """The answers of a comparison in the order of its models, whichever ended first; what was added
    later comes after them."""

    def place(answer: FurtherAnswer) -> int:
        is_one = answer.sources is None and answer.model in models
        return models.index(answer.model) if is_one else len(models)

    return sorted(answers, key=place)


async def _answers(
    connection: AsyncConnection,
    turn_ids: Sequence[str],
    calls: Mapping[str, Sequence[sa.Row[Any]]],
) -> dict[str, list[FurtherAnswer]]:
    """What other models answered, by turn, in the order of their answers; ``calls`` are all of
    these turns'."""
    by_turn: dict[str, list[FurtherAnswer]] = defaultdict(list)
    for start in range(0, len(turn_ids), IDS_AT_ONCE):
        of_these = RESPONSES.ai_turn_id.in_(turn_ids[start : start + IDS_AT_ONCE])
        statement = sa.select(schema.responses).where(of_these, RESPONSES.answer_id.is_not(None))
        for row in await connection.execute(statement.order_by(RESPONSES.id)):
            by_turn[row.ai_turn_id].append(
                FurtherAnswer(
                    answer_id=row.answer_id,
                    model=row.model,
                    text=row.text,
                    provenance=Provenance(
                        ai_turn_id=row.ai_turn_id,
                        provider_id=row.provider_id,
                        response_type=row.response_type,
                        response_index=row.response_index,
                    ),
                    created_at=row.created_at,
                    usage=Usage.model_validate(from_json(row.usage)) if row.usage else None,
                    duration_ms=row.duration_ms,
                    tool_calls=[
                        _tool_call(call)
                        for call in calls.get(row.ai_turn_id, ())
                        if call.answer_id == row.answer_id
                    ],
                    sources=cited_answers(row.sources, row.ai_turn_id),
                )
            )
    return by_turn


async def events_of(
    connection: AsyncConnection, turn_ids: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """The turns' events as they go over the wire, by turn, in order; later ones at its end."""
    by_turn: dict[str, list[dict[str, Any]]] = defaultdict(list)
    statement = (
        sa.select(TURNS.id.label("turn_id"), EVENTS.data)
        .select_from(sa.join(schema.turns, schema.events, _OF_TURN))
        .order_by(EVENTS.seq)
    )
    for start in range(0, len(turn_ids), IDS_AT_ONCE):
        of_these = TURNS.id.in_(turn_ids[start : start + IDS_AT_ONCE])
        for which in (statement, _LATER):
            for row in await connection.execute(which.where(of_these)):
                by_turn[row.turn_id].append(from_json(row.data))
    return by_turn


def _turn(row: sa.Row[Any], **parts: Any) -> Turn:
    error, not_done, facts = map(from_json, (row.error, row.not_done, row.facts))
    return Turn(
        id=row.id,
        session_id=row.session_id,
        index=row.position,
        status=row.status,
        mode=row.mode,
        notebook_mode=row.notebook_mode,
        location=row.location,
        model=row.model,
        message=row.message,
        reply=row.reply,
        started_at=row.started_at,
        ended_at=row.ended_at,
        duration_ms=row.duration_ms,
        first_seq=row.first_seq,
        last_seq=row.last_seq,
        withdrawn_at=row.withdrawn_at,
        copied_from=row.copied_from,
        chosen_answer=row.chosen_answer,
        compare=from_json(row.request).get("compare"),
        error=None if error is None else ErrorBody.model_validate(error),
        not_done=None if not_done is None else NotDone.model_validate(not_done),
        facts=None if facts is None else TurnFacts.model_validate(facts),
        **parts,
    )


def _tool_call(row: sa.Row[Any]) -> ToolCallRecord:
    return ToolCallRecord(
        call_id=row.call_id,
        name=row.name,
        arguments=from_json(row.arguments),
        status=row.status,
        output=from_json(row.output),
        duration_ms=row.duration_ms,
        answer_id=row.answer_id,
    )


def _changes(rows: Iterable[sa.Row[Any]]) -> list[Change]:
    return [Change.model_validate(from_json(row.data)) for row in rows]


def _sum(rows: Iterable[sa.Row[Any]]) -> Usage:
    """The usage of a turn that still runs."""
    total = Usage()
    for row in rows:
        total.input_tokens += row.input_tokens
        total.output_tokens += row.output_tokens
        total.cached_tokens += row.cached_tokens
        total.total_tokens += row.total_tokens
        total.estimated |= bool(row.estimated)
        if row.cost is not None:
            total.cost = (total.cost or 0) + row.cost
    return total

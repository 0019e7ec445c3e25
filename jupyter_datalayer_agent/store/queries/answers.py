"""Answers that several models give to the message of one turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from ...protocol.answers import CitedAnswer
from ...protocol.base import now_ms
from ...protocol.errors import AgentError
from ...protocol.events import AnswerChosen, AnswerFinished, BaseEvent
from ...protocol.history import Provenance, ResponseType, StoredResponse
from ...protocol.plans import Plan
from ...protocol.requests import ChatRequest
from .. import schema
from ..answer_provenance import answer_type, provider_of
from ..encoding import from_json, plain_text, to_json
from ..file.database import Database
from ..file.driver import Connection
from ..records import AskedWith, TurnContext
from .checkpoints import INSERT_LATER
from .event_log import LOOK_AGAIN, save_events
from .statements import Compiled, insert_into, run_all
from .upkeep import Upkeep

# Answers by their provenance: kept with the turn's end, found again by one look-up.


RESPONSES = schema.responses.c
KEY = (
    (RESPONSES.ai_turn_id == sa.bindparam("turn"))
    & (RESPONSES.provider_id == sa.bindparam("provider"))
    & (RESPONSES.response_type == sa.bindparam("type"))
)
CHOSEN_TEXT = (
    sa.select(RESPONSES.text)
    .where(
        RESPONSES.ai_turn_id == schema.turns.c.id,
        RESPONSES.answer_id == schema.turns.c.chosen_answer,
    )
    .correlate(schema.turns)
    .scalar_subquery()
    .label("chosen_text")
)
"""Of a turn, the text of the further answer that the conversation continues from; else NULL."""
INSERT = insert_into(schema.responses)
FURTHER = ("model", "answer_id", "usage", "duration_ms", "sources")
NEXT_INDEX = Compiled(
    sa.select(sa.func.coalesce(sa.func.max(RESPONSES.response_index) + 1, 0)).where(KEY)
)
LOOK_UP = Compiled(
    sa.select(
        schema.turns.c.session_id,
        schema.sessions.c.title,
        schema.turns.c.message,
        RESPONSES.text,
        schema.turns.c.reply,
        schema.plans.c.data,
        RESPONSES.created_at,
        RESPONSES.sources,
    )
    .select_from(
        schema.responses.join(schema.turns, schema.turns.c.id == RESPONSES.ai_turn_id)
        .join(schema.sessions, schema.sessions.c.id == schema.turns.c.session_id)
        .outerjoin(schema.plans, schema.plans.c.turn_id == schema.turns.c.id)
    )
    .where(KEY, RESPONSES.response_index == sa.bindparam("number"))
)
OF_TURN = Compiled(
    sa.select(
        RESPONSES.ai_turn_id,
        RESPONSES.provider_id,
        RESPONSES.response_type,
        RESPONSES.response_index,
    )
    .where(RESPONSES.ai_turn_id == sa.bindparam("turn"))
    .order_by(RESPONSES.id)
)
_MODEL = """coalesce(
    (SELECT model FROM usage WHERE turn_id = t.id ORDER BY id DESC LIMIT 1), t.model)"""
ANSWER = f"""
    SELECT t.mode, t.location, t.reply, t.ended_at, k.kind, {_MODEL}
    FROM turns AS t LEFT JOIN session_kinds AS k ON k.session_id = t.session_id
    WHERE t.id = ?"""
AT_POSITION = "SELECT id FROM turns WHERE session_id = ? AND position = ?"
PROVIDER = f"SELECT {_MODEL} FROM turns AS t WHERE t.id = ?"


def keep_answer(connection: sqlite3.Connection, turn_id: str) -> None:
    """Name the answer of a turn that has just ended; to be called in the same transaction.

    A turn without an answer has none to name.
    """
    mode, location, reply, at, kind, model = connection.execute(ANSWER, (turn_id,)).fetchone()
    if reply:
        response_type = answer_type(kind, mode, location, reply)
        add(connection, turn_id, provider_of(model), response_type, None, at=at)


def keep_plan(connection: sqlite3.Connection, turn_id: str) -> None:
    """Name the plan of a turn, once; to be called in the transaction that keeps the plan."""
    row = connection.execute(PROVIDER, (turn_id,)).fetchone()
    known = OF_TURN.run(connection, turn=turn_id).fetchall()
    if row is not None and not any(response_type == "plan" for _, _, response_type, _ in known):
        add(connection, turn_id, provider_of(row[0]), "plan", None)


def keep_summary(
    connection: sqlite3.Connection,
    session_id: str,
    turn_id: str | None,
    through: int,
    model: str | None,
    text: str,
) -> None:
    """Name a summary of the session's turns up to the position ``through``: an answer of the turn
    in which it was made, or without one of the last turn that it sums up."""
    row: Any = (turn_id,)
    if turn_id is None:
        row = connection.execute(AT_POSITION, (session_id, through)).fetchone()
    if row is not None:
        add(connection, row[0], provider_of(model), "summary", text)


def add(
    connection: sqlite3.Connection,
    turn_id: str,
    provider_id: str,
    response_type: ResponseType,
    text: str | None,
    *,
    at: int | None = None,
    further: AnswerFinished | None = None,
) -> Provenance:
    """Keep an answer under the first index that is free. ``text`` None is the turn's own reply;
    ``further`` is how an answer ended that is beside others."""
    key = {"turn": turn_id, "provider": provider_id, "type": response_type}
    (index,) = NEXT_INDEX.run(connection, **key).fetchone()
    INSERT.run(
        connection,
        ai_turn_id=turn_id,
        provider_id=provider_id,
        response_type=response_type,
        response_index=index,
        text=None if text is None else plain_text(text),
        created_at=now_ms() if at is None else at,
        **_of_further(further),
    )
    return Provenance(
        ai_turn_id=turn_id,
        provider_id=provider_id,
        response_type=response_type,
        response_index=index,
    )


def _of_further(answer: AnswerFinished | None) -> dict[str, Any]:
    """The columns that only an answer beside others has."""
    if answer is None:
        return dict.fromkeys(FURTHER)
    sources = answer.sources
    return {
        "model": answer.model,
        "answer_id": answer.answer_id,
        "usage": None if answer.usage is None else to_json(answer.usage.to_wire()),
        "duration_ms": answer.duration_ms,
        "sources": None if sources is None else to_json([each.to_wire() for each in sources]),
    }


def of_turn(connection: sqlite3.Connection, turn_id: str) -> list[Provenance]:
    """The keys of a turn's answers, in the order in which they were given."""
    return [
        Provenance(
            ai_turn_id=row[0], provider_id=row[1], response_type=row[2], response_index=row[3]
        )
        for row in OF_TURN.run(connection, turn=turn_id)
    ]


def look_up(connection: sqlite3.Connection, key: Provenance) -> StoredResponse | None:
    """The answer of that provenance, if there is one."""
    row = LOOK_UP.run(connection, **key_values(key)).fetchone()
    if row is None:
        return None
    session_id, title, message, text, reply, plan_data, at, sources = row
    plan = None
    if key.response_type == "plan" and text is None and plan_data is not None:
        plan = Plan.model_validate(from_json(plan_data))
        text = "\n".join(f"{n}. {step.description}" for n, step in enumerate(plan.steps, 1))
    return StoredResponse(
        provenance=key,
        session_id=session_id,
        session_title=title,
        message=message,
        text=reply if text is None else text,
        plan=plan,
        created_at=at,
        sources=cited_answers(sources, key.ai_turn_id),
    )


def cited_answers(sources: str | None, turn_id: str) -> list[CitedAnswer] | None:
    """The answers that a synthesis of the turn is of. A copied turn has an id of its own."""
    if sources is None:
        return None
    cited = [CitedAnswer.model_validate(each) for each in from_json(sources)]
    for each in cited:
        each.provenance.ai_turn_id = turn_id
    return cited


def key_values(key: Provenance) -> dict[str, Any]:
    """The parameters of ``LOOK_UP``."""
    return {
        "turn": key.ai_turn_id,
        "provider": key.provider_id,
        "type": key.response_type,
        "number": key.response_index,
    }


INSERT_OPEN = insert_into(schema.open_answers)
OPEN = """
    SELECT o.turn_id, o.answer_id, o.model, o.server_id, t.session_id
    FROM open_answers AS o JOIN turns AS t ON t.id = o.turn_id"""
CLOSE = "DELETE FROM open_answers WHERE turn_id = ? AND answer_id = ?"
TYPE = """
    SELECT k.kind, t.mode, t.location
    FROM turns AS t LEFT JOIN session_kinds AS k ON k.session_id = t.session_id
    WHERE t.id = ?"""
ASKED_WITH = """
    SELECT t.request, c.turn_id, c.data, c.stated
    FROM turns AS t LEFT JOIN contexts AS c ON c.turn_id = t.id
    WHERE t.id = ?"""
KNOWN = "SELECT 1 FROM responses WHERE ai_turn_id = ? AND answer_id = ?"
CHOOSE = "UPDATE turns SET chosen_answer = ? WHERE id = ?"
SERVER_ENDED = "The server ended before the answer did."


class Answers:
    """Begins and ends further answers, several of a turn at once."""

    def __init__(self, database: Database, upkeep: Upkeep) -> None:
        self._database = database
        self._upkeep = upkeep
        self._end_not_kept: set[str] = set()

    async def asked_with(self, turn_id: str) -> AskedWith:
        """What the turn's message was asked with. Raises ``not_found``."""

        def query(connection: sqlite3.Connection) -> Any:
            return connection.execute(ASKED_WITH, (turn_id,)).fetchone()

        row = await self._database.look(query)
        if row is None:
            raise AgentError("not_found", f"There is no turn {turn_id}.")
        request, known, data, stated = row
        context = None if known is None else TurnContext(from_json(data), from_json(stated))
        return AskedWith(ChatRequest.model_validate(from_json(request)), context)

    async def begin(
        self,
        session_id: str,
        turn_id: str,
        answer_id: str,
        model: str,
        events: Sequence[BaseEvent],
    ) -> None:
        """An answer begins, with its events. If the server dies under it, it is
        reported as stopped."""
        row = {
            "turn_id": turn_id,
            "answer_id": answer_id,
            "model": model,
            "server_id": self._database.server.server_id,
        }

        def write(connection: Connection) -> None:
            INSERT_OPEN.run(connection, **row)
            save_events(connection, session_id, turn_id, events)

        await self._database.quick(write)

    async def finish(
        self, session_id: str, turn_id: str, finished: AnswerFinished, *, chosen: bool = False
    ) -> None:
        """Keep how an answer ended. A complete one is saved under its ``provenance``,
        which is set in the event; ``chosen``: the conversation continues from it."""
        ends: list[BaseEvent] = [finished]
        if chosen:
            ends.append(AnswerChosen(answer_id=finished.answer_id))

        def write(connection: Connection) -> None:
            if finished.status == "completed":
                kind, mode, location = connection.execute(TYPE, (turn_id,)).fetchone()
                own = answer_type(kind, mode, location, finished.text)
                finished.provenance = add(
                    connection,
                    turn_id,
                    provider_of(finished.model),
                    own if finished.sources is None else "synthesis",
                    finished.text,
                    further=finished,
                )
            if chosen:
                connection.execute(CHOOSE, (finished.answer_id, turn_id))
            _write_end(connection, session_id, turn_id, ends)

        try:
            await self._database.quick(write)
        except AgentError:
            # This answer is no longer generated, whatever its status in the database.
            self._end_not_kept.add(finished.answer_id)
            raise
        self._upkeep.begin()

    async def choose(
        self, session_id: str, turn_id: str, answer_id: str | None, events: Sequence[BaseEvent]
    ) -> None:
        """The conversation continues from this answer of the turn; None: from its own.

        Raises ``not_found`` for an answer that the turn has not.
        """

        def write(connection: Connection) -> None:
            known = connection.execute(KNOWN, (turn_id, answer_id)).fetchone()
            if answer_id is not None and known is None:
                raise AgentError("not_found", f"The turn {turn_id} has no answer {answer_id}.")
            connection.execute(CHOOSE, (answer_id, turn_id))
            save_events(connection, session_id, turn_id, events)

        await self._database.quick(write)

    async def recover(self, session_id: str | None) -> None:
        """End orphaned answers, of one session or all, and report it."""

        def rows(connection: sqlite3.Connection) -> list[Any]:
            found = connection.execute(OPEN).fetchall()
            return [row for row in found if session_id in (None, row[4]) and self._is_over(row)]

        def write(connection: Connection) -> None:
            for turn_id, answer_id, model, _, session in rows(connection):
                finished = AnswerFinished(
                    answer_id=answer_id, model=model, status="stopped", message=SERVER_ENDED
                )
                _write_end(connection, session, turn_id, [finished])

        if await self._database.look(rows):
            await self._database.quick(write)

    def _is_over(self, row: Any) -> bool:
        _, answer_id, _, server_id, _ = row
        return answer_id in self._end_not_kept or not self._database.server.is_alive(server_id)


def _write_end(
    connection: Connection, session_id: str, turn_id: str, ends: Sequence[BaseEvent]
) -> None:
    finished = [event for event in ends if isinstance(event, AnswerFinished)]
    connection.executemany(CLOSE, [(turn_id, event.answer_id) for event in finished])
    connection.execute(LOOK_AGAIN, (turn_id,))
    save_events(connection, session_id, turn_id, ends)
    # Another server may have begun the next turn meanwhile.
    later = [{"turn_id": turn_id, "seq": event.seq} for event in ends]
    run_all(connection, [INSERT_LATER.rows(later)])

"""Answers by their provenance: kept with the turn's end, found again by one look-up."""

from __future__ import annotations

import sqlite3
from typing import Any

import sqlalchemy as sa

from ...protocol.answers import CitedAnswer
from ...protocol.base import now_ms
from ...protocol.events import AnswerFinished
from ...protocol.history import Provenance, ResponseType, StoredResponse
from ...protocol.plans import Plan
from .. import schema
from ..answer_provenance import answer_type, provider_of
from ..encoding import from_json, plain_text, to_json
from .statements import Compiled, insert_into

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

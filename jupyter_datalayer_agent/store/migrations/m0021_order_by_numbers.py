"""Numbers of events tell what came first, a turn, a rewind or a summary, since a clock may be set.

Rewinds and summaries of earlier versions get the numbers of their events.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

STATEMENTS = """
ALTER TABLE turns ADD COLUMN withdrawn_seq INTEGER;
ALTER TABLE compactions ADD COLUMN seq INTEGER DEFAULT 0 NOT NULL
"""
# As it was decided before: of the first turn that began later, by the clock.
BY_TIME = """coalesce(
    (SELECT min(t.first_seq) - 1 FROM turns t
     WHERE t.session_id = {table}.session_id AND t.started_at > {table}.{time}),
    (SELECT max(e.seq) FROM events e WHERE e.session_id = {table}.session_id),
    0)"""
EVENTS = """SELECT session_id, seq, data FROM events
    WHERE session_id IN ({sessions}) AND type = ? ORDER BY session_id, seq"""


def upgrade(connection: sa.Connection) -> None:
    """Add the columns, and fill them."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)
    _number_rewinds(connection)
    _number_summaries(connection)


def _number_rewinds(connection: sa.Connection) -> None:
    by_time = BY_TIME.format(table="turns", time="withdrawn_at")
    connection.exec_driver_sql(
        f"UPDATE turns SET withdrawn_seq = {by_time} WHERE withdrawn_at IS NOT NULL"
    )
    sessions = "SELECT session_id FROM turns WHERE withdrawn_at IS NOT NULL"
    for event in _events(connection, sessions, "went_back"):
        for turn in json.loads(event.data)["withdrawn"]:
            connection.exec_driver_sql(
                "UPDATE turns SET withdrawn_seq = ? WHERE id = ? AND withdrawn_at IS NOT NULL",
                (event.seq, turn),
            )


def _number_summaries(connection: sa.Connection) -> None:
    by_time = BY_TIME.format(table="compactions", time="created_at")
    connection.exec_driver_sql(f"UPDATE compactions SET seq = {by_time}")
    events: dict[str, list[int]] = {}
    for event in _events(connection, "SELECT session_id FROM compactions", "context_compacted"):
        events.setdefault(event.session_id, []).append(event.seq)
    rows = connection.exec_driver_sql("SELECT id, session_id FROM compactions ORDER BY id DESC")
    # A fork may have more of the events than it has summaries: it copies the newest one alone.
    for row in rows.all():
        if numbers := events.get(row.session_id):
            connection.exec_driver_sql(
                "UPDATE compactions SET seq = ? WHERE id = ?", (numbers.pop(), row.id)
            )


def _events(connection: sa.Connection, sessions: str, kind: str) -> Sequence[Any]:
    return connection.exec_driver_sql(EVENTS.format(sessions=sessions), (kind,)).all()

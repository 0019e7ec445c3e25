"""Indexes by time, for what was used in the last days: no query of it reads what is older, nor
the texts of turns and calls."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
CREATE INDEX usage_by_time ON usage (at);
CREATE INDEX turns_by_start
    ON turns (started_at, copied_from, id, session_id, model, duration_ms);
CREATE INDEX tool_calls_by_status ON tool_calls (turn_id, status)
"""


def upgrade(connection: sa.Connection) -> None:
    """Create the indexes."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

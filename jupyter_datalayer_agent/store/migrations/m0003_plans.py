"""The plans of planned workflows, one a turn."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
CREATE TABLE plans (
    turn_id TEXT NOT NULL PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    data TEXT NOT NULL
);
CREATE INDEX plans_by_session ON plans (session_id)
"""


def upgrade(connection: sa.Connection) -> None:
    """Create the table."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

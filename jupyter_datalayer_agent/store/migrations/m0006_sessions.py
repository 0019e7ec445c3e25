"""Forks: where a session, and each turn that was copied into it, comes from."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
ALTER TABLE sessions ADD COLUMN forked_from TEXT;
ALTER TABLE turns ADD COLUMN copied_from TEXT
"""


def upgrade(connection: sa.Connection) -> None:
    """Add the columns."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

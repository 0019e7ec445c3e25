"""What calls of models used that no session remembers, as suggested next cells are."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = [
    """CREATE TABLE usage_apart (
        id INTEGER NOT NULL PRIMARY KEY,
        model TEXT,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        total_tokens INTEGER NOT NULL,
        at INTEGER NOT NULL,
        cost FLOAT,
        estimated INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX usage_apart_by_time ON usage_apart (at)",
]


def upgrade(connection: sa.Connection) -> None:
    """Create the table and its index by time."""
    for statement in STATEMENTS:
        connection.exec_driver_sql(statement)

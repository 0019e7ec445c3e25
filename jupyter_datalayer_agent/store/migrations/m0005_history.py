"""What is sent of a long conversation, turns that the user went back behind, and costs."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
CREATE TABLE compactions (
    id INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    through INTEGER NOT NULL,
    last_item INTEGER NOT NULL,
    how TEXT NOT NULL,
    items TEXT NOT NULL,
    messages TEXT NOT NULL,
    summary TEXT,
    model TEXT,
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX compactions_by_session ON compactions (session_id, id);
ALTER TABLE turns ADD COLUMN withdrawn_at INTEGER;
ALTER TABLE usage ADD COLUMN cost FLOAT;
ALTER TABLE usage ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN session_cost FLOAT
"""


def upgrade(connection: sa.Connection) -> None:
    """Create the table and the columns."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

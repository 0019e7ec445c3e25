"""Data sets, by the server root that they are under, and the sessions that know them."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
CREATE TABLE datasets (
    root TEXT NOT NULL,
    name TEXT NOT NULL,
    shared BOOLEAN NOT NULL,
    data TEXT NOT NULL,
    sample TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (root, name)
);
CREATE TABLE session_datasets (
    session_id TEXT NOT NULL,
    root TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (session_id, root, name),
    FOREIGN KEY (root, name) REFERENCES datasets (root, name) ON DELETE CASCADE,
    FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE
);
CREATE INDEX session_datasets_by_dataset ON session_datasets (root, name)
"""


def upgrade(connection: sa.Connection) -> None:
    """Create the tables."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

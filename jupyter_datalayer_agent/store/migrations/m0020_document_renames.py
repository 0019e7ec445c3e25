"""Renames and deletions of documents: pages that were away and models that know an old path ask for
them, also after a restart."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
CREATE TABLE document_renames (
    id INTEGER NOT NULL PRIMARY KEY,
    root TEXT NOT NULL,
    old_path TEXT NOT NULL,
    path TEXT NOT NULL,
    at INTEGER NOT NULL
);
CREATE INDEX document_renames_by_time ON document_renames (root, at)
"""


def upgrade(connection: sa.Connection) -> None:
    """Create the table."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

"""What turns changed in documents, as it was before, and what became of these changes."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
CREATE TABLE checkpoints (
    id INTEGER NOT NULL PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    span INTEGER NOT NULL,
    cell_order BLOB NOT NULL,
    order_left BLOB NOT NULL,
    moved TEXT NOT NULL
);
CREATE UNIQUE INDEX checkpoints_by_turn ON checkpoints (turn_id, path, span);
CREATE TABLE checkpoint_cells (
    id INTEGER NOT NULL PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    span INTEGER NOT NULL,
    cell_id TEXT NOT NULL,
    state TEXT NOT NULL,
    before BLOB,
    cell_left BLOB
);
CREATE UNIQUE INDEX checkpoint_cells_by_turn
    ON checkpoint_cells (turn_id, path, span, cell_id);
CREATE TABLE later_events (
    id INTEGER NOT NULL PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL
);
CREATE INDEX later_events_by_turn ON later_events (turn_id)
"""


def upgrade(connection: sa.Connection) -> None:
    """Create the tables."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

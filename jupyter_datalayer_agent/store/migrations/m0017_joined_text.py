"""Streamed text of turns that have ended is kept in one piece, and not as it came."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = [
    # The lengths of the pieces that an event stands for; NULL where it is as it was sent.
    "ALTER TABLE events ADD COLUMN pieces TEXT",
    """CREATE TABLE unjoined_turns (
        turn_id TEXT NOT NULL PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
        next_seq INTEGER NOT NULL
    )""",
    "INSERT INTO unjoined_turns SELECT id, first_seq FROM turns WHERE status <> 'running'",
    """CREATE TRIGGER turn_ended AFTER UPDATE OF status ON turns
    WHEN OLD.status = 'running' AND NEW.status <> 'running'
    BEGIN
        INSERT OR IGNORE INTO unjoined_turns (turn_id, next_seq) VALUES (NEW.id, NEW.first_seq);
    END""",
]


def upgrade(connection: sa.Connection) -> None:
    """Note which turns are to be looked through; that is done beside the server's work."""
    for statement in STATEMENTS:
        connection.exec_driver_sql(statement)

"""Where tutorials were started, and the lessons that were passed."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
CREATE TABLE started_tutorials (
    tutorial TEXT NOT NULL PRIMARY KEY,
    notebook TEXT NOT NULL
);
CREATE TABLE passed_lessons (
    tutorial TEXT NOT NULL,
    lesson INTEGER NOT NULL,
    passed_at INTEGER NOT NULL,
    PRIMARY KEY (tutorial, lesson)
)
"""


def upgrade(connection: sa.Connection) -> None:
    """Create the tables."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

"""The context of every turn, which stays in the history, and no longer of a session's newest alone.

The trigger of copies is made anew, so that it copies all of it.
"""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = [
    "DROP TRIGGER responses_copied",
    "ALTER TABLE contexts RENAME TO contexts_of_newest",
    """CREATE TABLE contexts (
        turn_id TEXT NOT NULL PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
        data TEXT,
        stated TEXT
    )""",
    "INSERT INTO contexts (turn_id, data) SELECT turn_id, data FROM contexts_of_newest",
    "DROP TABLE contexts_of_newest",
    """CREATE TRIGGER responses_copied AFTER INSERT ON turns WHEN NEW.copied_from IS NOT NULL
    BEGIN
        INSERT INTO responses (ai_turn_id, provider_id, response_type, response_index, text,
            created_at, model, answer_id)
            SELECT NEW.id, provider_id, response_type, response_index, text, created_at, model,
            answer_id FROM responses WHERE ai_turn_id = NEW.copied_from ORDER BY id;
        INSERT INTO contexts (turn_id, data, stated)
            SELECT NEW.id, data, stated FROM contexts WHERE turn_id = NEW.copied_from;
    END""",
]


def upgrade(connection: sa.Connection) -> None:
    """Make the table and the trigger anew, with what is kept."""
    for statement in STATEMENTS:
        connection.exec_driver_sql(statement)

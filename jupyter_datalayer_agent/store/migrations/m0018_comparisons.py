"""Several answers to one message at once: what each cost and called, and syntheses of them.

The trigger of copies is made anew, so that it copies all of it.
"""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = [
    "ALTER TABLE responses ADD COLUMN usage TEXT",
    "ALTER TABLE responses ADD COLUMN duration_ms FLOAT",
    # The answers that a synthesis is of, as JSON; NULL for all others.
    "ALTER TABLE responses ADD COLUMN sources TEXT",
    "ALTER TABLE tool_calls ADD COLUMN answer_id TEXT",
    # A turn may have several answers that are being given.
    "ALTER TABLE open_answers RENAME TO single_open_answers",
    """CREATE TABLE open_answers (
        turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
        answer_id TEXT NOT NULL,
        model TEXT NOT NULL,
        server_id TEXT NOT NULL,
        PRIMARY KEY (turn_id, answer_id)
    )""",
    """INSERT INTO open_answers (turn_id, answer_id, model, server_id)
        SELECT turn_id, answer_id, model, server_id FROM single_open_answers""",
    "DROP TABLE single_open_answers",
    "DROP TRIGGER responses_copied",
    """CREATE TRIGGER responses_copied AFTER INSERT ON turns WHEN NEW.copied_from IS NOT NULL
    BEGIN
        INSERT INTO responses (ai_turn_id, provider_id, response_type, response_index, text,
            created_at, model, answer_id, usage, duration_ms, sources)
            SELECT NEW.id, provider_id, response_type, response_index, text, created_at, model,
            answer_id, usage, duration_ms, sources FROM responses
            WHERE ai_turn_id = NEW.copied_from ORDER BY id;
        INSERT INTO contexts (turn_id, data, stated)
            SELECT NEW.id, data, stated FROM contexts WHERE turn_id = NEW.copied_from;
    END""",
]


def upgrade(connection: sa.Connection) -> None:
    """Add the columns, and make the table and the trigger anew, with what is kept."""
    for statement in STATEMENTS:
        connection.exec_driver_sql(statement)

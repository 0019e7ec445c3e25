"""Answers that other models gave to the same message, and what the newest message was asked with.

The triggers of the index and of copies are made anew, so that they know of these answers.
"""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = [
    # ``answer_id`` is that of a further answer; NULL for all others.
    "ALTER TABLE responses ADD COLUMN model TEXT",
    "ALTER TABLE responses ADD COLUMN answer_id TEXT",
    "ALTER TABLE turns ADD COLUMN chosen_answer TEXT",
    # One row for a session: only its newest message can be asked again.
    """CREATE TABLE contexts (
        session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
        turn_id TEXT NOT NULL UNIQUE REFERENCES turns (id) ON DELETE CASCADE,
        data TEXT NOT NULL
    )""",
    """CREATE TABLE open_answers (
        turn_id TEXT NOT NULL PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
        answer_id TEXT NOT NULL,
        model TEXT NOT NULL,
        server_id TEXT NOT NULL
    )""",
    """CREATE TRIGGER search_answer_added AFTER INSERT ON responses WHEN NEW.answer_id IS NOT NULL
    BEGIN
        INSERT INTO search_texts (turn_id, session_id, role, change_id)
            SELECT id, session_id, 'answer', NEW.id FROM turns WHERE id = NEW.ai_turn_id
            AND session_id NOT IN (SELECT session_id FROM session_kinds);
        INSERT INTO search_index (rowid, text)
            SELECT id, NEW.text FROM search_texts
            WHERE turn_id = NEW.ai_turn_id AND role = 'answer' AND change_id = NEW.id;
    END""",
    "DROP TRIGGER search_turn_removed",
    """CREATE TRIGGER search_turn_removed BEFORE DELETE ON turns
    BEGIN
        INSERT INTO search_index (search_index, rowid, text)
            SELECT 'delete', id, OLD.message FROM search_texts
            WHERE turn_id = OLD.id AND role = 'user';
        INSERT INTO search_index (search_index, rowid, text)
            SELECT 'delete', id, OLD.reply FROM search_texts
            WHERE turn_id = OLD.id AND role = 'assistant';
        INSERT INTO search_index (search_index, rowid, text)
            SELECT 'delete', s.id, r.text
            FROM search_texts AS s JOIN responses AS r ON r.id = s.change_id
            WHERE s.turn_id = OLD.id AND s.role = 'answer';
        INSERT INTO search_index (search_index, rowid, text)
            SELECT 'delete', s.id, json_extract(c.data, '$.after')
            FROM search_texts AS s JOIN changes AS c ON c.id = s.change_id
            WHERE s.turn_id = OLD.id AND s.role = 'code';
        DELETE FROM search_texts WHERE turn_id = OLD.id;
    END""",
    "DROP TRIGGER responses_copied",
    """CREATE TRIGGER responses_copied AFTER INSERT ON turns WHEN NEW.copied_from IS NOT NULL
    BEGIN
        INSERT INTO responses (ai_turn_id, provider_id, response_type, response_index, text,
            created_at, model, answer_id)
            SELECT NEW.id, provider_id, response_type, response_index, text, created_at, model,
            answer_id FROM responses WHERE ai_turn_id = NEW.copied_from ORDER BY id;
        INSERT INTO contexts (session_id, turn_id, data)
            SELECT NEW.session_id, NEW.id, data FROM contexts WHERE turn_id = NEW.copied_from;
    END""",
]


def upgrade(connection: sa.Connection) -> None:
    """Add the columns and tables, and make the triggers anew."""
    for statement in STATEMENTS:
        connection.exec_driver_sql(statement)

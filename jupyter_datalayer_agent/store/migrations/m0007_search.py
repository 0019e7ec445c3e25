"""Where answers come from, the index of what was said, and sessions that are no chats.

The index follows the table of turns by triggers, so that whatever writes a turn keeps it current in
the same transaction. A later step that makes the table of turns anew must make them anew, too.
"""

from __future__ import annotations

import sqlite3

import sqlalchemy as sa

from ...protocol.errors import AgentError
from ..answer_provenance import answer_type, provider_of
from ..search import BLOCK, TEXTS_OF_BLOCK, grams, text_of

OLDEST_SQLITE = (3, 34, 0)
"""The first version with the trigram tokenizer."""

TABLES = [
    """CREATE TABLE session_kinds (
        session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
        kind TEXT NOT NULL
    )""",
    """CREATE TABLE responses (
        id INTEGER NOT NULL PRIMARY KEY,
        ai_turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
        provider_id TEXT NOT NULL,
        response_type TEXT NOT NULL,
        response_index INTEGER NOT NULL,
        text TEXT,
        created_at INTEGER NOT NULL
    )""",
    """CREATE UNIQUE INDEX responses_by_key
        ON responses (ai_turn_id, provider_id, response_type, response_index)""",
    # Numbers are never used again: what is known of a block of texts holds for ever.
    """CREATE TABLE search_texts (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        turn_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        role TEXT NOT NULL,
        change_id INTEGER
    )""",
    "CREATE INDEX search_texts_by_turn ON search_texts (turn_id, role, change_id)",
    "CREATE INDEX search_texts_by_session ON search_texts (session_id, id)",
    "CREATE TABLE search_sealed (blocks INTEGER NOT NULL)",
    "CREATE VIRTUAL TABLE search_index USING fts5(text, content='', tokenize='trigram')",
    "CREATE VIRTUAL TABLE search_short USING fts5(grams, content='', detail='none')",
]

# Of a change, the text that was written; a cell that was only moved says nothing new.
WRITTEN = "json_extract({0}.data, '$.after') <> '' AND json_extract({0}.data, '$.op') <> 'move'"

FILL = [
    f"""INSERT INTO search_texts (turn_id, session_id, role, change_id)
        SELECT id, session_id, role, change_id FROM (
            SELECT id, session_id, 'user' AS role, NULL AS change_id, started_at AS at FROM turns
            UNION ALL
            SELECT t.id, t.session_id, 'code', c.id, coalesce(t.ended_at, t.started_at)
            FROM changes AS c JOIN turns AS t ON t.id = c.turn_id WHERE {WRITTEN.format("c")}
            UNION ALL
            SELECT id, session_id, 'assistant', NULL, coalesce(ended_at, started_at)
            FROM turns WHERE reply <> ''
        ) ORDER BY at, id, role = 'assistant', change_id""",
    """INSERT INTO search_index (rowid, text)
        SELECT s.id, CASE s.role WHEN 'user' THEN t.message WHEN 'assistant' THEN t.reply
            ELSE (SELECT json_extract(data, '$.after') FROM changes WHERE id = s.change_id) END
        FROM search_texts AS s JOIN turns AS t ON t.id = s.turn_id ORDER BY s.id""",
    # From here on merges are done after turns, in small steps, and not in their commits.
    "INSERT INTO search_index (search_index, rank) VALUES ('automerge', 0)",
]

CHAT = "NOT EXISTS (SELECT 1 FROM session_kinds WHERE session_id = NEW.session_id)"

ADD = """
    INSERT INTO search_texts (turn_id, session_id, role)
        SELECT NEW.id, NEW.session_id, '{role}' WHERE NEW.{column} <> '';
    INSERT INTO search_index (rowid, text)
        SELECT id, NEW.{column} FROM search_texts WHERE turn_id = NEW.id AND role = '{role}';"""
DROP = """
    INSERT INTO search_index (search_index, rowid, text)
        SELECT 'delete', id, OLD.{column} FROM search_texts
        WHERE turn_id = OLD.id AND role = '{role}';
    DELETE FROM search_texts WHERE turn_id = OLD.id AND role = '{role}';"""
ROLES = (("user", "message"), ("assistant", "reply"))


def _each(template: str) -> str:
    return "".join(template.format(role=role, column=column) for role, column in ROLES)


TRIGGERS = [
    f"CREATE TRIGGER search_turn_added AFTER INSERT ON turns WHEN {CHAT}\nBEGIN{_each(ADD)}\nEND",
    f"""CREATE TRIGGER search_turn_removed BEFORE DELETE ON turns
    BEGIN{_each(DROP)}
    INSERT INTO search_index (search_index, rowid, text)
        SELECT 'delete', s.id, json_extract(c.data, '$.after')
        FROM search_texts AS s JOIN changes AS c ON c.id = s.change_id
        WHERE s.turn_id = OLD.id AND s.role = 'code';
    DELETE FROM search_texts WHERE turn_id = OLD.id;
    END""",
    f"""CREATE TRIGGER search_change_added AFTER INSERT ON changes WHEN {WRITTEN.format("NEW")}
    BEGIN
        INSERT INTO search_texts (turn_id, session_id, role, change_id)
            SELECT id, session_id, 'code', NEW.id FROM turns WHERE id = NEW.turn_id
            AND session_id NOT IN (SELECT session_id FROM session_kinds);
        INSERT INTO search_index (rowid, text)
            SELECT id, json_extract(NEW.data, '$.after') FROM search_texts
            WHERE turn_id = NEW.turn_id AND role = 'code' AND change_id = NEW.id;
    END""",
    *(
        f"CREATE TRIGGER search_{column}_changed AFTER UPDATE OF {column} ON turns\n"
        f"WHEN NEW.{column} IS NOT OLD.{column} AND {CHAT}\n"
        f"BEGIN{(DROP + ADD).format(role=role, column=column)}\nEND"
        for role, column in ROLES
    ),
    """CREATE TRIGGER responses_copied AFTER INSERT ON turns WHEN NEW.copied_from IS NOT NULL
    BEGIN
        INSERT INTO responses
            (ai_turn_id, provider_id, response_type, response_index, text, created_at)
            SELECT NEW.id, provider_id, response_type, response_index, text, created_at
            FROM responses WHERE ai_turn_id = NEW.copied_from;
    END""",
]

ANSWERED = """
    SELECT t.rowid, t.id, t.mode, t.location, t.reply, coalesce(t.ended_at, t.started_at),
        coalesce((SELECT model FROM usage WHERE turn_id = t.id ORDER BY id DESC LIMIT 1), t.model),
        EXISTS (SELECT 1 FROM plans WHERE turn_id = t.id)
    FROM turns AS t WHERE t.rowid > ? ORDER BY t.rowid LIMIT 200"""
RESPONSE = """
    INSERT INTO responses (ai_turn_id, provider_id, response_type, response_index, created_at)
    VALUES (?, ?, ?, 0, ?)"""


def upgrade(connection: sa.Connection) -> None:
    """Create the tables and fill them from the turns that there are, in bounded memory."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise AgentError(
            "internal",
            "Conversations are kept and searched with SQLite 3.34 or newer, and this Python has "
            f"{sqlite3.sqlite_version}. Use a Python with a newer SQLite, for example conda's.",
        )
    for statement in (*TABLES, *FILL, *TRIGGERS):
        connection.exec_driver_sql(statement)
    _describe_blocks(connection)
    _name_answers(connection)


def _describe_blocks(connection: sa.Connection) -> None:
    last = connection.exec_driver_sql("SELECT max(id) FROM search_texts").scalar() or 0
    for block in range(1, last // BLOCK + 1):
        bounds = ((block - 1) * BLOCK, block * BLOCK)
        rows = connection.exec_driver_sql(TEXTS_OF_BLOCK, bounds)
        found = grams(text_of(role, value) for role, value in rows)
        connection.exec_driver_sql(
            "INSERT INTO search_short (rowid, grams) VALUES (?, ?)", (block, found)
        )
    connection.exec_driver_sql("INSERT INTO search_sealed (blocks) VALUES (?)", (last // BLOCK,))


def _name_answers(connection: sa.Connection) -> None:
    last = 0
    while turns := connection.exec_driver_sql(ANSWERED, (last,)).all():
        rows = []
        for _, turn_id, mode, location, reply, at, model, planned in turns:
            provider = provider_of(model)
            if reply:
                rows.append((turn_id, provider, answer_type(None, mode, location, reply), at))
            if planned:
                rows.append((turn_id, provider, "plan", at))
        if rows:
            connection.exec_driver_sql(RESPONSE, rows)
        last = turns[-1][0]

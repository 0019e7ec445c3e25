"""The index of titles, so that a session is found by any part of its title without reading all.

The index follows the table of sessions by triggers. A later step that makes that table anew must
make them anew, too.
"""

from __future__ import annotations

import sqlalchemy as sa

NUMBER = "(SELECT id FROM session_names WHERE session_id = {}.id)"

STATEMENTS = [
    # A number for each session that stays the same: the row in the index.
    """CREATE TABLE session_names (
        id INTEGER NOT NULL PRIMARY KEY,
        session_id TEXT NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE
    )""",
    "CREATE VIRTUAL TABLE session_titles USING fts5(title, tokenize='trigram')",
    "INSERT INTO session_names (session_id) SELECT id FROM sessions",
    """INSERT INTO session_titles (rowid, title)
        SELECT n.id, s.title FROM session_names AS n JOIN sessions AS s ON s.id = n.session_id""",
    f"""CREATE TRIGGER session_title_added AFTER INSERT ON sessions
    BEGIN
        INSERT INTO session_names (session_id) VALUES (NEW.id);
        INSERT INTO session_titles (rowid, title) VALUES ({NUMBER.format("NEW")}, NEW.title);
    END""",
    f"""CREATE TRIGGER session_title_changed AFTER UPDATE OF title ON sessions
    WHEN NEW.title IS NOT OLD.title
    BEGIN
        UPDATE session_titles SET title = NEW.title WHERE rowid = {NUMBER.format("NEW")};
    END""",
    f"""CREATE TRIGGER session_title_removed BEFORE DELETE ON sessions
    BEGIN
        DELETE FROM session_titles WHERE rowid = {NUMBER.format("OLD")};
    END""",
]


def upgrade(connection: sa.Connection) -> None:
    """Create the index and fill it from the sessions that there are."""
    for statement in STATEMENTS:
        connection.exec_driver_sql(statement)

"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa

STATEMENTS = """
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    settings TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    session_tokens INTEGER NOT NULL,
    seq_base INTEGER NOT NULL
);
CREATE INDEX sessions_by_update ON sessions (updated_at, id);
CREATE TABLE turns (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    status TEXT NOT NULL,
    aborted_reason TEXT,
    mode TEXT NOT NULL,
    notebook_mode TEXT NOT NULL,
    location TEXT NOT NULL,
    model TEXT,
    op_id TEXT,
    server_id TEXT NOT NULL,
    request TEXT NOT NULL,
    message TEXT NOT NULL,
    reply TEXT NOT NULL,
    error TEXT,
    usage TEXT,
    first_seq INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    ttft_ms FLOAT,
    duration_ms FLOAT
);
CREATE UNIQUE INDEX turns_by_position ON turns (session_id, position);
CREATE UNIQUE INDEX turns_running ON turns (session_id) WHERE status = 'running';
CREATE TABLE items (
    id INTEGER NOT NULL PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    data TEXT NOT NULL
);
CREATE INDEX items_by_turn ON items (turn_id);
CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    turn_id TEXT,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;
CREATE TABLE tool_calls (
    id INTEGER NOT NULL PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT,
    status TEXT NOT NULL,
    output TEXT,
    duration_ms FLOAT
);
CREATE UNIQUE INDEX tool_calls_by_turn ON tool_calls (turn_id, call_id);
CREATE TABLE changes (
    id INTEGER NOT NULL PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX changes_by_turn ON changes (turn_id);
CREATE TABLE usage (
    id INTEGER NOT NULL PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    model TEXT,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    at INTEGER NOT NULL
);
CREATE INDEX usage_by_turn ON usage (turn_id);
CREATE TABLE queued_ops (
    id INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    op_id TEXT NOT NULL UNIQUE,
    data TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX queued_ops_by_session ON queued_ops (session_id)
"""


def upgrade(connection: sa.Connection) -> None:
    """Create every table and index of the first version."""
    for statement in STATEMENTS.split(";"):
        connection.exec_driver_sql(statement)

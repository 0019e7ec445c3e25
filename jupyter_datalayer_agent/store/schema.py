"""The current tables. Migrations create them; a test checks that both agree."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()


def _ref(table: str, *, primary_key: bool = False, unique: bool = False) -> sa.Column[str]:
    """The id of a row of ``table`` ("sessions" or "turns"); this row is deleted with it."""
    ref = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    name = f"{table.removesuffix('s')}_id"
    return sa.Column(
        name, sa.Text, ref, nullable=False, primary_key=primary_key, unique=unique or None
    )


def _usage_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("model", sa.Text),
        sa.Column("input_tokens", sa.Integer, nullable=False),
        sa.Column("output_tokens", sa.Integer, nullable=False),
        sa.Column("cached_tokens", sa.Integer, nullable=False),
        sa.Column("total_tokens", sa.Integer, nullable=False),
        sa.Column("at", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float),
        sa.Column("estimated", sa.Integer, nullable=False, server_default=sa.text("0")),
    ]


# ``seq_base`` is the number of the newest event that a reset removed: numbers are never reused.
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("created_at", sa.Integer, nullable=False),
    sa.Column("updated_at", sa.Integer, nullable=False),
    sa.Column("session_tokens", sa.Integer, nullable=False),
    sa.Column("seq_base", sa.Integer, nullable=False),
    sa.Column("session_cost", sa.Float),
    sa.Column("forked_from", sa.Text),
)

# ``server_id`` names the server process that runs the turn (see servers.py). ``withdrawn_at`` is
# the time, in ms since 1970, at which the user went back to before the turn, so that it is no
# longer sent to the model; ``withdrawn_seq`` is the number of the session's newest event then. In a
# running turn, ``duration_ms`` is the working time so far, as last stored. ``chosen_answer`` is the
# ``answer_id`` of the answer that is sent to the model instead of ``reply``.
turns = sa.Table(
    "turns",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _ref("sessions"),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("aborted_reason", sa.Text),
    sa.Column("mode", sa.Text, nullable=False),
    sa.Column("notebook_mode", sa.Text, nullable=False),
    sa.Column("location", sa.Text, nullable=False),
    sa.Column("model", sa.Text),
    sa.Column("op_id", sa.Text),
    sa.Column("server_id", sa.Text, nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("reply", sa.Text, nullable=False),
    sa.Column("error", sa.Text),
    sa.Column("usage", sa.Text),
    sa.Column("first_seq", sa.Integer, nullable=False),
    sa.Column("started_at", sa.Integer, nullable=False),
    sa.Column("ended_at", sa.Integer),
    sa.Column("ttft_ms", sa.Float),
    sa.Column("duration_ms", sa.Float),
    sa.Column("withdrawn_at", sa.Integer),
    sa.Column("copied_from", sa.Text),
    sa.Column("chosen_answer", sa.Text),
    sa.Column("not_done", sa.Text),
    sa.Column("withdrawn_seq", sa.Integer),
    sa.Column("facts", sa.Text),
)

items = sa.Table(
    "items",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("turns"),
    sa.Column("data", sa.Text, nullable=False),
)

# One B-tree without a second index, since each piece of streamed text adds a row. For the same
# reason ``turn_id`` is not a foreign key: SQLite would search all events for those of a turn.
# ``pieces`` are the lengths of the pieces of text that a row joins (see ``queries.event_log``).
events = sa.Table(
    "events",
    metadata,
    _ref("sessions", primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("turn_id", sa.Text),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("pieces", sa.Text),
    sqlite_with_rowid=False,
)

# Turns that have ended, and whose streamed pieces of text are not joined from ``next_seq`` on.
unjoined_turns = sa.Table(
    "unjoined_turns",
    metadata,
    _ref("turns", primary_key=True),
    sa.Column("next_seq", sa.Integer, nullable=False),
)

# ``answer_id`` names the answer of a comparison whose model made the call.
tool_calls = sa.Table(
    "tool_calls",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("turns"),
    sa.Column("call_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("arguments", sa.Text),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("output", sa.Text),
    sa.Column("duration_ms", sa.Float),
    sa.Column("answer_id", sa.Text),
)

changes = sa.Table(
    "changes",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("turns"),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
)

usage = sa.Table(
    "usage",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("turns"),
    *_usage_columns(),
)

# Model calls that belong to no session: those for suggested next cells.
usage_apart = sa.Table(
    "usage_apart",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *_usage_columns(),
)

# ``items`` (JSON) are sent to the model in place of the turns up to the position ``through``, whose
# newest item was ``last_item``. ``messages`` are the user's messages that they quote word for word.
# Rows are only added: the newest one that no withdrawn turn invalidates counts. ``seq`` is the
# number of the session's newest event when the compaction was made.
compactions = sa.Table(
    "compactions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("sessions"),
    sa.Column("through", sa.Integer, nullable=False),
    sa.Column("last_item", sa.Integer, nullable=False),
    sa.Column("how", sa.Text, nullable=False),
    sa.Column("items", sa.Text, nullable=False),
    sa.Column("messages", sa.Text, nullable=False),
    sa.Column("summary", sa.Text),
    sa.Column("model", sa.Text),
    sa.Column("tokens_before", sa.Integer, nullable=False),
    sa.Column("tokens_after", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Integer, nullable=False),
    sa.Column("seq", sa.Integer, nullable=False, server_default=sa.text("0")),
)

queued_ops = sa.Table(
    "queued_ops",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("sessions"),
    sa.Column("op_id", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("created_at", sa.Integer, nullable=False),
    sa.Column("held", sa.Boolean, nullable=False, server_default=sa.text("0")),
)

plans = sa.Table(
    "plans",
    metadata,
    _ref("turns", primary_key=True),
    _ref("sessions"),
    sa.Column("data", sa.Text, nullable=False),
)

# A stretch of a turn in a document: the ids of its cells before and after it, compressed.
checkpoints = sa.Table(
    "checkpoints",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("turns"),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("span", sa.Integer, nullable=False),
    sa.Column("cell_order", sa.LargeBinary, nullable=False),
    sa.Column("order_left", sa.LargeBinary, nullable=False),
    sa.Column("moved", sa.Text, nullable=False),
)

# ``before`` and ``cell_left`` are compressed JSON; NULL once the change is kept or reverted.
checkpoint_cells = sa.Table(
    "checkpoint_cells",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("turns"),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("span", sa.Integer, nullable=False),
    sa.Column("cell_id", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("before", sa.LargeBinary),
    sa.Column("cell_left", sa.LargeBinary),
)

# Events about a turn that came after the next one had begun.
later_events = sa.Table(
    "later_events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("turns"),
    sa.Column("seq", sa.Integer, nullable=False),
)

# The directory that the paths in a server's turns are relative to; see m0019.
server_roots = sa.Table(
    "server_roots",
    metadata,
    sa.Column("server_id", sa.Text, primary_key=True),
    sa.Column("root", sa.Text, nullable=False),
)

# The newest renames and deletions (an empty ``path``); ``at`` in ms since 1970. See m0020.
document_renames = sa.Table(
    "document_renames",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("root", sa.Text, nullable=False),
    sa.Column("old_path", sa.Text, nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("at", sa.Integer, nullable=False),
)

started_tutorials = sa.Table(
    "started_tutorials",
    metadata,
    sa.Column("tutorial", sa.Text, primary_key=True),
    sa.Column("notebook", sa.Text, nullable=False),
)

# When the check of a lesson passed for the first time, in ms since 1970.
passed_lessons = sa.Table(
    "passed_lessons",
    metadata,
    sa.Column("tutorial", sa.Text, primary_key=True),
    sa.Column("lesson", sa.Integer, primary_key=True),
    sa.Column("passed_at", sa.Integer, nullable=False),
)

# ``root`` is the server root that contains the files, ``sample`` the first rows as JSON.
datasets = sa.Table(
    "datasets",
    metadata,
    sa.Column("root", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("shared", sa.Boolean, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("sample", sa.Text, nullable=False),
    sa.Column("created_at", sa.Integer, nullable=False),
)

session_datasets = sa.Table(
    "session_datasets",
    metadata,
    _ref("sessions", primary_key=True),
    sa.Column("root", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.ForeignKeyConstraint(
        ["root", "name"], ["datasets.root", "datasets.name"], ondelete="CASCADE"
    ),
)

# The purpose of a session that is not a chat: it is in no list, and its turns are not searched.
session_kinds = sa.Table(
    "session_kinds",
    metadata,
    _ref("sessions", primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
)

# The number under which a session's title is in the search index; see search.py.
session_names = sa.Table(
    "session_names",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _ref("sessions", unique=True),
)

# ``text`` is NULL for the turn's own reply and for its plan. ``answer_id`` is set for an answer of
# another model to the same message, as are ``usage`` (JSON) and ``duration_ms``; ``sources`` (JSON)
# are the answers that a synthesis is made from.
responses = sa.Table(
    "responses",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("ai_turn_id", sa.Text, sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=False),
    sa.Column("provider_id", sa.Text, nullable=False),
    sa.Column("response_type", sa.Text, nullable=False),
    sa.Column("response_index", sa.Integer, nullable=False),
    sa.Column("text", sa.Text),
    sa.Column("created_at", sa.Integer, nullable=False),
    sa.Column("model", sa.Text),
    sa.Column("answer_id", sa.Text),
    sa.Column("usage", sa.Text),
    sa.Column("duration_ms", sa.Float),
    sa.Column("sources", sa.Text),
)

# The context that a turn sent before its message, as JSON: ``data`` is an item, NULL if nothing was
# new; ``stated`` are hashes of what it stated.
contexts = sa.Table(
    "contexts",
    metadata,
    _ref("turns", primary_key=True),
    sa.Column("data", sa.Text),
    sa.Column("stated", sa.Text),
)

# Answers of other models that are in progress, in the server process ``server_id``.
open_answers = sa.Table(
    "open_answers",
    metadata,
    _ref("turns", primary_key=True),
    sa.Column("answer_id", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("server_id", sa.Text, nullable=False),
)

# A message (role user), an answer (assistant; another model's: answer) or a change (code) by its
# number in the index; see search.py. ``change_id`` is the row of the change, or the row of another
# model's answer in ``responses``. Triggers maintain this table.
search_texts = sa.Table(
    "search_texts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("turn_id", sa.Text, nullable=False),
    sa.Column("session_id", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("change_id", sa.Integer),
    sqlite_autoincrement=True,
)

# The number of blocks of texts in the index for short queries, in one row.
search_sealed = sa.Table("search_sealed", metadata, sa.Column("blocks", sa.Integer, nullable=False))

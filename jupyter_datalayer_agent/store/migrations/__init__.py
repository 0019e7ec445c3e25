"""The migrations from an empty database to the tables of ``schema.py``, in small named steps.

A released step is never changed, because existing databases have gone through it. Number 15 was
never released.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from . import (
    m0001_spine,
    m0002_undo,
    m0003_plans,
    m0004_tutorials,
    m0005_history,
    m0006_sessions,
    m0007_search,
    m0008_datasets,
    m0009_usage,
    m0010_titles,
    m0011_asked_again,
    m0012_usage_apart,
    m0013_held_messages,
    m0014_contexts,
    m0016_not_done,
    m0017_joined_text,
    m0018_comparisons,
    m0019_server_roots,
    m0020_document_renames,
    m0021_order_by_numbers,
    m0022_facts,
)


@dataclass(frozen=True)
class Migration:
    """A named step; ``upgrade`` runs inside a transaction that also records the name."""

    name: str
    upgrade: Callable[[sa.Connection], None]


MIGRATIONS: list[Migration] = [
    Migration("0001_spine", m0001_spine.upgrade),
    Migration("0002_undo", m0002_undo.upgrade),
    Migration("0003_plans", m0003_plans.upgrade),
    Migration("0004_tutorials", m0004_tutorials.upgrade),
    Migration("0005_history", m0005_history.upgrade),
    Migration("0006_sessions", m0006_sessions.upgrade),
    Migration("0007_search", m0007_search.upgrade),
    Migration("0008_datasets", m0008_datasets.upgrade),
    Migration("0009_usage", m0009_usage.upgrade),
    Migration("0010_titles", m0010_titles.upgrade),
    Migration("0011_asked_again", m0011_asked_again.upgrade),
    Migration("0012_usage_apart", m0012_usage_apart.upgrade),
    Migration("0013_held_messages", m0013_held_messages.upgrade),
    Migration("0014_contexts", m0014_contexts.upgrade),
    Migration("0016_not_done", m0016_not_done.upgrade),
    Migration("0017_joined_text", m0017_joined_text.upgrade),
    Migration("0018_comparisons", m0018_comparisons.upgrade),
    Migration("0019_server_roots", m0019_server_roots.upgrade),
    Migration("0020_document_renames", m0020_document_renames.upgrade),
    Migration("0021_order_by_numbers", m0021_order_by_numbers.upgrade),
    Migration("0022_facts", m0022_facts.upgrade),
]

TABLE = "applied_migrations"


class NewerDatabase(Exception):
    """The database has steps that this version does not know; the message names the first one."""


class ForeignDatabase(Exception):
    """The file is an SQLite database, but not one of ours."""


def applied(connection: sa.Connection) -> list[str]:
    """The names of the steps that the database went through, in that order."""
    names = sa.inspect(connection).get_table_names()
    if TABLE not in names:
        if names:
            raise ForeignDatabase(", ".join(names[:3]))
        return []
    rows = connection.exec_driver_sql(f"SELECT name FROM {TABLE} ORDER BY id")
    return [row[0] for row in rows]


def is_current(connection: sa.Connection) -> bool:
    """Whether all migrations are applied. Raises ``NewerDatabase`` and ``ForeignDatabase``."""
    done = applied(connection)
    names = {migration.name for migration in MIGRATIONS}
    unknown = [name for name in done if name not in names]
    if unknown:
        raise NewerDatabase(unknown[0])
    return len(done) == len(MIGRATIONS)


def migrate(connection: sa.Connection, now: int) -> list[str]:
    """Apply the missing migrations, and return their names. The caller holds the write lock and
    commits.

    ``now`` is in ms since 1970.
    """
    if is_current(connection):
        return []
    connection.exec_driver_sql(
        f"CREATE TABLE IF NOT EXISTS {TABLE} "
        "(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, applied_at INTEGER NOT NULL)"
    )
    done = set(applied(connection))
    missing = [migration for migration in MIGRATIONS if migration.name not in done]
    for migration in missing:
        migration.upgrade(connection)
        connection.exec_driver_sql(
            f"INSERT INTO {TABLE} (name, applied_at) VALUES (?, ?)", (migration.name, now)
        )
    return [migration.name for migration in missing]

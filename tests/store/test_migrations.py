"""From every earlier schema to the present one, in real SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.store import migrations, schema
from jupyter_datalayer_agent.store.migrations import MIGRATIONS, TABLE, migrate

from .chats import Chat, execute, open_store, rows


def database_at(path: Path, steps: int) -> None:
    """A database that went through the first ``steps`` migrations."""
    engine = sa.create_engine(f"sqlite:///{path}")
    with pytest.MonkeyPatch.context() as patch, engine.begin() as connection:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:steps])
        assert migrate(connection, 0) == [step.name for step in MIGRATIONS[:steps]]
    engine.dispose()


@pytest.mark.parametrize("steps", range(len(MIGRATIONS) + 1))
async def test_each_earlier_database_is_brought_up_to_date(tmp_path: Path, steps: int) -> None:
    path = tmp_path / "agent.db"
    database_at(path, steps)
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.say("It works.")
        await chat.finish()
    names = [name for (name,) in rows(path, f"SELECT name FROM {TABLE} ORDER BY id")]
    assert names == [step.name for step in MIGRATIONS]


def test_names_are_numbered_in_order_and_each_is_a_file() -> None:
    directory = Path(migrations.__file__).parent
    files = sorted(file.stem.removeprefix("m") for file in directory.glob("m[0-9]*.py"))
    assert [step.name for step in MIGRATIONS] == files


def test_the_migrations_make_the_tables_of_the_schema(tmp_path: Path) -> None:
    migrated, declared = tmp_path / "migrated.db", tmp_path / "declared.db"
    database_at(migrated, len(MIGRATIONS))
    engine = sa.create_engine(f"sqlite:///{declared}")
    schema.metadata.create_all(engine)
    engine.dispose()
    for table in schema.metadata.tables:
        for pragma in ("table_info", "foreign_key_list"):
            query = f"PRAGMA {pragma}({table})"
            assert rows(migrated, query) == rows(declared, query), (table, pragma)
    # FTS5 makes the tables of an index by itself.
    tables = rows(
        migrated,
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'",
    )
    made = {name for (name,) in tables if not name.startswith("sqlite_")}
    assert made == {*schema.metadata.tables, TABLE}


async def test_a_newer_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        await store.sessions.create("Kept")
    execute(path, f"INSERT INTO {TABLE} (name, applied_at) VALUES ('0999_future', 0)")
    before = path.read_bytes()
    async with open_store(path) as store:
        with pytest.raises(AgentError, match=r"newer version .*0999_future.*Upgrade") as raised:
            await store.sessions.create()
        assert str(path) in raised.value.message
    assert path.read_bytes() == before


async def test_the_database_of_another_program_is_refused_and_left_as_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "other.db"
    execute(path, "CREATE TABLE sessions (id)")
    before = path.read_bytes()
    async with open_store(path) as store:
        with pytest.raises(AgentError, match="another program"):
            await store.sessions.list_page(None, 10, None)
    assert path.read_bytes() == before


async def test_a_migration_that_fails_leaves_nothing_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(connection: sa.Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE half (id)")
        connection.exec_driver_sql("INSERT INTO no_such_table VALUES (1)")

    path = tmp_path / "agent.db"
    broken = migrations.Migration("0999_broken", fails)
    monkeypatch.setattr(migrations, "MIGRATIONS", [*MIGRATIONS, broken])
    async with open_store(path) as store:
        with pytest.raises(AgentError, match="no_such_table"):
            await store.open()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []

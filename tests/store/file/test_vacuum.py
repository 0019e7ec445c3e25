"""Space that the database does not need any more goes back to the disk, beside the work."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.events import TextDelta
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.file import database
from jupyter_datalayer_agent.store.queries import upkeep

from ..chats import Chat, open_store, rows, url
from ..queries.test_joined_text import OLDER, joined
from ..test_old_databases import entry, filled_at

PIECES = 30_000


def old_database(path: Path) -> int:
    """A database of an earlier version with a long turn that was kept in pieces; its bytes."""
    filled_at(path, OLDER)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM events")
        pieces = (
            entry(seq, "t0", "text_delta", itemId="msg_0123456789abcdef", delta=f"word{seq} ")
            for seq in range(1, PIECES)
        )
        connection.executemany(
            "INSERT INTO events VALUES (:session_id, :seq, :turn_id, :type, :data)", pieces
        )
        connection.execute("UPDATE turns SET first_seq = ? WHERE id = 't1'", (PIECES,))
    return path.stat().st_size


async def idle(store: Store) -> None:
    """Wait until nothing is left to be done beside the work."""
    work = (await store._open()).upkeep
    while work._task is not None:
        await asyncio.wait([work._task])


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(upkeep, "QUIET_SECONDS", 0.05)


async def test_an_older_database_shrinks_and_keeps_all(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    before = old_database(path)
    async with open_store(path) as store:
        turns = await store.turn_reader.list_page("s", include_events=True)
        await idle(store)
        assert path.stat().st_size < before / 4, "while it is open"
        assert await store.turn_reader.list_page("s", include_events=True) == turns
        assert [hit.turn_id for hit in await store.past.search("oaded", 5)] == ["t0"]
        chat = Chat(store, "s", await store.events.last_seq("s"))
        await chat.start("And now?")
        await chat.say("It goes on.")
        await chat.finish()
    assert rows(path, "PRAGMA auto_vacuum") == [(2,)]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert rows(path, "PRAGMA foreign_key_check") == []


async def test_it_is_not_written_anew_while_another_server_has_it_or_a_turn_runs(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    old_database(path)
    other = Store(url(path), vacuum=False)
    await other.open()
    async with open_store(path) as store:
        await joined(store)
        await idle(store)
        assert rows(path, "PRAGMA auto_vacuum") == [(0,)]
        await other.close()
        chat = Chat(store, "s", await store.events.last_seq("s"))
        await chat.start()
        (await store._open()).upkeep.begin()
        await idle(store)
        assert rows(path, "PRAGMA auto_vacuum") == [(0,)]
        await chat.finish()
        await idle(store)
        assert rows(path, "PRAGMA auto_vacuum") == [(2,)]


async def test_where_it_is_switched_off_the_file_stays_as_long_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    old_database(path)
    store = Store(url(path), vacuum=False)
    await store.open()
    await idle(store)
    await store.close()
    assert rows(path, "SELECT count(*) FROM unjoined_turns") == [(0,)]
    assert rows(path, "PRAGMA auto_vacuum") == [(0,)]
    assert rows(path, "PRAGMA freelist_count")[0][0] > 1000


async def test_what_was_deleted_goes_back_to_the_disk_a_few_pages_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.emit(*(TextDelta(item_id=f"m{n}", delta="x" * 10_000) for n in range(600)))
        await chat.finish()
        await idle(store)
        (pages,) = rows(path, "PRAGMA page_count")[0]
        steps: list[int] = []
        real = database.shrink

        def counted(connection: sqlite3.Connection) -> bool:
            before = connection.execute("PRAGMA page_count").fetchone()[0]
            more = real(connection)
            steps.append(before - connection.execute("PRAGMA page_count").fetchone()[0])
            return more

        monkeypatch.setattr(upkeep, "shrink", counted)
        await store.sessions.delete(chat.session_id)
        await idle(store)
        (left,) = rows(path, "PRAGMA page_count")[0]
        assert pages - left > 1200
        assert max(steps) <= database.PAGES_A_STEP + 2, "with the pages that tell of others"
        assert rows(path, "PRAGMA freelist_count") == [(database.SPARE_PAGES,)]
    assert path.stat().st_size == left * 4096


async def test_a_store_closes_at_once_while_it_waits_for_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "QUIET_SECONDS", 3600.0)
    path = tmp_path / "agent.db"
    old_database(path)
    async with open_store(path) as store:
        await store.open()
        await joined(store)
        await asyncio.sleep(0.2)
        await asyncio.wait_for(store.close(), 10)
    assert rows(path, "PRAGMA auto_vacuum") == [(0,)]


async def test_conversations_that_nobody_used_since_are_found_unless_something_waits(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    filled_at(path, OLDER)  # its session has a message that waits
    async with open_store(path) as store:
        await store.recover()
        old, running, new = [await Chat.new(store, name) for name in ("old", "running", "new")]
        await running.start()
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "UPDATE sessions SET updated_at = 5 WHERE id <> ?", (new.session_id,)
            )
        assert await store.sessions.unused(6) == [old.session_id]
        assert await store.sessions.unused(5) == []


async def test_a_database_opens_while_another_program_writes_to_it(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        session = await store.sessions.create("Cars")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with open_store(path) as store:
            assert await store.sessions.get(session.id) == session
            other.execute("ROLLBACK")

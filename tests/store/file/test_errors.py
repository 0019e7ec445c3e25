"""A database that cannot be used: said clearly, and never overwritten."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.file import driver
from jupyter_datalayer_agent.store.file.driver import DriverConnection

from ..chats import Chat, open_store, url


async def filled(path: Path) -> Chat:
    """A closed database with a chat in it."""
    async with open_store(path) as store:
        chat = await Chat.new(store, "Cars")
        await chat.start()
        await chat.say(*(f"{number} " * 50 for number in range(50)))
        await chat.finish()
    return chat


def content(path: Path) -> bytes:
    return path.read_bytes()


async def assert_refused(path: Path, *words: str) -> None:
    """Reading and writing both fail, name the file, and leave its bytes alone."""
    before = content(path)
    async with open_store(path) as store:
        for call in (store.sessions.list_page(None, 10, None), store.sessions.create("New")):
            with pytest.raises(AgentError) as raised:
                await call
            assert raised.value.code == "internal"
            for word in (str(path), *words):
                assert word in raised.value.message
    assert content(path) == before


@pytest.mark.parametrize("kept", [0.001, 0.3, 0.5, 0.99, 0.99999])
async def test_peers_13_a_file_that_was_cut_off_is_refused_and_left_as_it_is(
    tmp_path: Path, kept: float
) -> None:
    path = tmp_path / "agent.db"
    await filled(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    await assert_refused(path, "damaged", "Copy it")


@pytest.mark.parametrize("data", [b"x", b"SQLite", b"{}" * 5000, b"\0" * 8192])
async def test_peers_13_a_file_that_is_no_database_is_refused_and_left_as_it_is(
    tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "agent.db"
    path.write_bytes(data)
    await assert_refused(path, "damaged")


async def test_peers_13_an_empty_file_beside_a_log_that_is_not_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    path.write_bytes(b"")
    log = tmp_path / "agent.db-wal"
    log.write_bytes(b"the only copy of a conversation")
    await assert_refused(path, "damaged", "write-ahead log")
    assert log.read_bytes() == b"the only copy of a conversation"


async def test_peers_13_damage_inside_the_file_is_reported_and_not_written_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    chat = await filled(path)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    async with open_store(path) as store:
        with pytest.raises(AgentError, match="damaged") as raised:
            await store.sessions.get(chat.session_id)
        assert str(path) in raised.value.message
        with pytest.raises(AgentError, match="damaged"):
            await store.sessions.create("New")
    assert path.read_bytes() == bytes(data)


async def test_a_file_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    """One that ends when its event loop is closed shows an error of its own."""
    before = set(threading.enumerate())
    for _ in range(20):
        with pytest.raises(sqlite3.OperationalError):
            await DriverConnection(tmp_path).connect()
        left = set(threading.enumerate()) - before
        assert not [each.name for each in left if not each.name.startswith("asyncio")]


async def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    path.touch()
    await filled(path)


async def test_a_locked_database_says_so_and_works_again_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BUSY_TIMEOUT_MS", 20)
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for call in (chat.say("lost"), store.sessions.update(chat.session_id, title="x")):
                with pytest.raises(AgentError, match="locked by another program") as raised:
                    await call
                assert (raised.value.code, str(path) in raised.value.message) == ("internal", True)
            assert (await store.sessions.get(chat.session_id)).title == "New session"
            other.execute("ROLLBACK")
        await chat.say("kept")
        assert await chat.numbers() == [1], "what was lost took no number"


async def test_a_full_disk_says_so_and_loses_nothing_that_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "agent.db"
    connections: list[DriverConnection] = []

    class Noted(DriverConnection):
        def __init__(self, path: Path | None) -> None:
            super().__init__(path)
            connections.append(self)

    monkeypatch.setattr("jupyter_datalayer_agent.store.file.database.DriverConnection", Noted)
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.say("kept")
        # SQLite gives the error of a full disk when the file may not grow.
        writing = connections[0]
        await writing.execute("PRAGMA max_page_count = 1")
        with pytest.raises(AgentError, match=r"disk .* is full. Free some space"):
            await chat.say("x" * 100_000)
        chat.seq -= 1
        await writing.execute("PRAGMA max_page_count = 1000000")
        await chat.say("kept, too")
        assert await chat.numbers() == [1, 2]


async def test_a_turn_whose_end_could_not_be_kept_does_not_block_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BUSY_TIMEOUT_MS", 20)
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.say("text")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(AgentError, match="locked"):
                await chat.finish()
        chat.seq = await store.events.last_seq(chat.session_id)
        await chat.start()
        chat.seq = await store.events.last_seq(chat.session_id)
        await chat.say("next")
        assert [turn.status for turn in await store.turn_reader.history(chat.session_id)] == [
            "aborted",
            "running",
        ]


@pytest.mark.parametrize(
    "database_url", ["postgresql://host/db", "agent.db", "sqlite:///x.db?mode=ro", "://"]
)
async def test_a_database_url_that_is_not_sqlite_is_refused(database_url: str) -> None:
    store = Store(database_url)
    with pytest.raises(AgentError, match="database_url must look like"):
        await store.open()


async def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "agent.db", tmp_path):
        store = Store(url(path))
        with pytest.raises(AgentError) as raised:
            await store.open()
        assert str(path) in raised.value.message


async def test_the_directory_is_made_and_kept_from_others(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "agent.db"
    await filled(path)
    assert path.parent.stat().st_mode & 0o077 == 0

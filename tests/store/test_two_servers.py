"""Two servers on one database, as when a user runs two Labs."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.events import TextDelta
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.file import servers
from jupyter_datalayer_agent.store.file.servers import ServerLock

from .chats import Chat, Reader, open_store, url


async def test_two_servers_can_open_a_new_database_at_once(tmp_path: Path) -> None:
    for number in range(5):
        stores = [Store(url(tmp_path / f"{number}.db")) for _ in range(3)]
        await asyncio.gather(*(store.open() for store in stores))
        session = await stores[0].sessions.create()
        assert await stores[2].sessions.get(session.id) == session
        for store in stores:
            await store.close()


async def test_a_server_waits_while_another_one_opens_the_database(tmp_path: Path) -> None:
    store = Store(url(tmp_path / "agent.db"))
    async with ServerLock(tmp_path / "agent.db-servers").opening():
        waiting = asyncio.create_task(store.open())
        done, _ = await asyncio.wait([waiting], timeout=0.2)
        assert not done
        assert not (tmp_path / "agent.db").exists(), "nothing is touched before it is our turn"
    await waiting
    await store.close()


async def test_a_server_that_never_ends_opening_is_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "OPENING_TIMEOUT", 0.05)
    async with ServerLock(tmp_path / "agent.db-servers").opening():
        with pytest.raises(AgentError, match="is locked by another program"):
            await Store(url(tmp_path / "agent.db")).open()


async def test_nothing_is_left_beside_a_database_of_another_program(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE theirs (id INTEGER)")
    other.close()
    with pytest.raises(AgentError, match="of another program"):
        await Store(url(tmp_path / "other.db")).open()
    assert os.listdir(tmp_path) == ["other.db"]


async def test_both_write_at_once_and_each_reads_all(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as one, open_store(path) as two:
        chats = [await Chat.new(store) for store in (one, two)]
        for chat in chats:
            await chat.start()
        await asyncio.gather(*(chat.say(*"abcdefghij" * 20) for chat in chats))
        for store in (one, two):
            for chat in chats:
                events = await store.events.after(chat.session_id)
                assert "".join(event["delta"] for event in events) == "abcdefghij" * 20


async def test_one_server_does_not_end_the_other_ones_turns(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as one:
        chat = await Chat.new(one)
        await chat.start()
        async with open_store(path) as two:
            assert (await two.turn_reader.get(chat.turn_id)).status == "running"
            with pytest.raises(AgentError) as raised:
                await Chat(two, chat.session_id).start()
            assert raised.value.code == "turn_in_progress"
        await chat.finish()
        assert (await one.turn_reader.get(chat.turn_id)).status == "completed"


async def test_a_turn_that_was_running_when_its_store_closed_is_ended_by_the_next(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as one:
        chat = await Chat.new(one)
        await chat.start()
    async with open_store(path) as two:
        assert (await two.turn_reader.get(chat.turn_id)).status == "aborted"


async def test_the_other_servers_events_are_numbered_with_its_own_and_each_reader_gets_its_servers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as one, open_store(path) as two:
        chat = await Chat.new(one)
        await chat.start()
        readers = Reader(), Reader()
        for store, reader in zip((one, two), readers, strict=True):
            store.follow(chat.session_id, reader)
        await chat.say("a", "b")
        await two.events.append(chat.session_id, None, events=[TextDelta(item_id="i", delta="c")])
        await chat.say("d")
        kept = await two.events.after(chat.session_id)
        assert [(event["seq"], event["delta"]) for event in kept] == [
            (1, "a"), (2, "b"), (3, "c"), (4, "d")
        ]  # fmt: skip
        assert [reader.taken for reader in readers] == [[1, 2, 4], [3]]


def test_a_lock_distinguishes_the_living_from_the_dead(tmp_path: Path) -> None:
    mine, other = ServerLock(tmp_path), ServerLock(tmp_path)
    assert mine.is_alive(mine.server_id)
    assert not mine.is_alive(other.server_id)
    other.acquire()
    assert mine.is_alive(other.server_id)
    other.release()
    assert not mine.is_alive(other.server_id)
    (tmp_path / "7-dead.lock").touch()
    assert not mine.is_alive("7-dead")
    assert list(tmp_path.iterdir()) == []

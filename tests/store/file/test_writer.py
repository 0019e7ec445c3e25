"""Writes that wait for each other share a commit, and do not share their faults."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.file import driver

from ..chats import Chat, open_store


@contextmanager
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements that all connections execute."""
    seen: list[str] = []
    connect = driver._connect

    def tracing(path: Path | None) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_trace_callback(seen.append)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(driver, "_connect", tracing)
        yield seen


async def test_appends_that_wait_share_one_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with traced(monkeypatch) as statements:
        async with open_store(tmp_path / "agent.db") as store:
            chat = await Chat.new(store)
            await chat.start()
            statements.clear()
            await asyncio.gather(*(chat.say(str(number)) for number in range(20)))
            assert statements.count("COMMIT") == 1
            assert await chat.numbers() == list(range(1, 21))


async def test_one_append_that_fails_does_not_fail_the_others(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        results = await asyncio.gather(
            chat.say("a"),
            Chat(store, "s_no").say("x"),
            chat.say("b"),
            return_exceptions=True,
        )
        assert [type(result) for result in results] == [type(None), AgentError, type(None)]
        assert await chat.numbers() == [1, 2]


async def test_writes_take_place_in_the_order_in_which_they_were_asked_for(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        await asyncio.gather(
            chat.emit(items=[{"n": 1}]),
            store.sessions.update(chat.session_id, title="Between"),
            chat.emit(items=[{"n": 2}]),
            chat.finish(),
            chat.start(),
        )
        first, second = await store.turn_reader.history(chat.session_id)
        assert (first.items, first.status) == ([{"n": 1}, {"n": 2}], "completed")
        assert (second.items, second.status) == ([], "running")
        assert (await store.sessions.get(chat.session_id)).title == "Between"


async def test_a_caller_that_is_cancelled_does_not_undo_its_write_or_disturb_others(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        tasks = [asyncio.create_task(chat.say(text)) for text in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(results[1], asyncio.CancelledError)
        assert [results[0], results[2]] == [None, None]
        assert await chat.numbers() == [1, 2, 3]


async def test_readers_that_are_cancelled_leave_the_store_usable(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.say(*"abc")
        for turns_of_the_loop in range(30):
            readers = [asyncio.create_task(chat.numbers()) for _ in range(4)]
            for _ in range(turns_of_the_loop):
                await asyncio.sleep(0)
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)
            assert await chat.numbers() == [1, 2, 3]


async def test_closing_waits_for_what_is_being_written(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'agent.db'}")
    chat = await Chat.new(store)
    await chat.start()
    writes = [asyncio.create_task(chat.say(str(number))) for number in range(50)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*writes)
    await store.close()
    async with open_store(tmp_path / "agent.db") as again:
        assert [
            e["seq"] for e in await again.events.after(chat.session_id) if "delta" in e
        ] == list(range(1, 51))


async def test_a_store_can_be_opened_again_after_its_close(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        session = await store.sessions.create()
        await store.close()
        with pytest.raises(AgentError, match="closed"):
            await store.sessions.get(session.id)
        await store.open()
        await store.open()
        assert await store.sessions.get(session.id) == session


async def test_a_fault_that_is_none_of_the_database_reaches_its_callers_and_the_next_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()

        async def broken(self: object, call: object) -> None:
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patch:
            patch.setattr(driver.DriverConnection, "in_thread", broken)
            writes = asyncio.gather(chat.say("a"), chat.say("b"), return_exceptions=True)
            failed = await asyncio.wait_for(writes, 10)
        assert [type(each) for each in failed] == [RuntimeError, RuntimeError]
        await chat.say("c")

"""A full disk and a locked database at each kind of write: clear errors, nothing kept is lost."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.events import SessionReset, Status, WentBack
from jupyter_datalayer_agent.protocol.ops import UserMessage
from jupyter_datalayer_agent.protocol.plans import Plan
from jupyter_datalayer_agent.protocol.requests import ChatRequest, SessionSettings, Usage
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.file import driver
from jupyter_datalayer_agent.store.file.driver import DriverConnection
from jupyter_datalayer_agent.store.records import CheckpointCell, CheckpointPart

from .chats import Chat, open_store, rows

LONG = "x" * 50_000
"""More than what is free in the pages of a small database."""


async def append(chat: Chat) -> None:
    item = {"type": "message", "role": "assistant", "content": LONG}
    await chat.emit(Status(message=LONG), items=[item], usage=Usage(total_tokens=3))


async def end(chat: Chat) -> None:
    await chat.finish(LONG)


async def begin(chat: Chat) -> None:
    await Chat(chat.store, chat.session_id).start(LONG)


async def queue(chat: Chat) -> None:
    op = UserMessage(request=ChatRequest(message=LONG))
    await chat.store.queue.save(chat.session_id, "op_new", op)


async def plan(chat: Chat) -> None:
    await chat.store.plans.save(chat.session_id, chat.turn_id, Plan(task=LONG, steps=[]))


async def checkpoint(chat: Chat) -> None:
    # Random, so that it does not become short when it is packed.
    source = random.Random(1).randbytes(50_000).hex()
    cell = CheckpointCell("c", {"source": source}, None)
    part = CheckpointPart(path="a.ipynb", span=0, orders=([], []), added=[cell])
    await chat.store.checkpoints.save(chat.turn_id, part)


async def new_session(chat: Chat) -> None:
    await chat.store.sessions.create(LONG, SessionSettings(mode="ask"))


async def rename(chat: Chat) -> None:
    await chat.store.sessions.update(chat.session_id, title=LONG)


async def fork(chat: Chat) -> None:
    await chat.store.forks.fork(chat.session_id, None, [{"content": LONG}])


async def withdraw(chat: Chat) -> None:
    (ended, *_) = (await chat.store.turn_reader.list_page(chat.session_id)).turns
    event = WentBack(to_turn_id=LONG, include_turn=True, withdrawn=[ended.id], documents=False)
    withdrawals = chat.store.withdrawals
    await withdrawals.withdraw(chat.session_id, [ended.id], chat.timed(event), [])


async def reset(chat: Chat) -> None:
    await chat.store.sessions.reset(chat.session_id, events=chat.timed(SessionReset()))


async def delete(chat: Chat) -> None:
    await chat.store.sessions.delete(chat.session_id)


WRITES = [
    append, end, begin, queue, plan, checkpoint, new_session, rename, fork, withdraw, reset, delete,
]  # fmt: skip
GROWING = [write for write in WRITES if write not in (begin, reset, delete)]
Write = Callable[[Chat], Awaitable[None]]


async def a_chat(store: Store) -> Chat:
    """A session with a turn that has ended, one that runs, and a message that waits."""
    chat = await Chat.new(store, "Kept")
    await chat.start("First")
    await chat.say("Said.")
    await chat.finish()
    await chat.start("Second")
    await chat.emit(Status(message="Runs"), items=[{"type": "message", "role": "user"}])
    op = UserMessage(request=ChatRequest(message="Later"))
    await store.queue.save(chat.session_id, "op", op)
    return chat


async def everything(store: Store) -> Any:
    """All that can be read."""
    sessions = (await store.sessions.list_page(limit=200)).sessions
    found = []
    for session in sessions:
        turns = await store.turn_reader.list_page(session.id, 200, include_events=True)
        found.append(
            (
                session.to_wire(),
                turns.to_wire(),
                await store.events.after(session.id),
                [each.op_id for each in await store.queue.waiting(session.id)],
                [await store.checkpoints.states(turn.id) for turn in turns.turns],
                await store.plans.last(session.id),
            )
        )
    return found


@pytest.mark.parametrize("write", GROWING, ids=lambda write: write.__name__)
async def test_a_write_that_finds_the_disk_full_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    connections: list[DriverConnection] = []

    class Noted(DriverConnection):
        def __init__(self, path: Path | None) -> None:
            super().__init__(path)
            connections.append(self)

    monkeypatch.setattr("jupyter_datalayer_agent.store.file.database.DriverConnection", Noted)
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await a_chat(store)
        before, seq = await everything(store), chat.seq
        # SQLite gives the error of a full disk when the file may not grow.
        await connections[0].execute("PRAGMA max_page_count = 1")
        with pytest.raises(AgentError, match=r"disk .* is full. Free some space") as raised:
            await write(chat)
        assert str(path) in raised.value.message
        assert await everything(store) == before
        chat.seq = seq
        await connections[0].execute("PRAGMA max_page_count = 1000000")
        if write is not end:
            await write(chat)
            assert await everything(store) != before
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
print("free", flush=True)
sys.stdin.readline()
"""


class Holder:
    """Another program, which holds the database."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-c", HOLDER, str(path)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, text=True, **pipes)  # type: ignore[call-overload]
        assert self._line() == "held"

    def _line(self) -> str:
        line: str = self._process.stdout.readline()
        return line.strip()

    def unload(self) -> None:
        print(file=self._process.stdin, flush=True)
        assert self._line() == "free"

    def close(self) -> None:
        self._process.communicate()


async def test_another_programs_lock_is_reported_at_each_write_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BUSY_TIMEOUT_MS", 20)
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await a_chat(store)
        before, seq = await everything(store), chat.seq
        holder = await asyncio.to_thread(Holder, path)
        for write in WRITES:
            with pytest.raises(AgentError, match="locked by another program") as raised:
                await write(chat)
            assert str(path) in raised.value.message
            chat.seq = seq
        assert await everything(store) == before, "what is kept can be read meanwhile"
        holder.unload()
        # The end of the turn could not be kept: it is ended as one whose server died.
        assert await store.recover(chat.session_id) == [chat.turn_id]
        chat.seq = await store.events.last_seq(chat.session_id)
        await chat.start("Third")
        for write in (append, queue, plan, checkpoint, rename, fork, end, reset, delete):
            await write(chat)
            chat.seq = max(chat.seq, await store.events.last_seq(chat.session_id))
        await asyncio.to_thread(holder.close)


async def test_writes_go_on_by_themselves_when_a_lock_is_short(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await a_chat(store)
        holder = await asyncio.to_thread(Holder, path)
        waiting = asyncio.create_task(append(chat))
        await asyncio.sleep(0)
        holder.unload()
        await waiting
        assert (await store.events.last_seq(chat.session_id)) == chat.seq
        await asyncio.to_thread(holder.close)

"""Sessions: made, listed, found, changed, emptied, deleted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.base import now_ms
from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.events import Status
from jupyter_datalayer_agent.protocol.requests import (
    Attachment,
    SessionSettings,
    ToolCallRecord,
    Usage,
)
from jupyter_datalayer_agent.protocol.tools import Change
from jupyter_datalayer_agent.store import Store, search
from jupyter_datalayer_agent.store.queries import turns

from ..chats import Chat, open_store, rows
from ..query_plans import session_search_plans


async def test_a_session_is_read_back_as_it_was_made(tmp_path: Path) -> None:
    settings = SessionSettings(
        mode="edit", attachments=[Attachment(kind="notebook", path="a.ipynb")], temperature=0.5
    )
    async with open_store(tmp_path / "agent.db") as store:
        made = await store.sessions.create("Cars", settings)
        assert await store.sessions.get(made.id) == made
        assert made.settings == settings
    async with open_store(tmp_path / "agent.db") as store:
        assert await store.sessions.get(made.id) == made


async def test_an_unknown_session_is_not_found(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        for call in (
            store.sessions.get("s_no"),
            store.sessions.update("s_no", title="x"),
            store.sessions.delete("s_no"),
            store.sessions.reset("s_no"),
            Chat(store, "s_no").start(),
            Chat(store, "s_no").say("x"),
        ):
            with pytest.raises(AgentError) as raised:
                await call
            assert raised.value.code == "not_found"


async def test_the_session_used_last_is_listed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chats = [await Chat.new(store, str(number)) for number in range(3)]
        # The times are in whole milliseconds: each is given one of its own.
        for number, use in enumerate((chats[1].start, chats[0].start)):
            with monkeypatch.context() as clock:
                clock.setattr(turns, "now_ms", lambda later=number: now_ms() + 1000 + later)
                await use()
        listed = (await store.sessions.list_page(None, 10, None)).sessions
        assert [session.title for session in listed] == ["0", "1", "2"]


async def test_pages_of_the_list_hold_each_session_once(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        made = {(await store.sessions.create(f"Chat {number}")).id for number in range(7)}
        seen: list[str] = []
        cursor = None
        while True:
            page = await store.sessions.list_page(None, 3, cursor)
            seen += [session.id for session in page.sessions]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert len(seen) == 7
        assert set(seen) == made


@pytest.mark.parametrize("cursor", ["x", "12", ":s", "1e3:s", "9" * 30 + ":s"])
async def test_a_cursor_of_somebody_elses_making_is_refused(tmp_path: Path, cursor: str) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        with pytest.raises(AgentError) as raised:
            await store.sessions.list_page(None, 3, cursor)
        assert raised.value.code == "invalid_request"


async def test_a_query_finds_titles_and_messages_and_takes_wildcards_as_they_are(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        cars = await Chat.new(store, "Cars of 100%")
        await cars.start("what is the MPG of a_b?")
        await cars.finish()
        await Chat.new(store, "Weather 100")

        async def found(query: str) -> list[str]:
            return [s.title for s in (await store.sessions.list_page(query, 10, None)).sessions]

        assert await found("cars") == ["Cars of 100%"]
        assert await found("mpg") == ["Cars of 100%"]
        assert await found("100%") == ["Cars of 100%"]
        assert await found("a_b") == ["Cars of 100%"]
        assert await found("acb") == []
        assert await found("\\") == []
        assert len(await found("100")) == 2
        assert await found("a_") == ["Cars of 100%"]


async def test_a_title_is_found_as_it_is_now_and_with_no_scan(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        session = await store.sessions.create("Cars")
        gone = await store.sessions.create("Weather")
        await store.sessions.update(session.id, title="Motorräder")
        await store.sessions.delete(gone.id)

        async def found(query: str) -> list[str]:
            return [s.id for s in (await store.sessions.list_page(query, 10, None)).sessions]

        assert await found("cars") == []
        assert await found("weather") == []
        assert await found("ORRÄD") == [session.id]
        common = [await store.sessions.create(f"Common {n}") for n in range(3)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search, "MOST", 3)
            assert set(await found("common")) == {each.id for each in common}
    with closing(sqlite3.connect(path)) as connection:
        plans = session_search_plans(connection)
    for name, plan in plans.items():
        # SQLite calls every reading of FTS5 a scan; M is a look-up by a MATCH.
        for step in plan:
            assert step.startswith("SEARCH") or ("VIRTUAL TABLE INDEX" in step and ":M" in step), (
                f"{name}: {plan}"
            )


async def test_only_the_settings_that_are_given_change(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        session = await store.sessions.create("Cars", SessionSettings(mode="ask", model="a"))
        changed = await store.sessions.update(session.id, settings=SessionSettings(model="b"))
        assert changed.settings == SessionSettings(mode="ask", model="b")
        cleared = await store.sessions.update(session.id, settings=SessionSettings(mode=None))
        assert cleared.settings == SessionSettings(model="b")
        renamed = await store.sessions.update(session.id, title="Trucks")
        assert (renamed.title, renamed.settings) == ("Trucks", cleared.settings)


async def test_a_session_counts_turns_tokens_and_events_and_names_the_running_turn(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.say("a", "b")
        for total in (10, 20):
            await chat.emit(usage=Usage(input_tokens=1, total_tokens=total), model="m")
        session = await store.sessions.get(chat.session_id)
        assert session.running_turn_id == chat.turn_id
        assert (session.turn_count, session.last_seq, session.session_tokens) == (1, 2, 30)
        await chat.finish()
        assert (await store.sessions.get(chat.session_id)).running_turn_id is None


async def test_a_reset_forgets_all_but_the_numbering(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.emit(usage=Usage(total_tokens=9), items=[{"type": "message"}])
        await chat.say("a", "b")
        await chat.finish()
        last = await store.events.last_seq(chat.session_id)
        await store.sessions.reset(chat.session_id)
        session = await store.sessions.get(chat.session_id)
        assert (session.turn_count, session.session_tokens) == (0, 0)
        assert await store.turn_reader.history(chat.session_id) == []
        assert await store.events.after(chat.session_id, 0) == []
        assert await store.events.last_seq(chat.session_id) == last == 3
        assert await chat.start() == 0
        await chat.say("c")
        assert (await store.turn_reader.get(chat.turn_id)).first_seq == 4
        assert await chat.numbers() == [4]


async def test_a_deleted_session_leaves_nothing_and_the_others_alone(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    tables = ["sessions", "turns", "items", "events", "tool_calls", "changes", "usage"]
    async with open_store(path) as store:
        kept, deleted = [await full_chat(store) for _ in range(2)]
        await store.sessions.delete(deleted.session_id)
        counts = {table: rows(path, f"SELECT count(*) FROM {table}")[0][0] for table in tables}
        assert set(counts.values()) == {1}
        assert await kept.numbers() == [1]
        with pytest.raises(AgentError) as raised:
            await deleted.say("late")
        assert raised.value.code == "not_found"


async def full_chat(store: Store) -> Chat:
    """A chat with one row in each table."""
    chat = await Chat.new(store)
    await chat.start()
    await chat.emit(
        Status(message="Thinking"),
        items=[{"type": "message"}],
        tool_calls=[ToolCallRecord(call_id="c", name="n", status="ok")],
        changes=[Change(path="a.ipynb", op="insert")],
        usage=Usage(total_tokens=1),
    )
    return chat

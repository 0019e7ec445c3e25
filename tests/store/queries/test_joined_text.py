"""Streamed text of ended turns, in one piece: what readers who come late or come back are given."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_datalayer_agent.protocol.events import (
    AnswerDelta,
    AnswerFinished,
    AnswerStarted,
    BaseEvent,
    ItemDiscarded,
    ReasoningDelta,
    Status,
    TextDelta,
)
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.migrations import MIGRATIONS
from jupyter_datalayer_agent.store.queries import event_log
from jupyter_datalayer_agent.store.queries.event_log import DELTAS

from ..chats import Chat, Reader, execute, open_store, rows
from ..test_old_databases import entry, filled_at

ITEMS = st.sampled_from(["a", "b"])
TEXTS = st.sampled_from(["x", "yz", "", "é", "\ud83d", "\ude00", "\U0001f600!"])
PIECES = st.tuples(ITEMS, TEXTS)
EVENTS = st.one_of(
    PIECES.map(lambda piece: TextDelta(item_id=piece[0], delta=piece[1])),
    PIECES.map(lambda piece: ReasoningDelta(item_id=piece[0], delta=piece[1])),
    st.just("a").map(lambda item: TextDelta(item_id=item, delta="more")),
    ITEMS.map(lambda item: ItemDiscarded(item_id=item)),
    st.just("working").map(lambda message: Status(message=message)),
)


async def joined(store: Store) -> None:
    """Wait until the text of all turns that have ended is joined."""
    database = (await store._open()).database
    while await database.quick(event_log.join_some):
        pass


def shown(*parts: Sequence[dict[str, Any]]) -> list[Any]:
    """What a reader shows who was given these events: texts by item, in order, and the rest."""
    entries: dict[Any, Any] = {}
    for event in [event for part in parts for event in part]:
        key = (event["turnId"], event["type"], event.get("itemId"))
        if event["type"] in DELTAS:
            entries[key] = entries.get(key, "") + event["delta"]
        else:
            entries[event["seq"]] = event
        if event["type"] == "item_discarded":
            for kind in DELTAS:
                entries.pop((event["turnId"], kind, event["itemId"]), None)
    whole = [
        value.encode("utf-16", "surrogatepass") if isinstance(value, str) else value
        for value in entries.values()
    ]
    return list(zip(entries, whole, strict=True))


async def replayed(store: Store, session: str, after: int, limit: int) -> list[dict[str, Any]]:
    """All events after a number, read in pages."""
    events: list[dict[str, Any]] = []
    while page := await store.events.after(session, after, limit):
        events += page
        after = page[-1]["seq"]
    return events


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(turns=st.lists(st.lists(EVENTS, max_size=14), max_size=3), limit=st.integers(1, 5))
def test_a_reader_who_comes_back_anywhere_shows_what_one_shows_who_was_there(
    monkeypatch: pytest.MonkeyPatch, turns: list[list[BaseEvent]], limit: int
) -> None:
    monkeypatch.setattr(event_log, "PIECES_A_STEP", 5)

    async def story(path: Path) -> None:
        async with open_store(path) as store:
            chat, reader = await Chat.new(store), Reader()
            store.follow(chat.session_id, reader)
            for events in turns:
                await chat.start()
                for event in events:
                    await chat.emit(event.model_copy())
                await chat.finish()
            said = reader.events
            await joined(store)
            before = shown(said)
            for after in range(len(said) + 1):
                rest = await replayed(store, chat.session_id, after, limit)
                assert shown(said[:after], rest) == before
                numbers = [event["seq"] for event in rest]
                assert numbers == sorted(set(numbers))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder) / "agent.db"))


async def test_the_pieces_of_a_turn_that_ended_become_one_event(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.emit(*(TextDelta(item_id="m", delta=f"{n} ") for n in range(1200)))
        await joined(store)
        assert rows(path, "SELECT count(*) FROM events") == [(1200,)], "it still runs"
        await chat.finish()
        await joined(store)
        [text, end] = await store.events.after(chat.session_id)
        assert (text["seq"], end["seq"]) == (1200, 1201)
        assert text["delta"] == "".join(f"{n} " for n in range(1200))
        assert "pieces" not in text
        [late, _] = await store.events.after(chat.session_id, 1190)
        assert late["delta"] == "1190 1191 1192 1193 1194 1195 1196 1197 1198 1199 "
        turn = await store.turn_reader.get(chat.turn_id, include_events=True)
        assert turn.events == [text, end]
        assert rows(path, "SELECT count(*) FROM unjoined_turns") == [(0,)]


async def test_it_is_done_by_itself_after_a_turn(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        for _ in range(3):
            await chat.start()
            await chat.say(*"abcdef")
            await chat.finish()
        upkeep = (await store._open()).upkeep
        while upkeep._task is not None:
            await asyncio.wait([upkeep._task])
    assert rows(path, "SELECT type, pieces FROM events WHERE seq < 8") == [
        ("text_delta", "[1,1,1,1,1,1]"),
        ("turn_completed", None),
    ]


async def test_another_models_answer_is_joined_once_it_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.say("Apple.")
        await chat.finish()
        await joined(store)
        answers = store.answers
        begun = chat.timed(AnswerStarted(answer_id="x", model="openai/b"))
        await answers.begin(chat.session_id, chat.turn_id, "x", "openai/b", begun)
        await chat.emit(*(AnswerDelta(answer_id="x", item_id="x:m", delta=c) for c in "Pear."))
        finished = AnswerFinished(answer_id="x", model="openai/b", status="completed", text="Pear.")
        chat.timed(finished)
        await answers.finish(chat.session_id, chat.turn_id, finished)
        await joined(store)
        kept = rows(
            path,
            "SELECT seq, json_extract(data, '$.delta') FROM events WHERE type = ?",
            "answer_delta",
        )
        assert kept == [(8, "Pear.")]
        [turn] = (await store.turn_reader.list_page(chat.session_id, include_events=True)).turns
        assert [e["delta"] for e in turn.events or [] if e["type"] in DELTAS] == ["Apple.", "Pear."]


OLDER = [step.name for step in MIGRATIONS].index("0017_joined_text")


@pytest.mark.parametrize("steps", range(1, OLDER + 1))
async def test_the_text_that_an_older_version_kept_in_pieces_is_joined(
    tmp_path: Path, steps: int
) -> None:
    path = tmp_path / "agent.db"
    filled_at(path, steps)
    execute(path, "DELETE FROM events")
    pieces = [entry(seq, "t0", "text_delta", itemId="m", delta=f"{seq} ") for seq in range(1, 900)]
    entries = [
        *pieces,
        entry(900, "t0", "turn_completed"),
        entry(901, "t1", "text_delta", itemId="m", delta="Cut"),
        entry(902, "t1", "text_delta", itemId="m", delta=" off"),
    ]
    names, marks = ", ".join(entries[0]), ", ".join("?" * len(entries[0]))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(
            f"INSERT INTO events ({names}) VALUES ({marks})",
            [tuple(each.values()) for each in entries],
        )
    execute(path, "UPDATE turns SET first_seq = 901 WHERE id = 't1'")
    async with open_store(path) as store:
        first, second = (await store.turn_reader.list_page("s", include_events=True)).turns
        await joined(store)
        assert [first, second] == (
            await store.turn_reader.list_page("s", include_events=True)
        ).turns
        assert rows(path, "SELECT seq FROM events ORDER BY seq") == [(899,), (900,), (902,), (903,)]
        [rest, *_] = await store.events.after("s", 898)
        assert rest["delta"] == "899 "

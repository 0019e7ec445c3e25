"""What is sent of a conversation, read again from the database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.records import Compaction

from ..chats import Chat, execute, open_store, rows


async def conversation(store: Store, session_id: str) -> tuple[str | None, list[tuple[int, Any]]]:
    """The summary, and of each turn its index and the texts of its items."""
    found = await store.compactions.conversation(session_id)
    return (
        None if found.compaction is None else found.compaction.summary,
        [(turn.index, [item["text"] for item in turn.items]) for turn in found.turns],
    )


async def chat_of(store: Store, turns: int) -> Chat:
    chat = await Chat.new(store)
    for number in range(turns):
        await chat.start(items=[{"text": f"message {number}"}])
        await chat.finish()
    return chat


async def compact(chat: Chat, through: int, summary: str) -> None:
    compactions = chat.store.compactions
    made = Compaction(
        through=through,
        last_item=await compactions.last_item(chat.session_id, through),
        how="summary",
        items=[{"text": summary}],
        messages=[],
        summary=summary,
        tokens_before=10,
        tokens_after=1,
    )
    await compactions.save(chat.session_id, made, "m", turn_id=None, events=[])


async def test_the_newest_compaction_replaces_its_turns_and_later_ones_are_whole(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await chat_of(store, 4)
        assert (await conversation(store, chat.session_id))[0] is None
        await compact(chat, 0, "first")
        await compact(chat, 2, "second")
        assert await conversation(store, chat.session_id) == ("second", [(3, ["message 3"])])
        other = await chat_of(store, 1)
        assert await conversation(store, other.session_id) == (None, [(0, ["message 0"])])


async def test_what_is_added_to_a_compacted_turn_is_sent(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await chat_of(store, 2)
        await compact(chat, 1, "both")
        assert await conversation(store, chat.session_id) == ("both", [])
        await chat.emit(items=[{"text": "[undone]"}])
        assert await conversation(store, chat.session_id) == ("both", [(1, ["[undone]"])])


@pytest.mark.parametrize("withdrawn", [1, 2, 3])
async def test_going_back_into_what_was_summarised_makes_the_summary_invalid(
    tmp_path: Path, withdrawn: int
) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await chat_of(store, 4)
        await compact(chat, 0, "one turn")
        await compact(chat, 2, "three turns")
        execute(
            path,
            "UPDATE turns SET withdrawn_at = 5, withdrawn_seq = 1 << 30 WHERE position >= ?",
            withdrawn,
        )
        summary, turns = await conversation(store, chat.session_id)
        assert summary == ("three turns" if withdrawn == 3 else "one turn")
        assert [index for index, _ in turns] == list(range(1 if withdrawn < 3 else 3, withdrawn))


async def test_turns_withdrawn_before_a_compaction_leave_it_valid(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await chat_of(store, 3)
        earlier = "UPDATE turns SET withdrawn_at = 5, withdrawn_seq = 1 WHERE position = 1"
        execute(path, earlier)
        await compact(chat, 1, "what was left")
        assert await conversation(store, chat.session_id) == (
            "what was left",
            [(2, ["message 2"])],
        )


async def test_a_reset_forgets_the_compactions(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await chat_of(store, 3)
        await compact(chat, 1, "gone")
        await store.sessions.reset(chat.session_id)
        assert await conversation(store, chat.session_id) == (None, [])
    assert rows(path, "SELECT count(*) FROM compactions") == [(0,)]

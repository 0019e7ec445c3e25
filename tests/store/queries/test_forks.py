"""Copies of conversations: what is copied with them, and what of a compacted one is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.protocol.datasets import Dataset, DatasetReport
from jupyter_datalayer_agent.protocol.events import Status, WentBack
from jupyter_datalayer_agent.protocol.plans import Plan
from jupyter_datalayer_agent.protocol.requests import Session, ToolCallRecord, Usage
from jupyter_datalayer_agent.protocol.tools import Change
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.records import CheckpointCell, CheckpointPart, Compaction

from ..chats import Chat, execute, open_store, rows


def item(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


async def talk(chat: Chat, *messages: str) -> list[str]:
    """Turns of one message and one item each; their ids."""
    ids = []
    for message in messages:
        await chat.start(message, items=[item(message)])
        await chat.say(f"{message}!", "?")
        await chat.finish(f"{message}!")
        ids.append(chat.turn_id)
    return ids


async def fork(store: Store, session: str, turn: str | None = None) -> Session:
    return await store.forks.fork(session, turn, [item("copied")])


async def sent(store: Store, session: str) -> list[Any]:
    """The items that the model would be sent, with a compaction's first."""
    conversation = await store.compactions.conversation(session)
    first = [] if conversation.compaction is None else conversation.compaction.items
    return [*first, *(each for turn in conversation.turns for each in turn.items)]


async def compact(store: Store, session: str, through: int) -> None:
    compactions = store.compactions
    compaction = Compaction(
        through=through,
        last_item=await compactions.last_item(session, through),
        how="summary",
        items=[item("in short")],
        messages=[],
        summary="in short",
        tokens_before=10,
        tokens_after=1,
    )
    await compactions.save(session, compaction, "openai/m", turn_id=None, events=[])


async def test_the_copy_of_a_compacted_conversation_is_sent_what_the_original_is(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        ids = await talk(chat, "zero", "one")
        await compact(store, chat.session_id, 1)
        # A note that comes later to the turn that was summed up is sent beside the summary.
        await chat.emit(items=[item("late")])
        ids += await talk(chat, "two", "three")
        before = await sent(store, chat.session_id)
        assert before == [item(text) for text in ("in short", "late", "two", "three")]
        copy = await fork(store, chat.session_id)
        assert await sent(store, copy.id) == [*before, item("copied")]
        early = await fork(store, chat.session_id, ids[1])
        assert await sent(store, early.id) == [
            item("zero"), item("one"), item("late"), item("copied")
        ]  # fmt: skip
        again = await fork(store, copy.id)
        assert await sent(store, again.id) == [*before, item("copied"), item("copied")]


async def test_a_summary_that_speaks_of_withdrawn_turns_is_not_copied(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        ids = await talk(chat, "zero", "one", "two")
        await compact(store, chat.session_id, 1)
        event = WentBack(to_turn_id=ids[0], include_turn=False, withdrawn=ids[1:], documents=False)
        withdrawals = store.withdrawals
        await withdrawals.withdraw(chat.session_id, ids[1:], chat.timed(event), [])
        await talk(chat, "three")
        copy = await fork(store, chat.session_id)
        assert await sent(store, copy.id) == [item("zero"), item("three"), item("copied")]
        assert await sent(store, chat.session_id) == [item("zero"), item("three")]


async def test_numbers_decide_what_came_first_where_the_clock_was_set_back(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        ids = await talk(chat, "zero", "one", "two")
        await compact(store, chat.session_id, 1)
        event = WentBack(to_turn_id=ids[0], include_turn=False, withdrawn=ids[1:], documents=False)
        await store.withdrawals.withdraw(chat.session_id, ids[1:], chat.timed(event), [])
        # All that follows is earlier, by the clock.
        execute(path, "UPDATE turns SET withdrawn_at = withdrawn_at - 10 WHERE withdrawn_at > 0")
        execute(path, "UPDATE turns SET started_at = started_at + 9999, ended_at = ended_at + 9999")
        ids += await talk(chat, "three", "four")
        await compact(store, chat.session_id, 3)
        ids += await talk(chat, "five")
        copy = await fork(store, chat.session_id, ids[3])
        assert await sent(store, copy.id) == [item("zero"), item("three"), item("copied")]
        assert await sent(store, chat.session_id) == [
            item("in short"), item("four"), item("five")
        ]  # fmt: skip
        as_it_was = await fork(store, chat.session_id, ids[2])
        assert await sent(store, as_it_was.id) == [item("in short"), item("two"), item("copied")]
        again = await fork(store, as_it_was.id)
        assert (await sent(store, again.id))[:2] == [item("in short"), item("two")]


async def test_all_that_a_turn_did_is_copied_but_what_it_cost_and_what_could_be_undone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store, "Cars")
        await chat.start("Load")
        turn = chat.turn_id
        await chat.emit(
            Status(message="Loading"),
            tool_calls=[ToolCallRecord(call_id="c", name="run", status="ok", output="5")],
            changes=[Change(path="a.ipynb", op="create"), Change(path="a.ipynb", op="insert")],
            usage=Usage(total_tokens=7),
        )
        for number, cell in enumerate(("", "c1")):
            part = CheckpointPart(
                path="a.ipynb", span=number, orders=([], []), added=[CheckpointCell(cell, None, 1)]
            )
            await store.checkpoints.save(turn, part)
        plan = Plan(task="Load", steps=[], state="stopped")
        await store.plans.save(chat.session_id, turn, plan)
        await chat.finish()
        sizes = {"rows": 1, "size": 1, "memory": 1}
        report = DatasetReport(format="csv")
        dataset = Dataset(
            name="cars", path="cars", source="cars.csv", columns=[], report=report, **sizes
        )
        datasets = store.datasets
        await datasets.save("/root", dataset, [])
        await datasets.register(chat.session_id, "/root", "cars")
        copy = await fork(store, chat.session_id)
        (copied,) = (await store.turn_reader.list_page(copy.id, include_events=True)).turns
        (original,) = (
            await store.turn_reader.list_page(chat.session_id, include_events=True)
        ).turns
        same = ("message", "reply", "status", "tool_calls", "changes", "usage", "started_at")
        assert [getattr(copied, name) for name in same] == [
            getattr(original, name) for name in same
        ]
        kinds = [event["type"] for event in original.events or []]
        assert [event["type"] for event in copied.events or []] == [*kinds, "changes_kept"]
        numbers = [event["seq"] for event in await store.events.after(copy.id)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert set((await store.checkpoints.states(copied.id)).values()) == {"kept"}
        assert await store.checkpoints.open_spans(copied.id) == []
        assert len(await store.checkpoints.open_spans(turn)) == 2
        assert await store.turn_reader.created_paths(copy.id) == ["a.ipynb"]
        stored = await store.plans.last(copy.id)
        assert stored is not None
        assert (stored.turn_id, stored.plan) == (copied.id, plan)
        assert [each.name for each in await datasets.known("/root", copy.id)] == ["cars"]
        assert (copy.session_tokens, rows(path, "SELECT count(*) FROM usage")) == (0, [(1,)])
        found = await store.past.search("Load", 10)
        assert [hit.turn_id for hit in found] == [turn], "found once, in the original"

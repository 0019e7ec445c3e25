"""Turns and what belongs to them: appended, ended, read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError, ErrorBody
from jupyter_datalayer_agent.protocol.events import (
    ItemDiscarded,
    Status,
    TextDelta,
    TokenUsage,
    ToolCallOutput,
    TurnAborted,
    TurnStarted,
)
from jupyter_datalayer_agent.protocol.ops import UserMessage
from jupyter_datalayer_agent.protocol.requests import ChatRequest, ToolCallRecord, Usage
from jupyter_datalayer_agent.protocol.tools import Change
from jupyter_datalayer_agent.store import Store

from ..chats import Chat, Reader, execute, open_store, rows


async def test_a_turn_is_read_back_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    usage = Usage(input_tokens=7, output_tokens=2, cached_tokens=4, total_tokens=9)
    change = Change(path="a.ipynb", op="update", cell_id="c1", index=3, before="x", after="y")
    items = [{"type": "message", "role": "user", "content": "é 🚗"}, {"type": "reasoning"}]
    output = {"cells": [{"status": "ok", "nothing": None}]}
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        assert await chat.start("Load the cars", model="gpt", op_id="op_1") == 0
        running = ToolCallRecord(call_id="c", name="run", arguments={"all": True}, status="running")
        await chat.emit(Status(message="Thinking"), items=items[:1], tool_calls=[running])
        ended = ToolCallRecord(call_id="c", name="run", status="ok", output=output, duration_ms=2.5)
        await chat.emit(tool_calls=[ended], items=items[1:], changes=[change])
        await chat.emit(usage=usage, model="gpt")
        turn = await store.turn_reader.get(chat.turn_id)
        assert (turn.status, turn.usage, turn.ended_at) == ("running", usage, None)
        await store.turns.finish(
            chat.turn_id,
            status="failed",
            reply="It did not work.",
            error=ErrorBody(code="model_error", message="No."),
            usage=usage,
            ttft_ms=1.5,
            duration_ms=20,
            items=[{"type": "note"}],
        )
    async with open_store(tmp_path / "agent.db") as store:
        turn = await store.turn_reader.get(chat.turn_id)
        assert turn.items == [*items, {"type": "note"}]
        arguments = {"arguments": {"all": True}}
        assert turn.tool_calls == [ended.model_copy(update=arguments)]
        assert turn.changes == await store.turn_reader.changes(chat.turn_id) == [change]
        assert (turn.status, turn.reply, turn.message) == (
            "failed",
            "It did not work.",
            "Load the cars",
        )
        assert turn.error == ErrorBody(code="model_error", message="No.")
        assert (turn.usage, turn.model, turn.mode) == (usage, "gpt", "agent")
        assert turn.ended_at is not None
        assert turn.ended_at >= turn.started_at
        assert turn.events is None


async def test_events_come_back_in_order_as_they_go_over_the_wire(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.say("a", "b")
        await chat.emit(
            ToolCallOutput(call_id="c", name="run", status="ok", output={"x": None}),
            Status(message=""),
        )
        events = await store.events.after(chat.session_id)
        assert [event["seq"] for event in events] == [1, 2, 3, 4]
        assert events[0] == {
            "type": "text_delta",
            "seq": 1,
            "turnId": chat.turn_id,
            "at": 1_700_000_000_001,
            "itemId": "msg_1",
            "delta": "a",
        }
        assert (events[2]["callId"], events[2]["truncated"]) == ("c", False)
        later = await store.events.after(chat.session_id, 1, limit=2)
        assert [event["seq"] for event in later] == [2, 3]
        assert await store.events.last_seq(chat.session_id) == 4
        assert await store.events.after(chat.session_id, 4) == []
        assert await store.events.last_seq("s_no") == 0


async def test_a_turns_events_are_its_own_with_the_deltas_joined(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        turns = []
        for text in ("one", "two"):
            await chat.start()
            await chat.say("wrong")
            await chat.emit(ItemDiscarded(item_id="msg_1"))
            await chat.say(*text)
            await chat.finish(text)
            turns.append(chat.turn_id)
        chat.turn_id = ""
        await chat.emit(Status(message="of no turn"))
        for number, text in enumerate(("one", "two")):
            turn = await store.turn_reader.get(turns[number], include_events=True)
            assert turn.events is not None
            kinds = ["item_discarded", "text_delta", "turn_completed"]
            assert [event["type"] for event in turn.events] == kinds
            assert turn.events[1]["delta"] == text
            assert (turn.first_seq, turn.last_seq) == (1 + 6 * number, 6 + 6 * number)
        listed = (await store.turn_reader.list_page(chat.session_id, include_events=True)).turns
        assert [len(turn.events or []) for turn in listed] == [3, 3]


async def test_pages_of_turns_go_back_from_the_newest(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        for number in range(7):
            assert await chat.start(str(number)) == number
            await chat.finish()
        seen: list[list[str]] = []
        before = None
        while True:
            page = await store.turn_reader.list_page(chat.session_id, limit=3, before=before)
            seen.append([turn.message for turn in page.turns])
            before = page.before
            if before is None:
                break
        assert seen == [["4", "5", "6"], ["1", "2", "3"], ["0"]]
        with pytest.raises(AgentError) as raised:
            await store.turn_reader.list_page(chat.session_id, before="t_no")
        assert raised.value.code == "not_found"


async def test_history_has_the_newest_turns_oldest_first_and_why_they_ended(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        for number in range(3):
            await chat.start()
            await chat.emit(items=[{"n": number}, {"n": number + 0.5}])
            await chat.finish()
        await chat.start()
        await chat.emit(TurnAborted(reason="interrupted"))
        await store.turns.finish(chat.turn_id, status="aborted")
        await chat.start()
        await store.turns.finish(chat.turn_id, status="aborted", aborted_reason="tool_limit")
        history = await store.turn_reader.history(chat.session_id, 3)
        assert [turn.index for turn in history] == [2, 3, 4]
        assert [turn.aborted_reason for turn in history] == [None, "interrupted", "tool_limit"]
        assert [turn.status for turn in history] == ["completed", "aborted", "aborted"]
        assert history[0].items == [{"n": 2}, {"n": 2.5}]
        assert len(await store.turn_reader.history(chat.session_id)) == 5
        assert await store.turn_reader.history("s_no") == []


async def test_first_events_and_items_are_kept_with_the_turns_start(tmp_path: Path) -> None:
    started = TurnStarted(mode="agent", notebook_mode="full", tools=[])
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.emit(Status(message="before"))
        await chat.start(events=chat.timed(started), items=[{"type": "message"}])
        turn = await store.turn_reader.get(chat.turn_id, include_events=True)
        assert (turn.first_seq, turn.last_seq) == (2, 2)
        assert turn.items == [{"type": "message"}]


async def test_the_documents_that_a_session_made_are_known(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chats = [await Chat.new(store) for _ in range(2)]
        for chat in chats:
            await chat.start()
        await chats[0].emit(
            changes=[
                Change(path="b.ipynb", op="create"),
                Change(path="c.ipynb", op="insert", cell_id="1"),
                Change(path="a.ipynb", op="create"),
                Change(path="b.ipynb", op="create"),
            ]
        )
        assert await store.turn_reader.created_paths(chats[0].session_id) == ["b.ipynb", "a.ipynb"]
        assert await store.turn_reader.created_paths(chats[1].session_id) == []


async def test_a_second_turn_of_a_session_is_refused_while_one_runs(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        first = chat.turn_id
        with pytest.raises(AgentError) as raised:
            await chat.start()
        assert raised.value.code == "turn_in_progress"
        assert (await store.turn_reader.get(first)).status == "running"


async def test_a_turn_ends_once(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.finish("first")
        with pytest.raises(AgentError, match="already ended"):
            await chat.finish("second")
        assert (await store.turn_reader.get(chat.turn_id)).reply == "first"
        assert await chat.numbers() == [1]


async def test_an_unknown_turn_is_not_found(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        for call in (
            store.turn_reader.get("t_no"),
            store.turn_reader.changes("t_no"),
            store.turns.finish("t_no", status="completed"),
        ):
            with pytest.raises(AgentError) as raised:
                await call
            assert raised.value.code == "not_found"


async def test_an_append_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start()
        await chat.say("a")
        execute(path, "CREATE TRIGGER t BEFORE INSERT ON usage BEGIN SELECT RAISE(FAIL, 'no'); END")
        reader = Reader()
        store.follow(chat.session_id, reader)
        with pytest.raises(AgentError, match="no"):
            await store.events.append(
                chat.session_id,
                chat.turn_id,
                events=[TextDelta(item_id="i", delta="new")],
                items=[{"type": "message"}],
                usage=Usage(total_tokens=5),
            )
        assert reader.taken == []
        assert await chat.numbers() == [1]
        assert rows(path, "SELECT count(*) FROM items") == [(0,)]
        assert (await store.sessions.get(chat.session_id)).session_tokens == 0


async def test_only_events_go_without_a_turn(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await chat.emit(TokenUsage(usage=Usage()))
        assert await chat.numbers() == [1]
        with pytest.raises(ValueError, match="without a turn"):
            await store.events.append(chat.session_id, None, items=[{"type": "message"}])


async def test_half_of_an_emoji_is_kept_until_the_other_half_comes(tmp_path: Path) -> None:
    halves = ["\ud83d", "\ude97"]
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store, "car \ud83d\ude97 and half \ud83d")
        await chat.start()
        await chat.emit(items=[{"text": half} for half in halves])
        (turn,) = await store.turn_reader.history(chat.session_id)
        assert [item["text"] for item in turn.items] == halves
        await store.turns.finish(chat.turn_id, status="completed", reply="".join(halves))
        assert (await store.turn_reader.get(chat.turn_id)).reply == "🚗"
        assert (await store.sessions.get(chat.session_id)).title == "car 🚗 and half \ufffd"


async def test_waiting_messages_survive_a_restart_in_their_order(tmp_path: Path) -> None:
    requests = [
        ChatRequest(message="first", active_notebook=None),
        ChatRequest(message="second"),
        ChatRequest(message="third", active_notebook="a.ipynb"),
    ]
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        for number, request in enumerate(requests):
            events = chat.timed(Status(message="queued"))
            op = UserMessage(request=request)
            await store.queue.save(chat.session_id, f"op_{number}", op, events=events)
        assert await store.queue.remove(chat.session_id, "op_1")
        events = chat.timed(Status(message="never kept"))
        assert not await store.queue.remove(chat.session_id, "op_1", events=events)
    async with open_store(tmp_path / "agent.db") as store:
        waiting = await store.queue.waiting(chat.session_id)
        assert [op.op_id for op in waiting] == ["op_0", "op_2"]
        assert [op.op.request for op in waiting] == [requests[0], requests[2]]
        # An explicit null is another thing than a field left out.
        assert "active_notebook" in waiting[0].op.request.model_fields_set
        assert await store.events.last_seq(chat.session_id) == 3


async def test_a_store_in_memory_works_like_one_in_a_file() -> None:
    store = Store("sqlite://")
    chat = await Chat.new(store)
    await chat.start()
    await chat.say("a", "b")
    await chat.finish("ab")
    turn = await store.turn_reader.get(chat.turn_id, include_events=True)
    assert turn.events is not None
    assert turn.events[0]["delta"] == "ab"
    await store.close()
    with pytest.raises(AgentError, match="closed"):
        await store.sessions.get(chat.session_id)

"""A server that is killed in the middle of a turn loses nothing that was shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.requests import Turn, Usage
from jupyter_datalayer_agent.store import Store

from ..chats import Chat, kept_events, open_store, rows
from ..crashing import USER, Server, call, crash, output

ENDS = ("turn_completed", "turn_aborted")


async def last_turn(store: Store, session_id: str) -> Turn:
    return (await store.turn_reader.list_page(session_id, include_events=True)).turns[-1]


def ends(events: list[dict[str, Any]] | None) -> list[tuple[str, str | None]]:
    return [(e["type"], e.get("reason")) for e in events or [] if e["type"] in ENDS]


def assistant(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


async def test_all_that_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    server = Server(path, "streams_for_ever")
    acknowledged = [int(server.line()) for _ in range(200)]
    acknowledged += [int(number) for number in server.kill()[:-1]]
    async with open_store(path) as store:
        await store.open()
        numbers = list(kept_events(path, server.session_id))
        assert numbers == list(range(1, len(numbers) + 1))
        assert set(acknowledged) <= set(numbers)
        turn = await last_turn(store, server.session_id)
        assert turn.reply.split() == [str(number) for number in numbers[:-1]]
        assert rows(path, "PRAGMA integrity_check") == [("ok",)]


async def test_a_dead_turn_is_aborted_with_one_end_and_keeps_its_text(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    session_id = crash(path, "speaks")
    async with open_store(path) as store:
        turn = await last_turn(store, session_id)
        assert turn.status == "aborted"
        assert ends(turn.events) == [("turn_aborted", "shutdown")]
        assert turn.reply == "First.\n\nSecond, cut"
        assert turn.usage == Usage(
            input_tokens=4, output_tokens=1, total_tokens=5, session_tokens=5
        )
        assert turn.ended_at is not None
        (history,) = await store.turn_reader.history(session_id)
        assert history.aborted_reason == "shutdown"
        assert [item.get("id") for item in history.items] == [None, "msg_1", None]
        assert history.items[-1] == assistant("Second, cut")
        assert (await store.sessions.get(session_id)).running_turn_id is None
    async with open_store(path) as store:
        assert await last_turn(store, session_id) == turn


async def test_text_that_was_taken_back_stays_taken_back(tmp_path: Path) -> None:
    session_id = crash(tmp_path / "agent.db", "takes_back")
    async with open_store(tmp_path / "agent.db") as store:
        (history,) = await store.turn_reader.history(session_id)
        assert history.items == [USER, assistant("right")]


async def test_a_message_that_was_kept_is_not_kept_twice(tmp_path: Path) -> None:
    session_id = crash(tmp_path / "agent.db", "forgets_ids")
    async with open_store(tmp_path / "agent.db") as store:
        (history,) = await store.turn_reader.history(session_id)
        assert history.items == [USER, {"role": "assistant", "content": "Said."}]


async def test_calls_without_an_answer_are_answered_aborted(tmp_path: Path) -> None:
    session_id = crash(tmp_path / "agent.db", "runs_tools")
    async with open_store(tmp_path / "agent.db") as store:
        turn = await last_turn(store, session_id)
        assert turn.items == [
            USER,
            call("done"),
            call("runs"),
            output("done"),
            {"type": "function_call_output", "call_id": "runs", "output": "aborted"},
        ]
        assert [(c.call_id, c.status, c.output) for c in turn.tool_calls] == [
            ("done", "ok", "ok"),
            ("runs", "aborted", "aborted"),
        ]
        assert turn.tool_calls[1].arguments == {}
        outputs = [e for e in turn.events or [] if e["type"] == "tool_call_output"]
        assert [(e["callId"], e["status"]) for e in outputs] == [
            ("done", "ok"),
            ("runs", "aborted"),
            ("streams", "aborted"),
        ]
        numbers = [event["seq"] for event in await store.events.after(session_id)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert ends(turn.events) == [("turn_aborted", "shutdown")]


async def test_an_end_that_was_emitted_stays_the_end(tmp_path: Path) -> None:
    session_id = crash(tmp_path / "agent.db", "emitted_the_end")
    async with open_store(tmp_path / "agent.db") as store:
        turn = await last_turn(store, session_id)
        assert (turn.status, turn.reply) == ("completed", "Done.")
        assert ends(turn.events) == [("turn_completed", None)]
        assert (await store.turn_reader.history(session_id))[0].aborted_reason is None


async def test_the_session_goes_on_after_a_crash(tmp_path: Path) -> None:
    session_id = crash(tmp_path / "agent.db", "speaks")
    async with open_store(tmp_path / "agent.db") as store:
        chat = Chat(store, session_id, await store.events.last_seq(session_id))
        assert await chat.start("Go on") == 1
        await chat.say("Yes.")
        await chat.finish()
        history = await store.turn_reader.history(session_id)
        assert [turn.status for turn in history] == ["aborted", "completed"]
        numbers = list(kept_events(tmp_path / "agent.db", session_id))
        assert numbers == list(range(1, len(numbers) + 1))


async def test_the_turn_of_a_live_server_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    server = Server(path, "speaks")
    assert server.line() == "played"
    async with open_store(path) as store:
        assert (await last_turn(store, server.session_id)).status == "running"
        assert await store.recover() == []
        chat = Chat(store, server.session_id, await store.events.last_seq(server.session_id))
        with pytest.raises(AgentError) as raised:
            await chat.start()
        assert raised.value.code == "turn_in_progress"
        server.kill()
        turn_id = (await last_turn(store, server.session_id)).id
        assert await store.recover(server.session_id) == [turn_id]
        assert await store.recover() == []
        assert (await last_turn(store, server.session_id)).status == "aborted"


async def test_a_turn_can_begin_where_another_servers_turn_died(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    server = Server(path, "speaks")
    assert server.line() == "played"
    async with open_store(path) as store:
        await store.open()
        server.kill()
        chat = Chat(store, server.session_id)
        assert await chat.start() == 1
        turn = (await store.turn_reader.list_page(server.session_id, include_events=True)).turns[0]
        assert ends(turn.events) == [("turn_aborted", "shutdown")]


async def test_locks_of_dead_servers_are_cleared_away(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    crash(path, "speaks")
    locks = tmp_path / "agent.db-servers"
    assert len(list(locks.iterdir())) == 1
    async with open_store(path) as store:
        await store.open()
        assert len(list(locks.iterdir())) == 1
    assert list(locks.iterdir()) == []

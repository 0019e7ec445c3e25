"""Internal faults while a session takes an op: its submitter is answered, the session continues."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from jupyter_datalayer_agent.agent.session import actor, op_handlers
from jupyter_datalayer_agent.agent.session.message_queue import Message, MessageQueue
from jupyter_datalayer_agent.agent.state import SessionState
from jupyter_datalayer_agent.agent.turn.record import TurnRecord
from jupyter_datalayer_agent.protocol.base import new_id
from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.ops import ConfigUpdate, Keep, Op, Shutdown, UserMessage
from jupyter_datalayer_agent.protocol.requests import ChatRequest, SessionSettings, Usage

from ..changes.undoing import chat


async def broken(*args: Any) -> Any:
    raise RuntimeError("A fault of ours.")


class Ending:
    """A turn that still has something to do when its end is stored."""

    started, waits = True, False

    def __init__(self, session: SessionState) -> None:
        self.id = new_id("turn")
        self.record = TurnRecord(session, self.id, cast(Any, None), None, None)
        self._session = session
        self.may_end, self.has_ended, self.may_leave = (asyncio.Event() for _ in range(3))

    async def begin(self) -> None:
        await self._session.runtime.store.turns.start(
            session_id=self._session.id,
            turn_id=self.id,
            mode="ask",
            notebook_mode="read-only",
            location="panel",
            request=ChatRequest(message="Hello"),
        )

    async def run(self) -> None:
        await self.may_end.wait()
        await self.record.write_end("completed", None, None, Usage(), None)
        self.has_ended.set()
        await self.may_leave.wait()


def message(text: str = "Hello") -> UserMessage:
    return UserMessage(request=ChatRequest(message=text))


def test_each_op_has_a_handler_but_a_message_and_the_shutdown() -> None:
    union, *_ = get_args(Op)
    assert set(op_handlers.OP_HANDLERS) == {*get_args(union)} - {UserMessage, Shutdown}


async def test_an_op_that_fails_inside_is_answered_and_the_next_is_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat(tmp_path) as talk:
        configure = ConfigUpdate(settings=SessionSettings(mode="edit"))
        with monkeypatch.context() as patch:
            patch.setitem(op_handlers.OP_HANDLERS, ConfigUpdate, broken)
            op_id = talk.session.submit(configure)
            error = await asyncio.wait_for(talk.answers.get(), 10)
        assert (error["type"], error["code"], error["opId"]) == ("error", "internal", op_id)
        talk.session.submit(configure)
        while talk.session.state.record.settings.mode != "edit":  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_session_continues_where_not_even_its_error_can_be_emitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat(tmp_path) as talk:
        failed = asyncio.Event()

        async def untold(*args: Any, **more: Any) -> None:
            failed.set()
            raise RuntimeError("No thread.")

        with monkeypatch.context() as patch:
            patch.setitem(op_handlers.OP_HANDLERS, ConfigUpdate, broken)
            patch.setattr(talk.store.events, "append", untold)
            op_id = talk.session.submit(ConfigUpdate(settings=SessionSettings()))
            # Those who listen hear of it all the same.
            error = await asyncio.wait_for(talk.answers.get(), 10)
        assert failed.is_set()
        assert error["opId"] == op_id
        assert not talk.session.ended


@pytest.mark.parametrize("waited", [False, True])
async def test_a_message_whose_turn_fails_to_begin_is_refused_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waited: bool
) -> None:
    monkeypatch.setattr(actor, "turn_request", broken)
    async with chat(tmp_path) as talk:
        session = talk.session
        if waited:
            queue = session._messages
            await queue.add(Message("op_waited", message(), "page"))
            session.run_queued()
            error = await asyncio.wait_for(talk.answers.get(), 10)
            assert (error["code"], error["opId"]) == ("internal", "op_waited")
        op_id, result = await session.chat(message(), "none")
        with pytest.raises(AgentError, match="Internal error"):
            await asyncio.wait_for(result, 10)
        error = await asyncio.wait_for(talk.answers.get(), 10)
        assert (error["code"], error["opId"]) == ("internal", op_id)
        assert not session.busy


async def test_a_message_does_not_overtake_one_that_waits_while_a_turn_has_just_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actor, "turn_request", broken)
    async with chat(tmp_path) as talk:
        await talk.session._messages.add(Message("op_waited", message(), "page"))
        later = talk.session.submit(message("Later"))
        refused = [await asyncio.wait_for(talk.answers.get(), 10) for _ in range(2)]
        assert [each["opId"] for each in refused] == ["op_waited", later]


async def test_an_op_about_a_turn_that_has_emitted_its_end_waits_for_the_rest_of_it(
    tmp_path: Path,
) -> None:
    async with chat(tmp_path) as talk:
        session = talk.session
        turn = Ending(session.state)
        await turn.begin()
        session._current.run_turn(cast(Any, turn), Message("op_1", message(), "page"))
        keep = Keep(turn_id=turn.id)
        session.submit(keep)
        assert (await asyncio.wait_for(talk.answers.get(), 10))["code"] == "turn_in_progress"
        turn.may_end.set()
        await asyncio.wait_for(turn.has_ended.wait(), 10)
        op_id = session.submit(keep)
        await asyncio.sleep(0.1)
        assert talk.answers.empty(), "it is not refused"
        turn.may_leave.set()
        answer = await asyncio.wait_for(talk.answers.get(), 10)
        assert (answer["opId"], answer["code"]) == (op_id, "not_found"), "nothing was changed"


async def test_a_chat_after_the_end_of_a_turn_waits_for_the_rest_of_it(tmp_path: Path) -> None:
    async with chat(tmp_path) as talk:
        session = talk.session
        turn = Ending(session.state)
        await turn.begin()
        session._current.run_turn(cast(Any, turn), Message("op_1", message(), "page"))
        with pytest.raises(AgentError, match="A turn is running"):
            await session.chat(message("Too early"), "none")
        turn.may_end.set()
        await asyncio.wait_for(turn.has_ended.wait(), 10)
        asking = asyncio.create_task(session.chat(message("Next"), "none"))
        await asyncio.sleep(0)
        assert not asking.done(), "it is not refused"
        turn.may_leave.set()
        _, reply = await asyncio.wait_for(asking, 10)
        reply.cancel()


@pytest.mark.parametrize("way", ["take", "remove"])
async def test_a_message_waits_on_where_it_cannot_be_written_that_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    async def full(*args: Any, **more: Any) -> bool:
        raise AgentError("internal", "The disk is full.")

    async with chat(tmp_path) as talk:
        session = talk.session
        queue = MessageQueue(talk.store, session.id, session.state.channel)
        await queue.add(Message("op_1", message(), "page"))
        await queue.add(Message("op_2", message(), "page"))
        with monkeypatch.context() as patch:
            patch.setattr(talk.store.queue, "remove", full)
            with pytest.raises(AgentError, match="full"):
                await (queue.take() if way == "take" else queue.remove("op_1"))
        taken = [await queue.take(), await queue.take()]
        assert [each and each.op_id for each in taken] == ["op_1", "op_2"]
        assert not queue.has_next

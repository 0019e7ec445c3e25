"""A request to the user is open exactly as long as somebody can answer it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_datalayer_agent.agent.approvals import ApprovalBroker, PendingRequests
from jupyter_datalayer_agent.protocol.errors import AgentError
from jupyter_datalayer_agent.protocol.events import BaseEvent
from jupyter_datalayer_agent.tools.call_approval import ApprovalRequest


def request() -> ApprovalRequest:
    return ApprovalRequest(
        call_id="call_1",
        name="runNotebookCells",
        arguments={},
        reason="It deletes a file.",
        destructive=True,
        changes=[],
        remember_as="runNotebookCells",
    )


def ask(broker: ApprovalBroker, what: str) -> Any:
    return broker.approve(request()) if what == "approval" else broker.ask("Which one?", None)


@pytest.mark.parametrize("what", ["approval", "question"])
async def test_nothing_waits_when_it_could_not_be_written_that_it_does(what: str) -> None:
    async def broken(event: BaseEvent) -> None:
        raise AgentError("internal", "The disk is full.")

    room = PendingRequests()
    with pytest.raises(AgentError, match="full"):
        await ask(ApprovalBroker(room, "page", broken), what)
    assert not room.has_open


@pytest.mark.parametrize("what", ["approval", "question"])
async def test_nothing_waits_when_it_was_stopped_while_that_was_written(what: str) -> None:
    writing = asyncio.Event()

    async def slowly(event: BaseEvent) -> None:
        if event.type in ("approval_requested", "user_input_requested"):  # type: ignore[attr-defined]
            writing.set()
            await asyncio.sleep(60)

    room = PendingRequests()
    asked = asyncio.ensure_future(ask(ApprovalBroker(room, "page", slowly), what))
    await writing.wait()
    assert room.has_open
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert not room.has_open


async def test_an_answer_that_comes_before_anybody_awaits_it_counts() -> None:
    room = PendingRequests()

    async def emit(event: Any) -> None:
        if event.type == "approval_requested":
            assert room.decide(event.approval_id, ("approve", None))

    assert (await ApprovalBroker(room, "page", emit).approve(request())).approved
    assert not room.has_open

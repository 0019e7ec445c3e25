"""Ops that are carried out at once, whatever runs in the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ...protocol import events, ops
from ...protocol.errors import AgentError
from ..answers.regenerate import choose
from ..changes import undo
from ..changes.rewind import go_back
from ..state import SessionState
from . import datasets
from .defaults import UNTITLED, titles_from_messages


async def handle_op(session: SessionState, op: ops.Op) -> None:
    """Carry out an op. Raises ``AgentError``."""
    await OP_HANDLERS[type(op)](session, op)


async def reset(session: SessionState) -> None:
    """Empty a session in which nothing runs."""
    # A user's title stays; one that was made from a deleted message does not.
    titles = await titles_from_messages(session.runtime.store, session.id)
    title = UNTITLED if session.record.title in titles else session.record.title
    await session.runtime.store.sessions.reset(
        session.id, title=title, events=[events.SessionReset()]
    )
    session.record.title = title
    session.clear()
    await session.runtime.forget(session.id)
    await session.emit_configured()


async def _decide(session: SessionState, op: ops.ApprovalDecision) -> None:
    if not session.waiting.decide(op.approval_id, (op.decision, op.feedback)):
        raise AgentError("not_found", "This approval is no longer pending.")


async def _answer(session: SessionState, op: ops.UserInputAnswer) -> None:
    if op.form is not None:
        problem = session.waiting.problem_of(op.request_id, op.form)
        if problem is not None:
            raise AgentError("invalid_request", problem)
        is_open = session.waiting.fill_in(op.request_id, op.form)
    else:
        is_open = session.waiting.reply(op.request_id, op.answer)
    if not is_open:
        raise AgentError("not_found", "This question is no longer pending.")


async def _configure(session: SessionState, op: ops.ConfigUpdate) -> None:
    store = session.runtime.store
    session.record = await store.sessions.update(session.id, settings=op.settings)
    await session.emit_configured()


OP_HANDLERS: dict[type, Callable[[SessionState, Any], Awaitable[None]]] = {
    ops.ApprovalDecision: _decide,
    ops.UserInputAnswer: _answer,
    ops.ConfigUpdate: _configure,
    ops.Undo: undo.take_back,
    ops.Keep: undo.keep,
    ops.GoBack: go_back,
    ops.ChooseAnswer: choose,
    ops.UploadRegistered: datasets.register,
}

"""Ops that are carried out at once, whatever runs in the session, beside its queue of messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..protocol import events, ops
from ..protocol.errors import AgentError
from ..tools.context import SeenCells
from . import datasets, undo
from .again import choose
from .going_back import go_back
from .history import History
from .remembering import UNTITLED, titles_from_messages

if TYPE_CHECKING:
    from .session import LiveSession


async def carry_out(session: LiveSession, op: ops.Op) -> None:
    """Do what the op asks for. Raises ``AgentError`` where it cannot be done."""
    await _WAYS[type(op)](session, op)


async def reset(session: LiveSession) -> None:
    """Forget what was said in a session that nothing runs in."""
    # What the person called it stays; words of a message that is forgotten do not.
    titles = await titles_from_messages(session.services.store, session.id)
    title = UNTITLED if session.record.title in titles else session.record.title

    async def write(written: Sequence[events.BaseEvent]) -> None:
        await session.services.store.reset_session(session.id, title=title, events=written)
        session.record.title = title
        session.history = History()
        session.created.clear()
        session.seen = SeenCells()
        session.session_tokens = 0
        session.session_cost = None
        session.waiting.approved_tools.clear()

    await session.channel.emit(write, events.SessionReset(), None)
    await session.services.forget(session.id)
    await session.configured()


async def _decide(session: LiveSession, op: ops.ApprovalDecision) -> None:
    if not session.waiting.decide(op.approval_id, (op.decision, op.feedback)):
        raise AgentError("not_found", "This approval is not open any more.")


async def _answer(session: LiveSession, op: ops.UserInputAnswer) -> None:
    if not session.waiting.reply(op.request_id, op.answer):
        raise AgentError("not_found", "This question is not open any more.")


async def _configure(session: LiveSession, op: ops.ConfigUpdate) -> None:
    store = session.services.store
    session.record = await store.update_session(session.id, settings=op.settings)
    await session.configured()


_WAYS: dict[type, Callable[[LiveSession, Any], Awaitable[None]]] = {
    ops.ApprovalDecision: _decide,
    ops.UserInputAnswer: _answer,
    ops.ConfigUpdate: _configure,
    ops.Undo: undo.take_back,
    ops.Keep: undo.keep,
    ops.GoBack: go_back,
    ops.ChooseAnswer: choose,
    ops.UploadRegistered: datasets.register,
}

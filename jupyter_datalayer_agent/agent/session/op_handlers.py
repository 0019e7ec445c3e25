"""What each op does to its session, except messages, which start or queue a turn, and a shutdown,
which ends the session: the actor handles those.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ...protocol import events, ops
from ...protocol.errors import AgentError
from ...protocol.requests import AGENT_PREFIX, Session, SessionSettings
from ...store.store import Store
from ..actions.proposals import run_request
from ..answers.answer import stop_answer
from ..answers.compare_turn import Answers, choose, prepare_regeneration, prepare_synthesis
from ..approvals import Answer, Reply
from ..changes import undo
from ..changes.rewind import go_back
from ..message import Message
from ..plan.turn import runs_step, steer
from ..request import TurnRequest
from ..state import SessionState
from . import datasets
from .current_task import CurrentTask
from .message_queue import MessageQueue

# What a session remembers of a message: a title, and the user's choices.


UNTITLED = "New session"
UNTITLED_BEFORE = "New chat"
"""The title of a session without messages in earlier versions."""
TITLE_CHARACTERS = 60


def title_from(text: str) -> str | None:
    """The title from the text of the first message, if any."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first[:TITLE_CHARACTERS] or None


async def titles_from_messages(store: Store, session_id: str) -> set[str]:
    """The titles that the messages of a session may have given it."""
    prompts = await store.withdrawals.prompts(session_id)
    titles = (title_from(AGENT_PREFIX.sub("", prompt.message)) for prompt in prompts)
    return {title for title in titles if title}


def changed_defaults(
    record: Session, request: TurnRequest
) -> tuple[str | None, SessionSettings | None]:
    """The title, from the first message; the mode, model and notebook, if they changed. None for
    what does not change.

    An option of ``%agent`` is only for its message: the user's choice in the panel stays.
    """
    title = title_from(request.text) if record.title in (UNTITLED, UNTITLED_BEFORE) else None
    chosen = {"notebook": request.gate.target}
    if request.location != "magic":
        chosen |= {"mode": request.chat.mode, "model": request.chat.model}
    new = {
        name: value
        for name, value in chosen.items()
        if value is not None and value != getattr(record.settings, name)
    }
    return title, SessionSettings.model_validate(new) if new else None


@dataclass(frozen=True)
class OpContext:
    """The session that an op is for: its data, what runs in it, and the waiting messages.

    ``queue_or_start`` takes a message whose turn is to run, ``start_next`` starts the next one if
    nothing runs, and ``compact_soon`` summarises once nothing runs.
    """

    state: SessionState
    current: CurrentTask
    messages: MessageQueue
    queue_or_start: Callable[[Message], Awaitable[None]]
    start_next: Callable[[], Awaitable[None]]
    compact_soon: Callable[[], Awaitable[None]]


Handler = Callable[[OpContext, str, Any], Awaitable[None]]
"""Takes the session, the op's id and the op."""


async def handle_op(session: OpContext, op_id: str, op: ops.Op) -> None:
    """Carry out an op. Raises ``AgentError``."""
    await OP_HANDLERS[type(op)](session, op_id, op)


# -- what runs ---------------------------------------------------------------------------------


async def _interrupt(session: OpContext, op_id: str, op: ops.Interrupt) -> None:
    if op.answer_id is not None:
        stop_answer(session.state, op.answer_id)
        return
    session.current.interrupt("interrupted")
    if op.hold:
        await session.messages.hold()


async def _dequeue(session: OpContext, op_id: str, op: ops.Dequeue) -> None:
    await session.messages.remove(op.op_id)


async def _send_now(session: OpContext, op_id: str, op: ops.SendNow) -> None:
    session.messages.put_first(op.op_id)
    session.current.interrupt("replaced")
    await session.start_next()


async def _steer(
    session: OpContext, op_id: str, op: ops.PlanDecision | ops.Pause | ops.Resume
) -> None:
    state = session.state
    request = await steer(state.runtime, state.id, session.current.turn, op)
    if request is not None:
        message = Message(op_id, ops.UserMessage(request=request), "page")
        message.starter = state.starters.latest
        await session.queue_or_start(message)


async def _run_action(session: OpContext, op_id: str, op: ops.RunAction) -> None:
    if runs_step(session.current.turn, op):
        return
    state = session.state
    request = await run_request(state.runtime, state.id, state.proposal, op.proposal_id)
    message = Message(op_id, ops.UserMessage(request=request), "page")
    message.parameters = op.parameters
    message.starter = state.starters.latest
    await session.queue_or_start(message)


async def _compact(session: OpContext, op_id: str, op: ops.Compact) -> None:
    await session.compact_soon()


async def _ask_again(session: OpContext, op_id: str, op: ops.AskAgain) -> None:
    _run_answers(session, await prepare_regeneration(session.state, op))


async def _synthesise(session: OpContext, op_id: str, op: ops.Synthesise) -> None:
    _run_answers(session, await prepare_synthesis(session.state, op))


def _run_answers(session: OpContext, answers: Answers) -> None:
    session.current.run_other(answers.run, "The answer could not be saved.")


async def _reset(session: OpContext, op_id: str, op: ops.Reset) -> None:
    """Empty the session once what runs in it has ended."""
    await session.current.stop("replaced")
    state = session.state
    # A title from the user stays; one from a deleted message does not.
    titles = await titles_from_messages(state.runtime.store, state.id)
    title = UNTITLED if state.record.title in titles else state.record.title
    await state.runtime.store.sessions.reset(state.id, title=title, events=[events.SessionReset()])
    state.record.title = title
    state.clear()
    await state.runtime.forget(state.id)
    await state.emit_configured()


# -- what needs the session's data only ----------------------------------------------------------


def _of_state(handle: Callable[[SessionState, Any], Awaitable[None]]) -> Handler:
    async def handle_state(session: OpContext, op_id: str, op: ops.Op) -> None:
        await handle(session.state, op)

    return handle_state


async def _decide(session: SessionState, op: ops.ApprovalDecision) -> None:
    decided: Answer = (op.decision, op.feedback)
    if op.unanswered is not None:
        decided = ("expired", op.unanswered)
    if not session.waiting.decide(op.approval_id, decided):
        raise AgentError("not_found", "This approval is no longer pending.")


async def _answer(session: SessionState, op: ops.UserInputAnswer) -> None:
    if op.form is not None:
        problem = session.waiting.problem_of(op.request_id, op.form)
        if problem is not None:
            raise AgentError("invalid_request", problem)
        is_open = session.waiting.fill_in(op.request_id, op.form)
    else:
        is_open = session.waiting.reply(op.request_id, Reply(op.answer, op.unanswered))
    if not is_open:
        raise AgentError("not_found", "This question is no longer pending.")


async def _configure(session: SessionState, op: ops.ConfigUpdate) -> None:
    store = session.runtime.store
    session.record = await store.sessions.update(session.id, settings=op.settings)
    await session.emit_configured()


OP_HANDLERS: dict[type, Handler] = {
    ops.Interrupt: _interrupt,
    ops.Dequeue: _dequeue,
    ops.SendNow: _send_now,
    ops.PlanDecision: _steer,
    ops.Pause: _steer,
    ops.Resume: _steer,
    ops.RunAction: _run_action,
    ops.Compact: _compact,
    ops.AskAgain: _ask_again,
    ops.Synthesise: _synthesise,
    ops.Reset: _reset,
    ops.ApprovalDecision: _of_state(_decide),
    ops.UserInputAnswer: _of_state(_answer),
    ops.ConfigUpdate: _of_state(_configure),
    ops.Undo: _of_state(undo.take_back),
    ops.Keep: _of_state(undo.keep),
    ops.GoBack: _of_state(go_back),
    ops.ChooseAnswer: _of_state(choose),
    ops.UploadRegistered: _of_state(datasets.register),
}

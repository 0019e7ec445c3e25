"""Creates the turn of a message, and restores one whose server ended."""

from __future__ import annotations

import re

from ...protocol.base import Audience, new_id
from ...protocol.errors import AgentError
from ...protocol.ops import UserMessage
from ...services.routing import command_in
from ...settings.turn_settings import Settings, for_turn
from ...store.records import WaitingTurn
from ..answers.compare_turn import compare_turn
from ..features.strategist_turn import strategist_turn
from ..intent import Detected, detect
from ..message import Message
from ..plan.turn import NothingToContinue, PlannedTurn, last_plan_is_done, stopped_plan
from ..request import TurnRequest, turn_request
from ..runtime import Runtime
from ..service_turn import ActionTurn, ServiceTurn
from ..state import SessionState
from ..turn.loop import Turn
from ..turn.record import Restored

ONE_STRATEGIST = "The Strategist answers with one model. Compare models in a chat."
CONTINUE = re.compile(r"(?:continue|go on|resume)(?: ?[.!])?", re.IGNORECASE)


async def create_turn(
    session: SessionState, request: TurnRequest, settings: Settings, message: Message
) -> Turn:
    """A turn of the kind that the message asks for."""
    if message.turn_maker is not None:
        return message.turn_maker(session, request, settings, message.op_id)
    compares = request.chat.compare is not None
    if session.record.kind == "strategist":
        if compares:
            raise AgentError("invalid_request", ONE_STRATEGIST)
        return strategist_turn(session, request, message)
    refines, session.proposal = session.proposal, None
    if request.chat.intent is not None or command_in(request.text) is not None:
        # The message says what it asks for, so it does not refine the proposal.
        refines = None
    if compares:
        return compare_turn(session, request, settings, message.audience, message.op_id)
    if request.chat.action is not None:
        return ActionTurn(session, request, settings, message, request.chat.action)
    stopped, done = None, False
    if CONTINUE.fullmatch(request.text.strip()):
        stopped = await stopped_plan(session.runtime, session.id)
        done = request.planned and await last_plan_is_done(session.runtime, session.id)
    if stopped is not None:
        request.work_on(stopped.plan.notebook)
        return PlannedTurn(
            session, request, settings, message.audience, message.op_id, resumed=stopped.plan
        )
    if done:
        return NothingToContinue(session, request, settings, message.audience, message.op_id)
    has_model = _has_model(session.runtime, settings)
    detected = _detect(session.runtime, request, settings, has_model=has_model)
    if detected is not None or (refines is not None and not (request.planned or has_model)):
        return ServiceTurn(session, request, settings, message, detected, refines)
    # Without a model, a message may still ask for what needs none.
    needs_none = request.location != "inline" and not has_model
    kind = PlannedTurn if request.planned or needs_none else Turn
    turn = kind(session, request, settings, message.audience, message.op_id)
    if refines is not None:
        turn.refine(refines)
    return turn


def _detect(
    runtime: Runtime, request: TurnRequest, settings: Settings, *, has_model: bool
) -> Detected | None:
    """What the message asks of a service; None for a planned message, unless the user chose a
    service for it. Without a button to click, only a command asks for one."""
    if request.planned and request.chat.intent is None:
        return None
    detection = settings.intent_detection
    if detection == "auto" and request.location not in ("panel", "inline"):
        detection = "commands"
    chosen = request.chat.intent
    return detect(runtime.router(), request.text, detection, chosen, has_model=has_model)


def _has_model(runtime: Runtime, settings: Settings) -> bool:
    try:
        runtime.resolve_model(settings)
    except AgentError as error:
        return error.code != "no_model"
    return True


async def resume_turn(session: SessionState, waiting: WaitingTurn) -> tuple[Turn, Message]:
    """A turn that waited for the user when its server ended, and its message.

    Raises ``AgentError`` if what it was about no longer exists.
    """
    runtime = session.runtime
    if waiting.request.called_by is not None:
        raise AgentError(
            "not_found", f"The call of {waiting.request.called_by} ended with the server."
        )
    request = await turn_request(runtime, waiting.request, session.record.settings, session.created)
    settings = for_turn(runtime.settings(), session.record.settings, waiting.request, request.mode)
    # The panel answers what a magic asks.
    in_page = request.location in ("panel", "inline", "magic")
    audience: Audience = "page" if in_page else "stream"
    stored = await runtime.store.turn_reader.get(waiting.turn_id)
    conversation = await runtime.store.compactions.conversation(session.id)
    sent = next(turn for turn in conversation.turns if turn.turn_id == stored.id)
    restored = Restored(stored, sent, waiting.wait)
    message = Message(waiting.op_id or new_id("op"), UserMessage(request=waiting.request), audience)
    if request.chat.compare is not None:
        turn = compare_turn(session, request, settings, audience, waiting.op_id, restored)
        return turn, message
    if waiting.plan is None and not request.planned:
        return Turn(session, request, settings, audience, waiting.op_id, restored), message
    planned = PlannedTurn(
        session, request, settings, audience, waiting.op_id, waiting.plan, restored
    )
    return planned, message

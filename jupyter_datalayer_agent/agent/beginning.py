"""Which kind of turn a message gets, and a turn that goes on after its server ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..protocol.base import new_id
from ..protocol.ops import UserMessage
from ..store.records import WaitingTurn
from .message_queue import Message
from .planned.steering import NothingToContinue, last_plan_is_done, stopped_plan
from .planned.turn import PlannedTurn
from .settings import Settings, for_turn
from .strategist_turn import strategist_turn
from .targets import Submission, submission
from .turn import Restored, Turn
from .waiting import Audience

if TYPE_CHECKING:
    from .session import LiveSession

CONTINUE = re.compile(r"^\s*(continue|go on|resume)\s*[.!]?\s*$", re.IGNORECASE)


async def turn_of(
    session: LiveSession, about: Submission, settings: Settings, message: Message
) -> Turn:
    """A turn of the kind that the message asks for."""
    if session.record.kind == "strategist":
        return strategist_turn(session, about, message)
    stopped, done = None, False
    if CONTINUE.match(about.text):
        stopped = await stopped_plan(session.services, session.id)
        done = about.planned and await last_plan_is_done(session.services, session.id)
    if stopped is not None:
        about.go_on_with(stopped.plan.notebook)
        return PlannedTurn(
            session, about, settings, message.audience, message.op_id, resumed=stopped.plan
        )
    if done:
        return NothingToContinue(session, about, settings, message.audience, message.op_id)
    kind = PlannedTurn if about.planned else Turn
    return kind(session, about, settings, message.audience, message.op_id)


async def turn_that_waited(session: LiveSession, waiting: WaitingTurn) -> tuple[Turn, Message]:
    """A turn that waited for the person when its server ended, with its message.

    Raises ``AgentError`` when what it was about is not there any more.
    """
    services = session.services
    about = await submission(services, waiting.request, session.record.settings, session.created)
    settings = for_turn(services.settings(), session.record.settings, waiting.request, about.mode)
    audience: Audience = "page" if about.location in ("panel", "inline") else "stream"
    restored = Restored(await services.store.get_turn(waiting.turn_id), waiting.wait)
    message = Message(waiting.op_id or new_id("op"), UserMessage(request=waiting.request), audience)
    if waiting.plan is None and not about.planned:
        return Turn(session, about, settings, audience, waiting.op_id, restored), message
    planned = PlannedTurn(session, about, settings, audience, waiting.op_id, waiting.plan, restored)
    return planned, message

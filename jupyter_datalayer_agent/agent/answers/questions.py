"""What each model is asked: the message as it was sent, with its context."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...models.types import ModelRequest
from ...protocol.errors import AgentError
from ...protocol.requests import ChatRequest
from ...settings.turn_settings import Settings, for_turn
from ..approvals.data_sharing import as_now
from ..history.history import Item
from ..model_calls.request import model_request
from ..request import TurnRequest
from ..state import SessionState
from .answer import Question
from .reading import reading_dispatcher

LOCKED = (
    "The administrator of this server chose the model, so several models cannot answer here. Send "
    "the message to the one that is set."
)


def check_unlocked(session: SessionState, request: TurnRequest) -> None:
    """Raises ``AgentError`` ``forbidden`` where no other model can be asked."""
    base = session.runtime.settings()
    by_mode = request.mode in base.mode_models and "mode_models" in base.locked
    if by_mode or "model" in base.locked:
        raise AgentError("forbidden", LOCKED, {"setting": "model"})


def settings_of(session: SessionState, request: TurnRequest, model: str | None) -> Settings:
    """The settings with which this model is asked. Raises ``AgentError`` ``forbidden``."""
    wanted = ChatRequest(message="", model=model, overrides=request.chat.overrides)
    return for_turn(session.runtime.settings(), session.record.settings, wanted, request.mode)


def settings_now(session: SessionState, settings: Settings) -> Callable[[], Settings]:
    """The settings, with what may be sent as it is set at the time of the call."""
    return lambda: as_now(settings, session.runtime.settings(), session.record.settings)


def reading_question(
    session: SessionState, turn_id: str, request: TurnRequest, model: str, items: Sequence[Item]
) -> Question:
    """Ask a model that may read; ``request`` has the gate for that."""
    settings = settings_of(session, request, model)
    dispatcher = reading_dispatcher(session, turn_id, request, settings_now(session, settings))
    return Question(
        model,
        lambda: session.runtime.resolve_model(settings),
        lambda name, sent: request_of(session, request, settings, name, sent),
        items,
        dispatcher,
        settings.max_tool_calls,
    )


def request_of(
    session: SessionState,
    request: TurnRequest,
    settings: Settings,
    model: str,
    items: Sequence[Item],
) -> ModelRequest:
    """The request with system prompt and tools as the gate has them."""
    now = settings_now(session, settings)()
    is_blind = model in session.history.blind
    return model_request(session.runtime, request, now, model, items, is_blind=is_blind)

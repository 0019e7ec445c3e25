"""The op ``compact``: older turns are summed up because the person asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..protocol import events
from ..protocol.errors import AgentError
from ..protocol.requests import ChatRequest, Usage
from .budget import add_usage, check_budget
from .compaction import Compactor
from .history import Cut
from .request import model_request
from .settings import for_turn
from .summary import Scribe
from .targets import submission

if TYPE_CHECKING:
    from ..models.types import Item, ModelRequest
    from .session import LiveSession

NOTHING = "There is nothing to summarise yet."
STOPPED = "The summary was stopped. The conversation is sent as before."


async def compact_now(session: LiveSession) -> None:
    """Sum up all but the newest turn. Cancelling it leaves the conversation as it is.

    Raises ``AgentError`` ``token_limit``, or where the database cannot be used.
    """
    history = session.history
    # A note after the newest turn is no turn of its own.
    newest = sum(turn.message is not None for turn in history.turns) > 1
    cut = history.cut(len(history.turns) - newest)
    if cut is None:
        await session.emit(events.Warning_(code="nothing_to_compact", message=NOTHING))
        return
    try:
        await _compact(session, cut)
    except asyncio.CancelledError:
        await session.emit(events.Warning_(code="compaction_stopped", message=STOPPED))
        raise


async def _compact(session: LiveSession, cut: Cut) -> None:
    services, history = session.services, session.history
    about = await submission(
        services, ChatRequest(message=""), session.record.settings, session.created
    )
    settings = for_turn(services.settings(), session.record.settings, about.request, about.mode)
    compactor = Compactor(services.store, session.id, session.channel, history)
    try:
        model = services.resolve_model(settings)
    except AgentError as error:
        if error.code != "no_model":
            raise
        window = history.gauge.window(settings, settings.model or "")
        await compactor.drop(cut, window, f"They could not be summarised: {error.message}")
        return

    def request(items: Sequence[Item]) -> ModelRequest:
        return model_request(services, about, settings, model, items)

    check_budget(settings.token_limit, session.session_tokens, cut.tokens)
    window = history.gauge.window(settings, model)
    scribe = Scribe(services.model, model, request, window)
    try:
        await compactor.summarise(cut, scribe)
    finally:
        for usage in scribe.spent:
            await _count(session, cut.through, usage, model)


async def _count(session: LiveSession, through: int, call: Usage, model: str) -> None:
    """The summary belongs to no turn; it counts for the newest one that it sums up."""
    usage = add_usage(Usage(), call, session.session_tokens, session.session_cost)
    session.session_tokens = usage.session_tokens
    session.session_cost = usage.session_cost
    told = events.TokenUsage(usage=usage, call=call)

    async def write(written: Sequence[events.BaseEvent]) -> None:
        compactions = await session.services.store.compactions()
        await compactions.count(session.id, through, call, model, events=written)

    await session.channel.emit(write, told, None)

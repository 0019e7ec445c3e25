"""The op ``compact``: older turns are summarised at the user's request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ...models.types import Item, ModelRequest
from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.requests import ChatRequest, Usage
from ...settings.turn_settings import for_turn
from ..budget import check_budget
from ..history.history import Cut
from ..model_calls.compaction import Compactor
from ..model_calls.request import model_request
from ..model_calls.summarizer import Summarizer
from ..request import turn_request
from ..state import SessionState
from ..stop import Stop

NOTHING = "Nothing to summarise yet."
STOPPED = "The summary was stopped. The conversation is sent as before."


async def compact_now(session: SessionState, stop: Stop) -> None:
    """Summarise all but the newest turn. Stopping it leaves the conversation as it is.

    Raises ``AgentError`` ``token_limit``, or where the database cannot be used.
    """
    history = session.history
    # A note after the newest turn is not a turn.
    newest = sum(turn.message is not None for turn in history.turns) > 1
    cut = history.cut(len(history.turns) - newest)
    if cut is None:
        await session.emit(events.Warning_(code="nothing_to_compact", message=NOTHING))
        return
    try:
        await stop.work(_compact(session, cut))
    except asyncio.CancelledError:
        await session.emit(events.Warning_(code="compaction_stopped", message=STOPPED))


async def _compact(session: SessionState, cut: Cut) -> None:
    runtime, history = session.runtime, session.history
    request = await turn_request(
        runtime, ChatRequest(message=""), session.record.settings, session.created
    )
    settings = for_turn(runtime.settings(), session.record.settings, request.chat, request.mode)
    compactor = Compactor(runtime.store, session.id, history)
    try:
        model = runtime.resolve_model(settings)
    except AgentError as error:
        if error.code != "no_model":
            raise
        window = history.calibration.window(settings, settings.model or "")
        await compactor.drop(cut, window, f"They could not be summarised: {error.message}")
        return

    def request_with(items: Sequence[Item]) -> ModelRequest:
        return model_request(runtime, request, settings, model, items)

    check_budget(settings.token_limit, session.tokens, cut.tokens)
    window = history.calibration.window(settings, model)
    summarizer = Summarizer(runtime.model, model, request_with, window)
    try:
        await compactor.summarise(cut, summarizer)
    finally:
        for usage in summarizer.spent:
            await _count(session, cut.through, usage, model)


async def _count(session: SessionState, through: int, call: Usage, model: str) -> None:
    """The summary belongs to no turn; its tokens count for the newest one that it covers."""
    usage = session.count(Usage(), call)
    event = events.TokenUsage(usage=usage, call=call)
    compactions = session.runtime.store.compactions
    await compactions.count(session.id, through, call, model, events=[event])

"""A preview of what a turn would send now, with its size, made by the same steps as a turn.

It imports, starts and writes nothing, and loads neither litellm nor an unloaded session.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...models.prices import context_window
from ...models.provider_arguments import sized_items
from ...models.tokens import IMAGE_TOKENS, estimate_tokens
from ...protocol.context import ContextReply, RequestPreview
from ...protocol.errors import AgentError
from ...protocol.pictures import pictures_in, without_pictures
from ...protocol.requests import ChatRequest, SessionSettings
from ...settings.turn_settings import Settings, for_turn
from ...tools.context import SeenCells
from ...tools.redaction import CallRef, Shown
from ..context.composition import Composition, estimate
from ..context.gather import gather
from ..data_sharing import UNTIL_APPROVED, UnaskedSharing, policies, sharing_now
from ..history import History, Item, effect_in, read_history
from ..model_calls.request import model_request
from ..request import TurnRequest, turn_request
from ..runtime import Runtime
from ..state import SessionState


async def preview(
    runtime: Runtime,
    chat: ChatRequest,
    session: SessionState | None,
    *,
    may_execute: bool = True,
) -> ContextReply:
    """The context of a turn on this chat request, and the sizes of everything sent with it.

    ``session`` is its session, if in memory. Raises ``AgentError`` as ``turn_request`` does,
    ``not_found`` for an unknown session, and ``forbidden`` if a variable is attached but nothing
    may run, since that would ask its kernel.
    """
    remembered, created, history = await _conversation(runtime, chat.session_id, session)
    request = await turn_request(runtime, chat, remembered, created)
    # Without a page, the message goes to `POST chat`, where no one can answer.
    request.gate.has_user = chat.client_id is not None
    if request.variables and not may_execute:
        raise AgentError("forbidden", "Not allowed to execute: a variable is attached.")
    settings = for_turn(runtime.settings(), remembered, chat, request.mode)
    seen = None if session is None else session.seen
    context = await _context(runtime, request, settings, history, chat.session_id, seen)
    model = _model(runtime, settings)
    items = history.items()
    with_blocks = session is not None and session.sends_blocks
    sent = model_request(runtime, request, settings, model or "", items, with_blocks=with_blocks)
    past = sized_items(sent)
    sizes = {
        "instructions_tokens": estimate_tokens(sent.instructions),
        "tools_tokens": estimate_tokens(list(sent.tools)) if sent.tools else 0,
        "history_tokens": _size(past) if past else 0,
        "context_tokens": context.tokens,
    }
    context.request = RequestPreview(
        mode=request.mode,
        model=model,
        instructions=sent.instructions,
        tools=[tool["name"] for tool in sent.tools],
        history_turns=len(history.turns),
        history_items=len(past),
        sharing=sharing_now(settings),
        **sizes,
        total_tokens=sum(sizes.values()),
        window=settings.context_window or (context_window(model) if model else None),
    )
    return context


async def _context(
    runtime: Runtime,
    request: TurnRequest,
    settings: Settings,
    history: History,
    session_id: str | None,
    seen: SeenCells | None,
) -> ContextReply:
    """What a turn on this request would send before its message."""
    gathered = await gather(runtime, request)
    newest = (await runtime.store.turn_reader.list_page(session_id, 1)).turns if session_id else []
    number = newest[-1].index + 2 if newest else 1
    known = history.known(effect_in(runtime.registry))
    composed = Composition(gathered.pieces, known, number, seen, policies(settings))
    sharing = UnaskedSharing(lambda: settings, ask=UNTIL_APPROVED)
    await composed.decide(sharing)
    call = CallRef("", "context", {}, "")
    refused = await sharing.refused(composed.private, call, lambda refused: Shown(""))
    return ContextReply(
        notebook=gathered.notebook,
        file=gathered.file,
        text=composed.text,
        tokens=estimate(composed.text),
        parts=composed.parts(refused),
        notebook_mode=gathered.notebook_mode,
        reason=gathered.reason,
    )


async def _conversation(
    runtime: Runtime, session_id: str | None, session: SessionState | None
) -> tuple[SessionSettings, list[str], History]:
    """The session's record, the documents that it created, and a copy of its history."""
    if session is not None:
        history = session.history.copy()
        if session.turn is not None:
            history.add(session.turn.items, context=session.turn.context)
        return session.record.settings, session.created, history
    if session_id is None:
        return SessionSettings(), [], History()
    record = await runtime.store.sessions.get(session_id)
    return (
        record.settings,
        await runtime.store.turn_reader.created_paths(session_id),
        await read_history(runtime.store, session_id),
    )


def _size(items: Sequence[Item]) -> int:
    """Tokens of all items, estimated; pictures as pictures."""
    pictures = sum(map(pictures_in, items))
    return estimate_tokens(list(map(without_pictures, items))) + IMAGE_TOKENS * pictures


def _model(runtime: Runtime, settings: Settings) -> str | None:
    try:
        return runtime.resolve_model(settings)
    except AgentError:
        return None

"""What a turn would send now, before there is one: the same steps as a turn's, and then its size.

Nothing is imported, started or written for it: neither litellm nor a session that rests.
"""

from __future__ import annotations

from ..models.arguments import input_items, route
from ..models.prices import context_window
from ..models.tokens import estimate_tokens
from ..protocol.context import ContextReply, RequestPreview
from ..protocol.errors import AgentError
from ..protocol.requests import ChatRequest, SessionSettings
from .context_block import gather
from .history import History, read_history, user_item
from .request import model_request
from .services import Services
from .session import LiveSession
from .settings import Settings, for_turn
from .sharing import PreviewSharing, policies, sharing_now
from .targets import submission


async def preview(
    services: Services, request: ChatRequest, session: LiveSession | None
) -> ContextReply:
    """The context of a turn on this request, and the sizes of all that would be sent with it.

    ``session`` is the request's session where it is in memory. Raises ``AgentError`` as
    ``submission`` does, and ``not_found`` for an unknown session.
    """
    remembered, created, history = await _conversation(services, request.session_id, session)
    about = await submission(services, request, remembered, created)
    settings = for_turn(services.settings(), remembered, request, about.mode)
    context = await gather(services, about, sharing=PreviewSharing(policies(settings)))
    model = _model(services, settings)
    items = [*history.items(), user_item(context.text)]
    sent = model_request(services, about, settings, model or "", items)
    *past, _ = input_items(sent.input, route(sent).responses)
    sizes = {
        "instructions_tokens": estimate_tokens(sent.instructions),
        "tools_tokens": estimate_tokens(list(sent.tools)) if sent.tools else 0,
        "history_tokens": estimate_tokens(past) if past else 0,
        "context_tokens": context.tokens,
    }
    context.request = RequestPreview(
        mode=about.mode,
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


async def _conversation(
    services: Services, session_id: str | None, session: LiveSession | None
) -> tuple[SessionSettings, list[str], History]:
    """What the session remembers, what it created, and a history that may be added to."""
    if session is not None:
        history = session.history.copy()
        if session.turn is not None:
            history.add(session.turn.items)
        return session.record.settings, session.created, history
    if session_id is None:
        return SessionSettings(), [], History()
    record = await services.store.get_session(session_id)
    return (
        record.settings,
        await services.store.created_paths(session_id),
        await read_history(services.store, session_id),
    )


def _model(services: Services, settings: Settings) -> str | None:
    try:
        return services.resolve_model(settings)
    except AgentError:
        return None

"""Code for both versions of the ``mcp`` package: a session that sends notifications."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ..rpc import Peer

Notify = Callable[[Any, str, dict[str, Any], Any], Awaitable[None]]
"""Sends a notification through a session of the SDK: its method, its parameters, and the id of the
request that it is about."""


def dump(model: Any) -> dict[str, Any]:
    """The JSON object of one of the SDK's models."""
    dumped: dict[str, Any] = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


class SessionNotifier:
    """A ``RunningSession``: the SDK's session, which is one for the whole connection."""

    def __init__(self, session: Any, notify: Notify) -> None:
        self._session = session
        self._notify = notify

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """See ``RunningSession.notify``."""
        await self._notify(self._session, method, params, None)


def peer_of(context: Any, notify: Notify, *, info: Any, progress_token: Any) -> Peer:
    """The program that made the request of this context; ``info`` is how it describes itself."""
    session = context.session

    async def notify_about(method: str, params: dict[str, Any], related: Any) -> None:
        await notify(session, method, params, related)

    async def elicit(message: str, schema: dict[str, Any], related: Any) -> dict[str, Any]:
        return dump(await session.elicit_form(message, schema, related))

    given = session.client_params
    return Peer(
        request_id=context.request_id,
        notify=notify_about,
        elicit=elicit,
        capabilities={} if given is None else dump(given.capabilities),
        info={} if info is None else dump(info),
        progress_token=progress_token,
    )

"""``GET sessions/{id}/events``: a session's events, resumable, then live."""

from __future__ import annotations

import time

from ...protocol.errors import AgentError
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route
from ..base.sse import stream_events
from ..kernel_access.tokens import TOKENS_KEY

CHECK_SECONDS = 1.0


class EventsHandler(Handler):
    """Server-sent events for programs; pages use the WebSocket."""

    _checked = 0.0

    @route("read")
    async def get(self, session_id: str) -> None:
        # Only the channel is held, so that the session can be unloaded meanwhile.
        channel = (await self.parts.sessions.live(session_id)).state.channel
        await stream_events(self, channel, self._after(), may_go_on=self._may_go_on)

    async def _may_go_on(self) -> bool:
        """Whether the reader may read on: a kernel only while its token counts."""
        now = time.monotonic()
        if self.kernel is None or now - self._checked < CHECK_SECONDS:
            return True
        self._checked = now
        return await self.settings[TOKENS_KEY].refusal(self.kernel) is None

    def _after(self) -> int:
        last = self.request.headers.get("Last-Event-ID")
        if last is None:
            return self.number("after", 0) or 0
        try:
            return int(last)
        except ValueError as error:
            raise AgentError("invalid_request", "Last-Event-ID must be a whole number.") from error


ROUTES = [
    Route(
        "sessions/{session_id}/events",
        EventsHandler,
        {
            "get": Operation(
                "Events after Last-Event-ID (or after), then live ones",
                query={"after": "only events with a greater seq"},
                content="text/event-stream",
            )
        },
    )
]

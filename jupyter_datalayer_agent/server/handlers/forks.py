"""``POST sessions/{id}/fork``: continue in a copy of the conversation from any of its turns."""

from __future__ import annotations

from ...agent.changes.fork import fork
from ...protocol.requests import Session
from ...protocol.sessions import ForkRequest
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class ForkHandler(Handler):
    """Forks a session."""

    @route("write")
    async def post(self, session_id: str) -> None:
        request = self.body(ForkRequest)
        # Loading it ends a turn that a crashed server left running.
        await self.parts.sessions.live(session_id)
        self.reply(await fork(self.parts.runtime, session_id, request.turn_id), 201)


ROUTES = [
    Route(
        "sessions/{session_id}/fork",
        ForkHandler,
        {
            "post": Operation(
                "A new session with the conversation up to a turn", ForkRequest, Session, status=201
            )
        },
    )
]

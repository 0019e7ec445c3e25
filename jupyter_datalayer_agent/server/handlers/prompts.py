"""``GET sessions/{id}/prompts``: every turn in short, so that a page can jump to any of them."""

from __future__ import annotations

from ...protocol.sessions import PromptsReply
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class PromptsHandler(Handler):
    """Loads no items and no events."""

    @route("read")
    async def get(self, session_id: str) -> PromptsReply:
        await self.parts.sessions.live(session_id)
        withdrawals = self.parts.runtime.store.withdrawals
        return PromptsReply(prompts=await withdrawals.prompts(session_id))


ROUTES = [
    Route(
        "sessions/{session_id}/prompts",
        PromptsHandler,
        {"get": Operation("All turns in short, oldest first", response=PromptsReply)},
    )
]

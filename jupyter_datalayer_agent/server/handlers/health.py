"""``GET health``: alive, for everybody."""

from __future__ import annotations

from jupyter_server.auth.decorator import allow_unauthenticated

from ...protocol.requests import Health
from ..base.handler import Handler
from ..base.route_table import Operation, Route


class HealthHandler(Handler):
    """Replies without authentication and without opening the database."""

    needs_plugins = False

    @allow_unauthenticated
    async def get(self) -> None:
        self.reply(Health(database=self.parts.runtime.store.health))


ROUTES = [
    Route(
        "health", HealthHandler, {"get": Operation("Alive", response=Health)}, authenticated=False
    )
]

"""``GET health``: alive, for everybody."""

from __future__ import annotations

from jupyter_server.auth.decorator import allow_unauthenticated

from ..protocol.requests import Health
from .base import Handler
from .route_table import Operation, Route


class HealthHandler(Handler):
    """Answers without authentication and touches nothing."""

    @allow_unauthenticated
    async def get(self) -> None:
        self.reply(Health())


ROUTES = [
    Route(
        "health", HealthHandler, {"get": Operation("Alive", response=Health)}, authenticated=False
    )
]

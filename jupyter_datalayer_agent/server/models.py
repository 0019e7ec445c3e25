"""``GET models``: models with their readiness, and the default."""

from __future__ import annotations

from ..protocol.requests import ModelsReply
from .base import Handler, route
from .route_table import Operation, Route


class ModelsHandler(Handler):
    """Looks at the settings and the environment; opens no connection."""

    @route("read")
    async def get(self) -> ModelsReply:
        return self.parts.models()


ROUTES = [
    Route("models", ModelsHandler, {"get": Operation("Models and readiness", response=ModelsReply)})
]

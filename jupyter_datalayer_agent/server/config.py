"""``GET config``: the server's effective settings and where each comes from."""

from __future__ import annotations

from ..protocol.requests import ConfigReply
from .base import Handler, route
from .route_table import Operation, Route


class ConfigHandler(Handler):
    """Never shows a secret."""

    @route("read")
    async def get(self) -> ConfigReply:
        return self.parts.config()


ROUTES = [
    Route("config", ConfigHandler, {"get": Operation("Effective settings", response=ConfigReply)})
]

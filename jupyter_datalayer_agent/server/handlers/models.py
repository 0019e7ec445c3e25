"""``GET models``: models with their readiness, and the default."""

from __future__ import annotations

from ...models.capabilities import described
from ...protocol.requests import ModelsReply
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class ModelsHandler(Handler):
    """Reads the settings and the environment; opens no connection."""

    @route("read")
    async def get(self) -> ModelsReply:
        reply = self.parts.models()
        asked = self.get_query_argument("model", "")
        if asked:
            info = await self.parts.connect.model(asked)
            reply.models = [info, *(each for each in reply.models if each.id != asked)]
        for each in reply.models:
            described(each)
        return reply


ROUTES = [
    Route(
        "models",
        ModelsHandler,
        {
            "get": Operation(
                "Models and readiness",
                response=ModelsReply,
                query={"model": "a name: it comes first, with whether it could be called"},
            )
        },
    )
]

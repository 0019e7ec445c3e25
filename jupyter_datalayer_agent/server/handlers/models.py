"""``GET models``: models with their readiness, and the default."""

from __future__ import annotations

from ...models.capabilities import described
from ...models.prices import ASSUMED_WINDOW
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
        settings = self.parts.runtime.settings()
        is_locked = "reasoning_effort" in settings.locked
        for each in reply.models:
            described(each, settings.context_window or ASSUMED_WINDOW)
            if is_locked:
                # Those that can be chosen.
                each.reasoning_efforts = None
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

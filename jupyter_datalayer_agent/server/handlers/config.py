"""``GET config``: the effective settings and their sources; ``PATCH``: the user's."""

from __future__ import annotations

from ...protocol.requests import ConfigPatch, ConfigReply
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class ConfigHandler(Handler):
    """Never shows a secret."""

    @route("read")
    async def get(self) -> ConfigReply:
        session_id = self.get_query_argument("sessionId", "")
        if not session_id:
            return self.parts.config.reply()
        record = await self.parts.runtime.store.sessions.get(session_id)
        return self.parts.config.reply(record.settings)

    @route("write")
    async def patch(self) -> ConfigReply:
        values = self.body(ConfigPatch).values
        if self.parts.config.loosened(values):
            self.asker.require_page()
        return self.parts.config.change(values)


ROUTES = [
    Route(
        "config",
        ConfigHandler,
        {
            "get": Operation(
                "Effective settings and their sources",
                response=ConfigReply,
                query={"sessionId": "the effective values in this session"},
            ),
            "patch": Operation("Change the user's settings", ConfigPatch, ConfigReply),
        },
    )
]

"""``connections``: models that users connect in the panel. A key comes in and never goes out."""

from __future__ import annotations

from urllib.parse import unquote

from ...protocol.connections import (
    ConnectionsReply,
    ConnectionTestReply,
    ConnectionTestRequest,
    ConnectRequest,
    LookReply,
    LookRequest,
)
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class ConnectionsHandler(Handler):
    """What is connected and what can be; connecting."""

    @route("read")
    async def get(self) -> ConnectionsReply:
        return await self.parts.connect.reply()

    @route("write", decides=True)
    async def post(self) -> ConnectionsReply:
        return await self.parts.connect.connect(self.body(ConnectRequest))


class ConnectionHandler(Handler):
    """One connection."""

    @route("write")
    async def delete(self, connection_id: str) -> ConnectionsReply:
        return await self.parts.connect.forget(unquote(connection_id))


class LookHandler(Handler):
    """Looks for model servers on this computer."""

    @route("execute")
    async def post(self) -> LookReply:
        return await self.parts.connect.look(self.body(LookRequest).again)


class TestHandler(Handler):
    """Tries a key, an address or a model; saves nothing."""

    @route("execute")
    async def post(self) -> ConnectionTestReply:
        return await self.parts.connect.test(self.body(ConnectionTestRequest))


ROUTES = [
    Route(
        "connections",
        ConnectionsHandler,
        {
            "get": Operation(
                "Connected models, and where their keys are kept", response=ConnectionsReply
            ),
            "post": Operation("Connect a model", ConnectRequest, ConnectionsReply),
        },
    ),
    Route(
        "connections/look",
        LookHandler,
        {"post": Operation("Look for model servers on this computer", LookRequest, LookReply)},
    ),
    Route(
        "connections/test",
        TestHandler,
        {
            "post": Operation(
                "Try a key, an address or a model", ConnectionTestRequest, ConnectionTestReply
            )
        },
    ),
    Route(
        "connections/{connection_id}",
        ConnectionHandler,
        {"delete": Operation("Forget a connection and its key", response=ConnectionsReply)},
    ),
]

"""``GET health`` and ``GET descriptor``."""

from __future__ import annotations

from jupyter_server.auth.decorator import allow_unauthenticated

from ...protocol.descriptor import AgentDescriptor
from ...protocol.requests import Health
from ..base.handler import Handler, Operation, Route, route
from ..sdk import descriptor

# ``GET descriptor``: the agent, for programs that list or call agents.


class DescriptorHandler(Handler):
    """Replies without calling a model."""

    @route("read")
    async def get(self) -> AgentDescriptor:
        return descriptor(self.parts, self.base_url)


DESCRIPTOR_ROUTES = [
    Route(
        "descriptor",
        DescriptorHandler,
        {"get": Operation("The agent, for programs that list agents", response=AgentDescriptor)},
    )
]


class HealthHandler(Handler):
    """Replies without authentication and without opening the database."""

    needs_plugins = False

    @allow_unauthenticated
    async def get(self) -> None:
        self.reply(Health(database=self.parts.store.health))


ROUTES = [
    Route(
        "health",
        HealthHandler,
        {"get": Operation("Whether the server runs", response=Health)},
        authenticated=False,
    )
]

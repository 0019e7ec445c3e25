"""``GET descriptor``: the agent, for programs that list or call agents."""

from __future__ import annotations

from ...protocol.descriptor import AgentDescriptor
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route
from ..sdk.descriptor import descriptor


class DescriptorHandler(Handler):
    """Reads what is there; calls no model."""

    @route("read")
    async def get(self) -> AgentDescriptor:
        return descriptor(self.parts, self.base_url)


ROUTES = [
    Route(
        "descriptor",
        DescriptorHandler,
        {"get": Operation("The agent, for programs that list agents", response=AgentDescriptor)},
    )
]

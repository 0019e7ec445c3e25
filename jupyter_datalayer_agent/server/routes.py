"""All routes, in one explicit list."""

from __future__ import annotations

from functools import cache
from typing import Any

from jupyter_server.utils import url_path_join

from .base.handler import Handler, NotFoundHandler, route
from .base.openapi import openapi_document
from .base.route_table import Operation, Route
from .handlers import (
    chat,
    config,
    connections,
    context,
    datasets,
    descriptor,
    events,
    exports,
    forks,
    health,
    instructions,
    kernel_requests,
    mcp_servers,
    mcp_sign_in,
    models,
    next_cell,
    ops,
    prompts,
    scratchpad,
    search,
    services,
    sessions,
    strategist,
    tools,
    tutorials,
    upload,
    usage,
    variables,
    workflows,
)
from .mcp import handler as mcp
from .page.socket import PageSocket


class OpenapiHandler(Handler):
    """Serves the description of all routes."""

    @route("read")
    async def get(self) -> dict[str, Any]:
        return document()


ROUTES = [
    *health.ROUTES,
    *kernel_requests.ROUTES,
    *descriptor.ROUTES,
    *chat.ROUTES,
    *sessions.ROUTES,
    *forks.ROUTES,
    *prompts.ROUTES,
    *exports.ROUTES,
    *events.ROUTES,
    *ops.ROUTES,
    *context.ROUTES,
    *tools.ROUTES,
    *workflows.ROUTES,
    *services.ROUTES,
    *models.ROUTES,
    *connections.ROUTES,
    *instructions.ROUTES,
    *mcp_servers.ROUTES,
    *mcp_sign_in.ROUTES,
    *config.ROUTES,
    *usage.ROUTES,
    *tutorials.ROUTES,
    *scratchpad.ROUTES,
    *upload.ROUTES,
    *datasets.ROUTES,
    *search.ROUTES,
    *strategist.ROUTES,
    *variables.ROUTES,
    *next_cell.ROUTES,
    *mcp.ROUTES,
    Route("openapi.json", OpenapiHandler, {"get": Operation("This description")}),
]


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of all routes."""
    return openapi_document(ROUTES)


def handlers(base_url: str) -> list[tuple[str, type[Any]]]:
    """What tornado is given: patterns under the server's base URL, with their handlers."""
    base = url_path_join(base_url, "datalayer-agent/")
    table = [(each.pattern(base), each.handler) for each in ROUTES]
    return [*table, (f"{base}page$", PageSocket), (f"{base}.*", NotFoundHandler)]

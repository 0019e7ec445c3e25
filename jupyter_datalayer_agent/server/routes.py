"""All routes, in one explicit list."""

from __future__ import annotations

from functools import cache
from typing import Any

from jupyter_server.utils import url_path_join

from .base.handler import Handler, NotFoundHandler, Operation, Route, route
from .base.openapi import openapi_document
from .handlers import (
    chat,
    datasets,
    health,
    kernel_requests,
    mcp_servers,
    services,
    sessions,
    settings,
    tools,
)
from .mcp import handler as mcp
from .page import PageSocket


class OpenapiHandler(Handler):
    """Serves the description of all routes."""

    @route("read")
    async def get(self) -> dict[str, Any]:
        return document()


ROUTES = [
    *health.ROUTES,
    *kernel_requests.ROUTES,
    *health.DESCRIPTOR_ROUTES,
    *chat.ROUTES,
    *sessions.ROUTES,
    *sessions.FORKS_ROUTES,
    *sessions.PROMPTS_ROUTES,
    *sessions.EXPORTS_ROUTES,
    *sessions.EVENTS_ROUTES,
    *sessions.OPS_ROUTES,
    *chat.CONTEXT_ROUTES,
    *tools.ROUTES,
    *services.WORKFLOWS_ROUTES,
    *services.ROUTES,
    *settings.MODELS_ROUTES,
    *settings.CONNECTIONS_ROUTES,
    *settings.INSTRUCTIONS_ROUTES,
    *mcp_servers.ROUTES,
    *mcp_servers.MCP_SIGN_IN_ROUTES,
    *settings.ROUTES,
    *settings.USAGE_ROUTES,
    *services.TUTORIALS_ROUTES,
    *chat.SCRATCHPAD_ROUTES,
    *datasets.UPLOAD_ROUTES,
    *datasets.ROUTES,
    *sessions.SEARCH_ROUTES,
    *chat.STRATEGIST_ROUTES,
    *tools.VARIABLES_ROUTES,
    *chat.NEXT_CELL_ROUTES,
    *mcp.ROUTES,
    Route("openapi.json", OpenapiHandler, {"get": Operation("This description")}),
]


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of all routes."""
    return openapi_document(ROUTES)


def handlers(base_url: str) -> list[tuple[str, type[Any]]]:
    """The handlers for tornado, with their patterns under the server's base URL."""
    base = url_path_join(base_url, "datalayer-agent/")
    table = [(each.pattern(base), each.handler) for each in ROUTES]
    return [*table, (f"{base}page$", PageSocket), (f"{base}.*", NotFoundHandler)]

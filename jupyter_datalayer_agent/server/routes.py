"""All routes, in one explicit list."""

from __future__ import annotations

from typing import Any

from jupyter_server.utils import url_path_join

from . import (
    chat,
    config,
    context,
    datasets,
    events,
    exports,
    forks,
    health,
    models,
    next_cell,
    openapi,
    ops,
    prompts,
    scratchpad,
    search,
    sessions,
    strategist,
    tools,
    tutorials,
    upload,
    usage,
    variables,
    workflows,
)
from .base import NotFoundHandler
from .page import PageSocket

ROUTES = [
    *health.ROUTES,
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
    *models.ROUTES,
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
    *openapi.ROUTES,
]


def handlers(base_url: str) -> list[tuple[str, type[Any]]]:
    """What tornado is given: patterns under the server's base URL, with their handlers."""
    base = url_path_join(base_url, "datalayer-agent/")
    table = [(each.pattern(base), each.handler) for each in ROUTES]
    return [*table, (f"{base}page$", PageSocket), (f"{base}.*", NotFoundHandler)]

"""``openapi.json``: every route, and every model of the protocol, from the models themselves.

``python -m jupyter_datalayer_agent.server.openapi`` prints it; ``make check`` compares it with the
file in the repository.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from .. import __version__
from ..protocol.base import Wire
from ..protocol.errors import ErrorReply
from ..protocol.events import EVENT_ADAPTER
from ..protocol.ops import OP_ADAPTER
from ..protocol.page import (
    CLIENT_MESSAGE_ADAPTER,
    SERVER_MESSAGE_ADAPTER,
    DocumentReadParams,
    DocumentText,
    EditParams,
    InterruptParams,
    KernelParams,
    OpenParams,
    PageNotebook,
    ReadParams,
    RevealParams,
    RunParams,
    RunResult,
)
from .base import Handler, route
from .route_table import PARAMETER, Operation, Route

REFERENCE = "#/components/schemas/{model}"
UNIONS: dict[str, TypeAdapter[Any]] = {
    "Op": OP_ADAPTER,
    "Event": EVENT_ADAPTER,
    "ClientMessage": CLIENT_MESSAGE_ADAPTER,
    "ServerMessage": SERVER_MESSAGE_ADAPTER,
}
PAGE_MODELS: list[type[Wire]] = [
    ReadParams, EditParams, RunParams, RunResult, InterruptParams, OpenParams, KernelParams,
    RevealParams, DocumentReadParams, DocumentText, PageNotebook,
]  # fmt: skip


class OpenapiHandler(Handler):
    """Serves the description of all routes."""

    @route("read")
    async def get(self) -> dict[str, Any]:
        return document()


ROUTES = [Route("openapi.json", OpenapiHandler, {"get": Operation("This description")})]


@cache
def document() -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    from .routes import ROUTES as all_routes

    models: list[type[Wire]] = [ErrorReply, *PAGE_MODELS]
    for each in all_routes:
        for operation in each.operations.values():
            models += [model for model in (operation.request, operation.response) if model]
    unique = list(dict.fromkeys(models))
    _, schema = models_json_schema(
        [(model, "validation") for model in unique], by_alias=True, ref_template=REFERENCE
    )
    components: dict[str, Any] = dict(schema.get("$defs", {}))
    for name, adapter in UNIONS.items():
        union = adapter.json_schema(by_alias=True, ref_template=REFERENCE)
        components.update(union.pop("$defs", {}))
        components[name] = union
    return {
        "openapi": "3.1.0",
        "info": {"title": "Jupyter Datalayer Agent", "version": __version__},
        "servers": [{"url": "/datalayer-agent"}],
        "paths": {
            f"/{each.path}": {
                method: _operation(each, operation) for method, operation in each.operations.items()
            }
            for each in all_routes
        },
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "Authorization"}
            },
        },
    }


def _operation(entry: Route, operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {"summary": operation.summary}
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in PARAMETER.findall(entry.path)
    ] + [
        {"name": name, "in": "query", "description": what, "schema": {"type": "string"}}
        for name, what in operation.query.items()
    ]
    if parameters:
        described["parameters"] = parameters
    request: dict[str, Any] | None = None
    if operation.request is not None:
        request = _reference(operation.request.__name__)
    elif entry.path.endswith("/ops"):
        request = _reference("Op")
    if request is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": request}},
        }
    answer: dict[str, Any] = {"description": "Done"}
    if operation.response is not None:
        answer["content"] = {operation.content: {"schema": _reference(operation.response.__name__)}}
    elif operation.content == "text/event-stream":
        answer["content"] = {operation.content: {"schema": _reference("Event")}}
    described["responses"] = {
        str(operation.status): answer,
        "default": {
            "description": "What went wrong",
            "content": {"application/json": {"schema": _reference("ErrorReply")}},
        },
    }
    described["security"] = [{"token": []}] if entry.authenticated else []
    return described


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": REFERENCE.format(model=name)}


if __name__ == "__main__":
    print(json.dumps(document(), indent=2, ensure_ascii=False))

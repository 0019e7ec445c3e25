"""The OpenAPI document of all routes and all models of the protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from ..._version import __version__
from ...protocol.base import Wire
from ...protocol.cells import PageNotebook
from ...protocol.datasets import UploadProgress
from ...protocol.errors import ErrorReply
from ...protocol.events import EVENT_ADAPTER
from ...protocol.ops import OP_ADAPTER
from ...protocol.page import (
    CLIENT_MESSAGE_ADAPTER,
    SERVER_MESSAGE_ADAPTER,
    AllowParams,
    DeleteDocumentParams,
    DocumentReadParams,
    DocumentText,
    EditParams,
    ExecuteCommandParams,
    InterruptParams,
    KernelParams,
    OpenParams,
    ReadParams,
    RevealParams,
    RunParams,
    RunResult,
    WriteTextParams,
)
from .handler import PARAMETER, Operation, Route

ACTION = "x-jupyter-action"
"""The extension for the authorizer's action (read, write, execute) that an operation needs."""
REFERENCE = "#/components/schemas/{model}"
Described = tuple[str, Literal["validation", "serialization"], TypeAdapter[Any]]

# Apart, because a field with a default is optional in requests and required in responses.
TAKEN_UNIONS: dict[str, TypeAdapter[Any]] = {
    "Op": OP_ADAPTER,
    "ClientMessage": CLIENT_MESSAGE_ADAPTER,
}
GIVEN_UNIONS: dict[str, TypeAdapter[Any]] = {
    "Event": EVENT_ADAPTER,
    "ServerMessage": SERVER_MESSAGE_ADAPTER,
}
PAGE_PARAMS: list[type[Wire]] = [
    ReadParams, EditParams, RunParams, AllowParams, InterruptParams, OpenParams, KernelParams,
    RevealParams, DocumentReadParams, WriteTextParams, DeleteDocumentParams, ExecuteCommandParams,
]  # fmt: skip
PAGE_RESULTS: list[type[Wire]] = [PageNotebook, RunResult, DocumentText]


class WireSchema(GenerateJsonSchema):
    """Schemas in which responses have every field, except those whose value is None."""

    def field_is_required(self, field: Any, *args: Any, **kwargs: Any) -> bool:
        """Required in responses unless its default is None, in requests unless it has a default."""
        if self.mode == "serialization":
            inner = field.get("schema", {})
            return inner.get("type") != "default" or inner.get("default", ...) is not None
        return super().field_is_required(field, *args, **kwargs)


def openapi_document(routes: Sequence[Route]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of these routes."""
    operations = [each for entry in routes for each in entry.operations.values()]
    taken = [each.request for each in operations if each.request]
    given: list[type[Wire]] = [
        ErrorReply,
        UploadProgress,
        *(each.response for each in operations if each.response),
    ]
    inputs: list[Described] = [
        *((name, "validation", TypeAdapter(model)) for name, model in _named(taken)),
        *((name, "validation", adapter) for name, adapter in TAKEN_UNIONS.items()),
        *((model.__name__, "validation", TypeAdapter(model)) for model in PAGE_RESULTS),
        *((name, "serialization", adapter) for name, adapter in GIVEN_UNIONS.items()),
        *((name, "serialization", TypeAdapter(model)) for name, model in _named(given)),
        *((model.__name__, "serialization", TypeAdapter(model)) for model in PAGE_PARAMS),
    ]
    references, schema = TypeAdapter.json_schemas(
        inputs, by_alias=True, ref_template=REFERENCE, schema_generator=WireSchema
    )
    components: dict[str, Any] = dict(schema.get("$defs", {}))
    components |= {name: references[name, "validation"] for name in TAKEN_UNIONS}
    components |= {name: references[name, "serialization"] for name in GIVEN_UNIONS}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Jupyter Datalayer Agent", "version": __version__},
        "servers": [{"url": "/datalayer-agent"}],
        "paths": {
            f"/{each.path}": {
                method: _operation(each, method, operation)
                for method, operation in each.operations.items()
            }
            for each in routes
        },
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "Authorization"}
            },
        },
    }


def _named(models: list[type[Wire]]) -> list[tuple[str, type[Wire]]]:
    return [(model.__name__, model) for model in dict.fromkeys(models)]


def _operation(entry: Route, method: str, operation: Operation) -> dict[str, Any]:
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
            "content": {operation.takes: {"schema": request}},
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
    action = getattr(getattr(entry.handler, method), "action", None)
    if action is not None:
        described[ACTION] = action
    described["security"] = [{"token": []}] if entry.authenticated else []
    return described


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": REFERENCE.format(model=name)}

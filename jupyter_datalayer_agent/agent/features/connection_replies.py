"""What the page is sent of connections; never a key."""

from __future__ import annotations

from collections.abc import Mapping

from ...models.catalogue import Provider
from ...models.connections.connection import SERVER_LABELS, ModelConnection
from ...models.connections.detection import DetectedServer
from ...models.connections.provider_forms import Field
from ...models.connections.registry import OLLAMA_CONTEXT, Connections
from ...models.prices import ASSUMED_WINDOW
from ...protocol.connections import (
    ConnectableField,
    ConnectableModel,
    ConnectableProvider,
    ConnectableSignIn,
    ConnectionInfo,
    FoundModel,
    FoundServer,
    KeySource,
)


def provider_info(
    provider: Provider, connection: ModelConnection | None, connections: Connections
) -> ConnectableProvider:
    """A provider that can be connected, with where its key comes from."""
    plain = ModelConnection(provider.prefix, provider.label)
    variable = connections.variable_set(plain)
    source: KeySource | None = "environment" if variable else None
    if connection is not None and connections.has_secrets(connection):
        source = connection.key_in
    known = [(f"{provider.prefix}/{each.name}", each.label) for each in provider.models]
    info = ConnectableProvider(
        id=provider.prefix,
        label=provider.label,
        key_source=source,
        variable=variable,
        models=[ConnectableModel(id=name, label=label) for name, label in known],
    )
    form = plain.form
    if form is None:
        return info
    saved = {} if connection is None else {**connection.values}
    if connection is not None and connection.api_base:
        saved["api_base"] = connection.api_base
    info.fields = [_field(each, saved) for each in form.fields]
    info.sign_ins = [
        ConnectableSignIn(
            id=each.id, label=each.label, fields=[_field(one, saved) for one in each.fields]
        )
        for each in form.sign_ins
    ]
    info.sign_in = None if connection is None else connection.sign_in
    info.model_label, info.model_example = form.model_label, form.model_example
    return info


def _field(field: Field, saved: Mapping[str, str]) -> ConnectableField:
    return ConnectableField(
        name=field.name,
        label=field.label,
        is_secret=field.is_secret,
        is_required=field.is_required,
        example=field.example,
        value=None if field.is_secret else saved.get(field.name),
    )


def connection_info(
    connection: ModelConnection, default: str | None, connections: Connections
) -> ConnectionInfo:
    """A connection for the page."""
    shown = connection.certificate
    return ConnectionInfo(
        id=connection.id,
        label=connection.label,
        address=connection.api_base,
        key_source=connection.key_in,
        needs_key=connections.needs_key(connection),
        headers=list(connection.headers),
        certificate=None if shown is None else shown.certificate,
        certificate_key=None if shown is None else shown.key,
        models=[f"{connection.id}/{each.name}" for each in connection.models],
        is_default=default is not None and connection.has(default),
    )


def assumed_window(server: DetectedServer) -> int:
    """The window to count with where the server does not say it; Ollama is asked for so much."""
    return OLLAMA_CONTEXT if server.kind == "ollama" else ASSUMED_WINDOW


def found_server(server: DetectedServer) -> FoundServer:
    """A server with its models, for the page."""
    return FoundServer(
        label=SERVER_LABELS[server.kind],
        address=server.api_base,
        needs_key=server.needs_key,
        models=[
            FoundModel(
                name=each.name,
                size=each.size,
                parameters=each.parameters,
                context_window=each.context_window,
                assumed_context_window=None if each.context_window else assumed_window(server),
                vision=each.vision,
                tools=each.tools,
            )
            for each in server.models
        ],
    )


def found_message(models: int) -> str:
    """How many models a server has."""
    if models == 0:
        return "Connected, but the server has no model yet."
    return f"Connected: {models} {'model' if models == 1 else 'models'} found."

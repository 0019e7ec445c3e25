"""What the page is sent of connections; never a key."""

from __future__ import annotations

from ...models.catalogue import Provider
from ...models.connections.connection import SERVER_LABELS, ModelConnection
from ...models.connections.detection import DetectedServer
from ...models.connections.registry import OLLAMA_CONTEXT, Connections
from ...models.prices import ASSUMED_WINDOW
from ...protocol.connections import (
    ConnectableModel,
    ConnectableProvider,
    ConnectionInfo,
    FoundModel,
    FoundServer,
    KeySource,
)


def provider_info(
    provider: Provider, connection: ModelConnection | None, connections: Connections
) -> ConnectableProvider:
    """A provider that takes a key, with where its key comes from."""
    plain = ModelConnection(provider.prefix, provider.label)
    variable = connections.variable_set(plain)
    source: KeySource | None = "environment" if variable else None
    if connection is not None and connection.key_in is not None:
        source = connection.key_in
    return ConnectableProvider(
        id=provider.prefix,
        label=provider.label,
        key_source=source,
        variable=variable,
        models=[
            ConnectableModel(id=f"{provider.prefix}/{each.name}", label=each.label)
            for each in provider.models
        ],
    )


def connection_info(connection: ModelConnection, default: str | None) -> ConnectionInfo:
    """A connection for the page."""
    return ConnectionInfo(
        id=connection.id,
        label=connection.label,
        address=connection.api_base,
        key_source=connection.key_in,
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
        return "The server answered, but has no model yet."
    return f"The server answered: {models} {'model' if models == 1 else 'models'}."

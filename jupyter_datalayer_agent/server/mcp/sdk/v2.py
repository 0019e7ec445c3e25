"""The ``mcp`` package, version 2."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from ..rpc import Method, Peer, RpcError
from .adapter import Identity, Outgoing, RunningSession
from .session import SessionNotifier, dump, peer_of

PARAMS = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "resources/subscribe": types.SubscribeRequestParams,
    "resources/unsubscribe": types.UnsubscribeRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "completion/complete": types.CompleteRequestParams,
    "logging/setLevel": types.SetLevelRequestParams,
}


async def _notify(session: Any, method: str, params: dict[str, Any], related: Any) -> None:
    notification = types.server_notification_adapter.validate_python(
        {"method": method, "params": params}
    )
    await session.send_notification(notification, related)


def _peer(context: Any) -> Peer:
    given = context.session.client_params
    meta = context.meta or {}
    return peer_of(
        context,
        _notify,
        info=None if given is None else given.client_info,
        progress_token=meta.get("progress_token", meta.get("progressToken")),
    )


class V2:
    """See ``Adapter``. The protocol's versions without a handshake are not offered."""

    versions = HANDSHAKE_PROTOCOL_VERSIONS

    def parse(self, data: Any, on_unanswered: Callable[[], Awaitable[None]] | None) -> Any:
        """See ``Adapter.parse``."""
        message = types.jsonrpc_message_adapter.validate_python(data, by_name=False)
        return SessionMessage(message, ServerMessageMetadata(on_request_unanswered=on_unanswered))

    def outgoing(self, message: Any) -> Outgoing:
        """See ``Adapter.outgoing``."""
        sent, metadata = message.message, message.metadata
        text = sent.model_dump_json(by_alias=True, exclude_unset=True)
        if isinstance(sent, types.JSONRPCResponse | types.JSONRPCError):
            return Outgoing(text, sent.id, True)
        related = getattr(metadata, "related_request_id", None)
        return Outgoing(text, related, False)

    async def serve(
        self,
        identity: Identity,
        methods: Mapping[str, Method],
        read: Any,
        write: Any,
        started: Callable[[RunningSession], None],
    ) -> None:
        """See ``Adapter.serve``."""
        server: Any = Server(
            identity.name,
            version=identity.version,
            title=identity.title,
            instructions=identity.instructions,
        )
        for name, method in methods.items():
            server.add_request_handler(name, PARAMS[name], _handler(method))

        async def initialized(context: Any, params: Any) -> None:
            started(SessionNotifier(context.session, _notify))

        server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, initialized
        )
        options = server.create_initialization_options(
            NotificationOptions(resources_changed=True, tools_changed=True)
        )
        await server.run(read, write, options)


def _handler(method: Method) -> Any:
    async def handle(context: Any, params: Any) -> dict[str, Any]:
        try:
            return await method(_peer(context), dump(params))
        except RpcError as error:
            raise MCPError(code=error.code, message=error.message, data=error.data) from error

    return handle


ADAPTER = V2()

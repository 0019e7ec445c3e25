"""The ``mcp`` package, version 1."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import McpError
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS

from ..rpc import Method, Peer, RpcError
from .adapter import Identity, Outgoing, RunningSession
from .session import SessionNotifier, dump, peer_of

REQUESTS: dict[str, tuple[Any, Any]] = {
    "tools/list": (types.ListToolsRequest, types.ListToolsResult),
    "tools/call": (types.CallToolRequest, types.CallToolResult),
    "resources/list": (types.ListResourcesRequest, types.ListResourcesResult),
    "resources/templates/list": (
        types.ListResourceTemplatesRequest,
        types.ListResourceTemplatesResult,
    ),
    "resources/read": (types.ReadResourceRequest, types.ReadResourceResult),
    "resources/subscribe": (types.SubscribeRequest, types.EmptyResult),
    "resources/unsubscribe": (types.UnsubscribeRequest, types.EmptyResult),
    "prompts/list": (types.ListPromptsRequest, types.ListPromptsResult),
    "prompts/get": (types.GetPromptRequest, types.GetPromptResult),
    "completion/complete": (types.CompleteRequest, types.CompleteResult),
    "logging/setLevel": (types.SetLevelRequest, types.EmptyResult),
}


async def _notify(session: Any, method: str, params: dict[str, Any], related: Any) -> None:
    notification = types.ServerNotification.model_validate({"method": method, "params": params})
    await session.send_notification(notification, related)


def _peer(context: Any) -> Peer:
    given = context.session.client_params
    return peer_of(
        context,
        _notify,
        info=None if given is None else given.clientInfo,
        progress_token=context.meta.progressToken if context.meta is not None else None,
    )


class V1:
    """See ``Adapter``."""

    versions = SUPPORTED_PROTOCOL_VERSIONS

    def parse(self, data: Any, on_unanswered: Callable[[], Awaitable[None]] | None) -> Any:
        """See ``Adapter.parse``. This SDK answers cancelled requests itself."""
        message = types.JSONRPCMessage.model_validate(data)
        return SessionMessage(message, ServerMessageMetadata())

    def outgoing(self, message: Any) -> Outgoing:
        """See ``Adapter.outgoing``."""
        sent, metadata = message.message.root, message.metadata
        text = sent.model_dump_json(by_alias=True, exclude_none=True)
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
            identity.name, version=identity.version, instructions=identity.instructions
        )

        def with_context(method: Method, result: Any) -> Any:
            async def handle(request: Any) -> Any:
                context = server.request_context
                # The context's session is the same for the whole connection.
                started(SessionNotifier(context.session, _notify))
                params = {} if request.params is None else dump(request.params)
                try:
                    answer = await method(_peer(context), params)
                except RpcError as error:
                    raise McpError(
                        types.ErrorData(code=error.code, message=error.message, data=error.data)
                    ) from error
                return types.ServerResult(result.model_validate(answer))

            return handle

        for name, method in methods.items():
            request, result = REQUESTS[name]
            server.request_handlers[request] = with_context(method, result)
        options = server.create_initialization_options(
            NotificationOptions(resources_changed=True, tools_changed=True)
        )
        if options.capabilities.resources is not None:
            options.capabilities.resources.subscribe = "resources/subscribe" in methods
        await server.run(read, write, options)


ADAPTER = V1()

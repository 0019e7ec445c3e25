"""``GET context``: what a turn would send now, and its size."""

from __future__ import annotations

from pydantic import TypeAdapter

from ...agent.features.preview import preview
from ...protocol.attachments import Attachment
from ...protocol.context import ContextReply
from ...protocol.requests import ChatRequest
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route

ATTACHMENTS = TypeAdapter(list[Attachment])
NAMES = TypeAdapter(list[str])


class ContextHandler(Handler):
    """An explicit ``path`` counts as attached and active.

    Attached variables are read in the kernel, so they need ``execute``.
    """

    @route("read")
    async def get(self) -> ContextReply:
        request = self._request()
        loaded = self.parts.sessions.loaded(request.session_id)
        may_execute = await self.may("execute")
        state = None if loaded is None else loaded.state
        return await preview(self.parts.runtime, request, state, may_execute=may_execute)

    def _request(self) -> ChatRequest:
        """The chat request that a turn would start with, without its message."""
        names = {
            "client_id": "clientId",
            "session_id": "sessionId",
            "mode": "mode",
            "model": "model",
            "location": "location",
        }
        values: dict[str, object] = {
            field: text for field, name in names.items() if (text := self._query(name))
        }
        active = self._query("activeNotebook")
        if active is not None:
            values["active_notebook"] = active or None
        attached = ATTACHMENTS.validate_json(self._query("attachments") or "[]")
        values["tool_references"] = NAMES.validate_json(self._query("toolReferences") or "[]")
        path = self._query("path")
        if path:
            is_notebook = self.parts.runtime.notebooks.is_notebook(path)
            attached.append(Attachment(kind="notebook" if is_notebook else "file", path=path))
            if is_notebook:
                values["active_notebook"] = path
        return ChatRequest.model_validate({"message": "", "attachments": attached, **values})

    def _query(self, name: str) -> str | None:
        return self.get_query_argument(name, None)


ROUTES = [
    Route(
        "context",
        ContextHandler,
        {
            "get": Operation(
                "What a turn would send before the message, and its size; with attached variables "
                "the action is execute",
                response=ContextReply,
                query={
                    "path": "a notebook or file that counts as attached, and a notebook as active",
                    "clientId": "the page that is asked",
                    "sessionId": "the session whose settings and history are sent; none: a new one",
                    "mode": "ask, edit or agent; else the session's",
                    "model": "else the one that holds for the session and mode",
                    "location": "panel, inline, magic or api, as in a chat request",
                    "attachments": "those of a chat request, as a JSON array",
                    "activeNotebook": "as in a chat request; empty: none is active",
                    "toolReferences": "those of a chat request, as a JSON array",
                },
            )
        },
    )
]

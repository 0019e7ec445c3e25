"""``GET context``: what a turn would send now, and its size."""

from __future__ import annotations

from ..agent.context_block import gather
from ..agent.targets import submission
from ..protocol.context import ContextReply
from ..protocol.requests import Attachment, ChatRequest, SessionSettings
from .base import Handler, route
from .route_table import Operation, Route


class ContextHandler(Handler):
    """An explicit ``path`` counts as attached and active."""

    @route("read")
    async def get(self) -> ContextReply:
        path = self.get_query_argument("path", None)
        values: dict[str, object] = {
            "message": "",
            "client_id": self.get_query_argument("clientId", None),
        }
        if path is not None:
            if path.endswith(".ipynb"):
                values["attachments"] = [Attachment(kind="notebook", path=path)]
                values["active_notebook"] = path
            else:
                values["attachments"] = [Attachment(kind="file", path=path)]
        request = ChatRequest.model_validate(values)
        services = self.parts.services
        return await gather(services, await submission(services, request, SessionSettings(), []))


ROUTES = [
    Route(
        "context",
        ContextHandler,
        {
            "get": Operation(
                "The context that a turn would send",
                response=ContextReply,
                query={
                    "path": "a notebook or file; else what the page has in front",
                    "clientId": "the page that is asked",
                },
            )
        },
    )
]

"""``GET sessions/{id}/export``: a conversation as a file."""

from __future__ import annotations

import re
from urllib.parse import quote

from ...agent.features.export import exported
from ...protocol.errors import AgentError
from ...protocol.sessions import EXPORT_FORMATS, ExportFormat
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route

CONTENT_TYPES: dict[ExportFormat, str] = {
    "md": "text/markdown; charset=utf-8",
    "ipynb": "application/x-ipynb+json; charset=utf-8",
    "json": "application/json; charset=utf-8",
}
NAME_CHARACTERS = 60


class ExportHandler(Handler):
    """Sends the file."""

    @route("read")
    async def get(self, session_id: str) -> None:
        name = self.get_query_argument("format", "md")
        if name not in EXPORT_FORMATS:
            raise AgentError("invalid_request", f"format must be md, ipynb or json, not {name!r}.")
        kind: ExportFormat = name
        await self.parts.sessions.live(session_id)
        session, text = await exported(self.parts.runtime.store, session_id, kind)
        self.set_header("Content-Disposition", disposition(session.title, kind))
        self.finish(text, set_content_type=CONTENT_TYPES[kind])


def disposition(title: str, suffix: str) -> str:
    """The header that names the file, for every browser (RFC 6266)."""
    name = re.sub(r"[^\w\- ]+", " ", title)[:NAME_CHARACTERS].strip() or "conversation"
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}.{suffix}\"; filename*=UTF-8''{quote(name)}.{suffix}"


ROUTES = [
    Route(
        "sessions/{session_id}/export",
        ExportHandler,
        {
            "get": Operation(
                "The conversation as a file: Markdown, a notebook, or JSON",
                query={"format": "md (default), ipynb or json"},
            )
        },
    )
]

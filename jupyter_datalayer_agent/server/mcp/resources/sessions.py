"""Conversations: what was asked in each, and which documents that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ....agent.runtime import Runtime
from ....protocol.errors import AgentError
from ....protocol.json_text import to_json
from ..peer import Peer
from ..rpc import RESOURCE_NOT_FOUND, RpcError
from .kind import JSON

MAX_LISTED = 20


class SessionResources:
    """``jupyter://sessions/{id}``."""

    prefix = "jupyter://sessions/"
    templates: Sequence[dict[str, Any]] = (
        {
            "uriTemplate": "jupyter://sessions/{id}",
            "name": "session",
            "title": "Session",
            "description": "The turns of a conversation in short. getTurnById reads one of them.",
            "mimeType": JSON,
        },
    )

    def __init__(self, runtime: Runtime) -> None:
        self._store = runtime.store

    async def listed(self) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        page = await self._store.sessions.list_page(limit=MAX_LISTED)
        return [
            {
                "uri": self.prefix + quote(each.id, safe=""),
                "name": each.title,
                "description": "A conversation with the agent, or calls of a program.",
                "mimeType": JSON,
            }
            for each in page.sessions
        ]

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        try:
            session = await self._store.sessions.get(name)
            prompts = await self._store.withdrawals.prompts(name)
        except AgentError as error:
            raise RpcError(RESOURCE_NOT_FOUND, error.message) from error
        turns = [prompt.to_wire() for prompt in prompts]
        text = to_json({"id": session.id, "title": session.title, "turns": turns})
        return [{"mimeType": JSON, "text": text}]

    async def fingerprint(self, name: str) -> str:
        """See ``ResourceKind``."""
        try:
            return str((await self._store.sessions.get(name)).last_seq)
        except AgentError as error:
            return error.code

    async def complete(self, variable: str) -> list[str]:
        """See ``ResourceKind``."""
        if variable != "id":
            return []
        page = await self._store.sessions.list_page(limit=MAX_LISTED)
        return [each.id for each in page.sessions]

"""What signing in to a server gave: tokens, kept where keys of models are kept."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from ....models.connections.connection import KeyPlace
from ....models.connections.key_store import KeyStore, KeyStoreError
from ..definition import SHORTEST_SECRET, ServerDefinition
from ..state_file import StateFile

LARGEST = 60_000
"""Characters that are kept."""


@dataclass
class Grant:
    """Tokens for the server at ``url``, and what refreshing them needs: the SDK's objects as JSON.

    ``expires_at`` is when the access token does, in seconds since 1970."""

    url: str
    tokens: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    expires_at: float | None = None
    place: KeyPlace = field(default="file", repr=False)

    def redacted(self, text: str) -> str:
        """The text without the secrets."""
        tokens, client = self.tokens or {}, self.client or {}
        secrets = [tokens.get("access_token"), tokens.get("refresh_token")]
        for secret in [*secrets, client.get("client_secret")]:
            if isinstance(secret, str) and len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, "[redacted]")
        return text


class Grants:
    """The grants of all servers. ``state`` knows which servers have one, and where it is kept."""

    def __init__(self, keys: KeyStore, state: StateFile) -> None:
        self.keys = keys
        self._state = state

    def has(self, server: ServerDefinition) -> bool:
        """Whether the user has signed in to it."""
        return self._state.signed_in(server) is not None

    async def get(self, server: ServerDefinition, url: str) -> Grant | None:
        """The grant for the server at this address. Raises ``KeyStoreError``."""
        place = self._state.signed_in(server)
        if place is None:
            return None
        text = await self.keys.get(_id(server), place)
        try:
            found = Grant(**json.loads(text or ""), place=place)
        except (TypeError, ValueError):
            return None
        # Tokens go to the server that they were given for, and to no other of its name.
        return found if found.url == url else None

    async def save(self, server: ServerDefinition, grant: Grant) -> None:
        """Keep a grant. Raises ``KeyStoreError`` and ``OSError``."""
        kept = asdict(grant)
        del kept["place"]
        text = json.dumps(kept)
        if len(text) > LARGEST:
            raise KeyStoreError("The server's tokens are too large to be kept.")
        await self.keys.set(_id(server), text, grant.place)
        self._state.set_signed_in(server, grant.place)

    async def forget(self, server: ServerDefinition) -> None:
        """Remove what is kept for a server. Raises ``KeyStoreError`` and ``OSError``."""
        if server.url is None:
            return
        await self.keys.delete(_id(server), self._state.signed_in(server))
        self._state.set_signed_in(server, None)


def _id(server: ServerDefinition) -> str:
    return f"mcp-{hashlib.sha256(server.key.encode()).hexdigest()[:32]}"

"""``resources``: listed, read, subscribed to, and completed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from ....notebook.document import DocumentError
from ..peer import Method, Params, Peer
from ..rpc import RESOURCE_NOT_FOUND, RpcError
from .kind import ResourceKind
from .subscriptions import Subscriptions


class ResourceMethods:
    """The resources of one connection."""

    def __init__(self, kinds: Sequence[ResourceKind], subscriptions: Subscriptions) -> None:
        self._kinds = kinds
        self._subscriptions = subscriptions

    def methods(self) -> dict[str, Method]:
        """By name."""
        return {
            "resources/list": self.list,
            "resources/templates/list": self.templates,
            "resources/read": self.read,
            "resources/subscribe": self.subscribe,
            "resources/unsubscribe": self.unsubscribe,
        }

    async def list(self, peer: Peer, params: Params) -> dict[str, Any]:
        """All that can be listed."""
        return {"resources": [each for kind in self._kinds for each in await kind.listed()]}

    async def templates(self, peer: Peer, params: Params) -> dict[str, Any]:
        """The forms of all URIs."""
        return {"resourceTemplates": [each for kind in self._kinds for each in kind.templates]}

    async def read(self, peer: Peer, params: Params) -> dict[str, Any]:
        """One resource."""
        uri = str(params["uri"])
        kind, name = self._find(uri)
        return {"contents": [{"uri": uri, **each} for each in await kind.read(name, peer)]}

    async def subscribe(self, peer: Peer, params: Params) -> dict[str, Any]:
        """From now on the program is notified when it changes."""
        uri = str(params["uri"])
        kind, name = self._find(uri)
        try:
            await self._subscriptions.add(uri, kind, name)
        except DocumentError as error:
            raise RpcError(RESOURCE_NOT_FOUND, error.message) from error
        return {}

    async def unsubscribe(self, peer: Peer, params: Params) -> dict[str, Any]:
        """No more."""
        self._subscriptions.remove(str(params["uri"]))
        return {}

    def _find(self, uri: str) -> tuple[ResourceKind, str]:
        for kind in self._kinds:
            name = unquote(uri.removeprefix(kind.prefix))
            if uri.startswith(kind.prefix) and name:
                return kind, name
        raise RpcError(
            RESOURCE_NOT_FOUND,
            f"There is no resource {uri[:200]}. See resources/list and resources/templates/list.",
            {"uri": uri[:200]},
        )

"""What a kind of resource is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..peer import Peer

JSON = "application/json"


class ResourceKind(Protocol):
    """Resources whose URIs begin with ``prefix``. What follows it is given without percent-escapes
    as ``name``. ``templates`` are the kind's URI templates, as the protocol has them."""

    prefix: str
    templates: Sequence[dict[str, Any]]

    async def listed(self) -> list[dict[str, Any]]:
        """The resources that a program is shown, as the protocol has them."""
        ...

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        """The contents, without their URI. Raises ``RpcError``."""
        ...

    async def fingerprint(self, name: str) -> str:
        """Differs when the resource has changed."""
        ...

    async def complete(self, variable: str) -> list[str]:
        """Values of a template's variable."""
        ...

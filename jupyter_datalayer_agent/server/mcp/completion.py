"""``completion/complete``: values of the arguments of prompts and of URI templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .peer import Params, Peer
from .resources.kind import ResourceKind

MOST_VALUES = 100


class Completion:
    """Completes by the names of what there is: notebooks, data sets, sessions."""

    def __init__(self, kinds: Sequence[ResourceKind]) -> None:
        self._kinds = kinds

    async def complete(self, peer: Peer, params: Params) -> dict[str, Any]:
        """The values that begin with what was typed."""
        argument = params.get("argument") or {}
        typed = str(argument.get("value", "")).lower()
        name = str(argument.get("name", ""))
        values = [each for kind in self._kinds for each in await kind.complete(name)]
        found = [each for each in dict.fromkeys(values) if each.lower().startswith(typed)]
        more = len(found) > MOST_VALUES
        return {"completion": {"values": found[:MOST_VALUES], "total": len(found), "hasMore": more}}

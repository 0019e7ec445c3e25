"""The program at the other end of a connection, as the handler of one of its requests sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Params = dict[str, Any]
Notify = Callable[[str, Params, Any], Awaitable[None]]
"""Send a notification: its method, its parameters, and the id of the request that it belongs to."""
Elicit = Callable[[str, Params, Any], Awaitable[dict[str, Any]]]
"""Ask the program's user: message, schema of the form, id of the request; the result as JSON."""


@dataclass(frozen=True)
class Peer:
    """What a request came from. ``capabilities`` and ``info`` are as the program declared them at
    ``initialize``; ``progress_token`` is set where it wants to be notified of progress."""

    request_id: str | int
    notify: Notify
    elicit: Elicit
    capabilities: dict[str, Any] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    progress_token: str | int | None = None

    @property
    def can_elicit(self) -> bool:
        """Whether its user can be shown a form. A declaration without modes means forms."""
        declared = self.capabilities.get("elicitation")
        return declared is not None and (not declared or "form" in declared)


Method = Callable[[Peer, Params], Awaitable[dict[str, Any]]]
"""Answers a request: its parameters and its result as JSON objects. Raises ``RpcError``."""

"""What of JSON-RPC our side writes itself: errors, and notifications."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

# The program at the other end of a connection, as the handler of one of its requests sees it.


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


# How much a program may send, keep open and have kept for it.


MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""The largest message of a program: a file or a cell, and not a data set."""
MAX_CONNECTIONS = 32
"""Of one server. Beyond it the one that has been idle longest ends, if one is idle."""
MAX_OPEN_REQUESTS = 100
"""Of one connection, at the same time."""
MAX_RUNNING_READS = 8
"""Reads of one connection that are carried out at the same time; others wait."""
IDLE_SECONDS = 30 * 60.0
"""After which a connection without any HTTP request ends."""
MAX_KEPT_STREAMS = 50
MAX_KEPT_CHARACTERS = 8_000_000
"""Answers that are kept for a program whose HTTP connection broke."""
MAX_UNREAD_NOTIFICATIONS = 200
MAX_SUBSCRIPTIONS = 100
ELICITATION_SECONDS = 600.0
"""For which a program's user may think about a form."""


PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
REQUEST_CANCELLED = -32800


class RpcError(Exception):
    """A request's failure, as its JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def error_message(
    code: int, message: str, data: Any = None, request_id: str | int | None = None
) -> dict[str, Any]:
    """A JSON-RPC error; without an id where the request has none that can be read."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}

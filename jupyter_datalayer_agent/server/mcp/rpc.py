"""JSON-RPC as the server uses it: the program at the other end, limits and errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

# The program at the other end of a connection, as seen by the handler of one of its requests.


Params = dict[str, Any]
Notify = Callable[[str, Params, Any], Awaitable[None]]
"""Sends a notification: its method, its parameters, and the id of the request it belongs to."""
Elicit = Callable[[str, Params, Any], Awaitable[dict[str, Any]]]
"""Asks the program's user: message, schema of the form, id of the request. Returns JSON."""


@dataclass(frozen=True)
class Peer:
    """The program that made a request. It declared ``capabilities`` and ``info`` at ``initialize``;
    ``progress_token`` is set if it wants to be notified of progress."""

    request_id: str | int
    notify: Notify
    elicit: Elicit
    capabilities: dict[str, Any] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    progress_token: str | int | None = None

    @property
    def can_elicit(self) -> bool:
        """Whether it can show its user a form. A declaration without modes means forms."""
        declared = self.capabilities.get("elicitation")
        return declared is not None and (not declared or "form" in declared)


Method = Callable[[Peer, Params], Awaitable[dict[str, Any]]]
"""Answers a request; parameters and result are JSON objects. Raises ``RpcError``."""


# Limits on what a program sends, keeps open, and has stored for it.


MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""The largest message of a program: enough for a file or a cell, but not for a data set."""
MAX_CONNECTIONS = 32
"""The most connections of a server. For one more, the one that is idle longest ends, if any."""
MAX_OPEN_REQUESTS = 100
"""The most unanswered requests of a connection."""
MAX_RUNNING_READS = 8
"""The most reads that a connection runs at the same time; others wait."""
IDLE_SECONDS = 30 * 60.0
"""A connection ends after this time without an HTTP request."""
MAX_KEPT_STREAMS = 50
MAX_KEPT_CHARACTERS = 8_000_000
"""The most characters of answers that are kept for a program whose HTTP connection broke."""
MAX_UNREAD_NOTIFICATIONS = 200
MAX_SUBSCRIPTIONS = 100
ELICITATION_SECONDS = 600.0
"""How long a program's user has to answer a form."""


PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
REQUEST_CANCELLED = -32800


class RpcError(Exception):
    """A failed request, with the fields of its JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def error_message(
    code: int, message: str, data: Any = None, request_id: str | int | None = None
) -> dict[str, Any]:
    """A JSON-RPC error. Its id is None if the request's cannot be read."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}

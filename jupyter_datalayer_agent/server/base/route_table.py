"""Route declarations, from which both the server and ``openapi.json`` are made."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ...protocol.base import Wire

PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Operation:
    """One method of a route. ``query`` maps a parameter's name to its description."""

    summary: str
    request: type[Wire] | None = None
    response: type[Wire] | None = None
    status: int = 200
    query: dict[str, str] = field(default_factory=dict)
    content: str = "application/json"
    takes: str = "application/json"


@dataclass(frozen=True)
class Route:
    """A path under ``datalayer-agent/`` with its handler and methods (``get``, ``post``, …)."""

    path: str
    handler: type[Any]
    operations: dict[str, Operation]
    authenticated: bool = True

    def pattern(self, base: str) -> str:
        """The regular expression that tornado matches; parameters are one path segment each."""
        return base + PARAMETER.sub(r"(?P<\1>[^/]+)", self.path) + "$"

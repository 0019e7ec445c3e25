"""The proposal that a session waits with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..protocol.services import ActionProposal


@dataclass(frozen=True)
class OpenProposal:
    """The proposal that a session waits with, and what it is about. ``values`` are without
    secrets."""

    proposal: ActionProposal
    values: dict[str, Any]
    notebook: str | None = None
    client_id: str | None = field(default=None, compare=False)

    @property
    def service(self) -> str:
        """The id of its service."""
        return self.proposal.service

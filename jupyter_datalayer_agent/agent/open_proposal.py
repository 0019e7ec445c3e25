"""The open proposal of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..protocol.services import ActionProposal


@dataclass(frozen=True)
class OpenProposal:
    """A proposal that waits for the user's answer, and what it is about. ``values`` contain no
    secrets."""

    proposal: ActionProposal
    values: dict[str, Any]
    notebook: str | None = None
    client_id: str | None = field(default=None, compare=False)

    @property
    def service(self) -> str:
        """The id of its service."""
        return self.proposal.service

"""A message on its way to its turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from ..protocol.errors import AgentError
from ..protocol.ops import UserMessage
from ..protocol.requests import ChatReply
from .approvals.pending import Audience


@dataclass
class Message:
    """A message that waits its turn; ``result`` is for the caller that waits for the reply.

    ``parameters`` are those of the action that it runs: kept in memory alone, since there may be
    secrets among them.
    """

    op_id: str
    op: UserMessage
    audience: Audience
    result: asyncio.Future[ChatReply] | None = None
    held: bool = False
    parameters: dict[str, Any] | None = None

    def refuse(self, error: AgentError) -> None:
        """Fail the caller that waits: there will be no turn."""
        if self.result is not None and not self.result.done():
            self.result.set_exception(error)

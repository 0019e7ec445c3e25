"""A message on its way to its turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ..protocol.errors import AgentError
from ..protocol.ops import UserMessage
from ..protocol.requests import ChatReply
from .approvals.pending import Audience


@dataclass
class Message:
    """A message that waits its turn; ``result`` is for the caller that waits for the reply."""

    op_id: str
    op: UserMessage
    audience: Audience
    result: asyncio.Future[ChatReply] | None = None
    held: bool = False

    def refuse(self, error: AgentError) -> None:
        """There will be no turn for it."""
        if self.result is not None and not self.result.done():
            self.result.set_exception(error)

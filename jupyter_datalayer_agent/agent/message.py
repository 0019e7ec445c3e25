"""A message on its way to its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..protocol.base import Audience
from ..protocol.errors import AgentError
from ..protocol.ops import UserMessage
from ..protocol.renames import Rename
from ..protocol.requests import ChatReply
from ..settings.turn_settings import Settings
from .request import TurnRequest, with_paths_now
from .state import SessionState
from .turn.loop import Turn

TurnMaker = Callable[[SessionState, TurnRequest, Settings, str], Turn]
"""Makes the turn of a message, in place of what its text asks for; the last argument is the op's
id."""


@dataclass
class Message:
    """A message that waits its turn; ``result`` is for the caller that waits for the reply.

    ``starter`` is the key of the client that sent it. ``parameters`` are those of the action that
    it runs, kept only in memory, since there may be secrets among them. ``turn_maker`` is set for
    a message of the agent's own, which is not a user's text.
    """

    op_id: str
    op: UserMessage
    audience: Audience
    result: asyncio.Future[ChatReply] | None = None
    starter: str | None = None
    held: bool = False
    parameters: dict[str, Any] | None = None
    turn_maker: TurnMaker | None = None

    def renamed(self, rename: Rename) -> None:
        """Use the new path of a renamed document."""
        request = with_paths_now(self.op.request, rename)
        self.op = self.op.model_copy(update={"request": request})

    def refuse(self, error: AgentError) -> None:
        """Fail the waiting caller: there will be no turn."""
        if self.result is not None and not self.result.done():
            self.result.set_exception(error)

"""Checks of messages before they are queued."""

from __future__ import annotations

from ...protocol.errors import AgentError
from ...protocol.ops import Op, UserMessage
from ...protocol.requests import ChatRequest

MAX_MESSAGE_CHARACTERS = 1_000_000


def check_message(request: ChatRequest) -> None:
    """Raises ``AgentError`` ``too_large``, or ``invalid_request`` for a message without text."""
    length = len(request.message)
    if length > MAX_MESSAGE_CHARACTERS:
        raise AgentError(
            "too_large",
            f"The message has {length:,} characters; the limit is {MAX_MESSAGE_CHARACTERS:,}. "
            "Put the text into a file and attach that.",
        )
    if not request.message.strip():
        raise AgentError("invalid_request", "The message is empty.")


def check_op(op: Op) -> Op:
    """An op that may be put on a queue. Raises ``AgentError``."""
    if isinstance(op, UserMessage):
        check_message(op.request)
    return op

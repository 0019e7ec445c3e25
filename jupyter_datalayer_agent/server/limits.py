"""What is too large to be a message."""

from __future__ import annotations

from ..protocol.errors import AgentError
from ..protocol.requests import ChatRequest

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
        raise AgentError("invalid_request", "The message is empty. Write what is to be done.")

"""Tokens: what a turn used, and whether the session may use more."""

from __future__ import annotations

from ..models.tokens import estimate_tokens
from ..models.types import ModelRequest
from ..protocol.errors import AgentError
from ..protocol.requests import Usage


def add_usage(turn: Usage, call: Usage, session_tokens: int) -> Usage:
    """The turn's usage with one more model call; ``session_tokens`` were used before it."""
    return Usage(
        input_tokens=turn.input_tokens + call.input_tokens,
        output_tokens=turn.output_tokens + call.output_tokens,
        cached_tokens=turn.cached_tokens + call.cached_tokens,
        total_tokens=turn.total_tokens + call.total_tokens,
        session_tokens=session_tokens + call.total_tokens,
    )


def check_budget(limit: int | None, used: int, request: ModelRequest | None = None) -> None:
    """Raises ``AgentError`` ``token_limit`` when the session has used its tokens up, or would with
    this request, by an estimate of what it sends."""
    if limit is None:
        return
    more = 0
    if request is not None:
        sent = [request.instructions, list(request.tools), list(request.input)]
        more = estimate_tokens(sent)
    if used + more < limit:
        return
    needed = f", about {more:,} more needed" if more else ""
    raise AgentError(
        "token_limit",
        f"The token limit of this session is reached: {used:,} used{needed}, {limit:,} allowed. "
        "Raise token_limit or start a new session.",
    )

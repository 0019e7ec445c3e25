"""Tokens: what a turn used, and whether the session may use more."""

from __future__ import annotations

from ..models.prices import cost_of
from ..protocol.errors import AgentError
from ..protocol.requests import Usage


def add_usage(
    turn: Usage, call: Usage, session_tokens: int, session_cost: float | None = None
) -> Usage:
    """The turn's usage with one more model call; the session had used ``session_tokens`` and paid
    ``session_cost`` before it."""
    return Usage(
        input_tokens=turn.input_tokens + call.input_tokens,
        output_tokens=turn.output_tokens + call.output_tokens,
        cached_tokens=turn.cached_tokens + call.cached_tokens,
        total_tokens=turn.total_tokens + call.total_tokens,
        session_tokens=session_tokens + call.total_tokens,
        cost=_sum(turn.cost, call.cost),
        session_cost=_sum(session_cost, call.cost),
        estimated=turn.estimated or call.estimated,
    )


def _sum(one: float | None, other: float | None) -> float | None:
    """The sum of both costs; an unknown one counts as nothing, two unknown ones are None."""
    return None if one is None and other is None else (one or 0) + (other or 0)


def estimated_usage(model: str, sent: int, answered: int) -> Usage:
    """Usage of a call that ended before the provider reported what it cost."""
    usage = Usage(
        input_tokens=sent, output_tokens=answered, total_tokens=sent + answered, estimated=True
    )
    return usage.model_copy(update={"cost": cost_of(model, usage)})


def check_budget(limit: int | None, used: int, more: int = 0) -> None:
    """Raises ``AgentError`` ``token_limit`` when the session has used up its tokens, or would with
    a request of about ``more``."""
    if limit is None or used + more < limit:
        return
    needed = f", about {more:,} more needed" if more else ""
    raise AgentError(
        "token_limit",
        f"The token limit of this session is reached: {used:,} used{needed}, {limit:,} allowed. "
        "Raise token_limit or start a new session.",
    )

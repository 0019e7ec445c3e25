"""``GET usage``: tokens, cost, time and tool errors of the last days."""

from __future__ import annotations

from typing import cast, get_args

from ...protocol.errors import AgentError
from ...protocol.usage import UsageBy, UsageReply
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route

MAX_DAYS = 366


class UsageHandler(Handler):
    """Sums over the stored conversations."""

    @route("read")
    async def get(self) -> UsageReply:
        days = self.number("days", 30)
        if days is None or not 1 <= days <= MAX_DAYS:
            raise AgentError("invalid_request", f"days must be from 1 to {MAX_DAYS}.")
        by = self.get_query_argument("by", "day")
        if by not in get_args(UsageBy):
            raise AgentError(
                "invalid_request", f"by must be one of {', '.join(get_args(UsageBy))}."
            )
        sums = self.parts.runtime.store.usage
        return await sums.read(cast(UsageBy, by), days)


ROUTES = [
    Route(
        "usage",
        UsageHandler,
        {
            "get": Operation(
                "Tokens, cost, time and tool errors of the last days",
                response=UsageReply,
                query={
                    "days": f"how many, today included, 1 to {MAX_DAYS} (30)",
                    "by": "day (default), model or session",
                },
            )
        },
    )
]

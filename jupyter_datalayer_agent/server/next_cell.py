"""``next-cell``: the cell that could come next, for a page that shows it as a suggestion."""

from __future__ import annotations

import asyncio

from ..agent.next_cell import next_cell
from ..agent.targets import confined
from ..protocol.suggestions import NextCellReply, NextCellRequest
from .base import Handler, route
from .route_table import Operation, Route


class NextCellHandler(Handler):
    """Asks the model once; a page that goes away, or that does not want it any more, ends it."""

    _asking: asyncio.Task[NextCellReply] | None = None
    _gone = False

    @route("execute")
    async def post(self) -> NextCellReply | None:
        wanted = self.body(NextCellRequest)
        services = self.parts.services
        path = await confined(services, wanted.path)
        self._asking = asyncio.ensure_future(next_cell(services, path, wanted))
        try:
            return await self._asking
        except asyncio.CancelledError:
            if not self._gone:
                raise
            return None

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._gone = True
        if self._asking is not None:
            self._asking.cancel()


ROUTES = [
    Route(
        "next-cell",
        NextCellHandler,
        {"post": Operation("A cell that could come next", NextCellRequest, NextCellReply)},
    )
]

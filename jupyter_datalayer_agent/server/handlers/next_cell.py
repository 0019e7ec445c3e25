"""``next-cell``: a suggestion for the next cell."""

from __future__ import annotations

import asyncio

from ...agent.features.next_cell import next_cell
from ...agent.request import confined
from ...protocol.suggestions import NextCellReply, NextCellRequest
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class NextCellHandler(Handler):
    """Asks the model once; a page that disconnects or cancels ends it."""

    _asking: asyncio.Task[NextCellReply] | None = None
    _gone = False

    @route("execute")
    async def post(self) -> NextCellReply | None:
        wanted = self.body(NextCellRequest)
        runtime = self.parts.runtime
        path = await confined(runtime, wanted.path)
        self._asking = asyncio.ensure_future(next_cell(runtime, path, wanted))
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
        {"post": Operation("Suggest the next cell", NextCellRequest, NextCellReply)},
    )
]

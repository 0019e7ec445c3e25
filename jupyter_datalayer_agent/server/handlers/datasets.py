"""``datasets``: list and delete."""

from __future__ import annotations

from ...protocol.datasets import DatasetsReply
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class DatasetsHandler(Handler):
    """All data sets, or those of a session."""

    @route("read")
    async def get(self) -> DatasetsReply:
        session_id = self.get_query_argument("sessionId", "") or None
        runtime = self.parts.runtime
        if session_id is not None:
            await runtime.store.sessions.get(session_id)
        return DatasetsReply(
            datasets=await runtime.datasets.known(session_id),
            max_upload_bytes=runtime.datasets.limit,
        )


class DatasetHandler(Handler):
    """One data set."""

    @route("write")
    async def delete(self, name: str) -> None:
        await self.parts.runtime.datasets.delete(name)
        self.set_status(204)
        self.finish()


ROUTES = [
    Route(
        "datasets",
        DatasetsHandler,
        {
            "get": Operation(
                "Data sets, the newest first",
                response=DatasetsReply,
                query={"sessionId": "only those that this session knows"},
            )
        },
    ),
    Route(
        "datasets/{name}",
        DatasetHandler,
        {"delete": Operation("Delete the data set and its file", status=204)},
    ),
]

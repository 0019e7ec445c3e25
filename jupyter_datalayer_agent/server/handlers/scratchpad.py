"""``POST scratchpad``: cells for the scratchpad, with their provenance."""

from __future__ import annotations

from ...protocol.errors import AgentError
from ...protocol.history import Provenance
from ...protocol.scratchpad import ScratchpadCell, ScratchpadReply, ScratchpadRequest
from ...workflows.scratchpad import add_cells
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class ScratchpadHandler(Handler):
    """The user's own action: needs no model and no approval."""

    @route("write")
    async def post(self) -> ScratchpadReply:
        request = self.body(ScratchpadRequest)
        runtime = self.parts.runtime
        cells = [await self._placed(cell) for cell in request.cells]
        path, created, cell_ids = await add_cells(
            runtime.notebooks, cells, request.path, request.client_id
        )
        if request.show:
            await runtime.notebooks.show(path, request.client_id)
        return ScratchpadReply(path=path, created=created, cell_ids=cell_ids)

    async def _placed(self, cell: ScratchpadCell) -> tuple[ScratchpadCell, Provenance | None]:
        """The cell with its session and provenance: the newest answer that is its turn's own."""
        if cell.turn_id is None:
            return cell, cell.provenance
        past = self.parts.runtime.store.past
        turn = await past.turn(cell.turn_id)
        placed = cell.model_copy(update={"session_id": turn.session_id})
        if cell.provenance is not None:
            if cell.provenance.ai_turn_id != cell.turn_id:
                raise AgentError("invalid_request", "The provenance is of another turn.")
            return placed, cell.provenance
        # A summary of older turns is stored with the newest of them, but is not its answer; the
        # caller names another model's answer.
        others = [answer.provenance for answer in turn.answers]
        answers = [
            each
            for each in await past.responses_of(cell.turn_id)
            if each.response_type != "summary" and each not in others
        ]
        if answers:
            return placed, answers[-1]
        # A turn that was stopped before it answered.
        provider = (turn.model or "").partition("/")[0] or "workflow"
        return placed, Provenance(
            ai_turn_id=cell.turn_id, provider_id=provider, response_type="batch"
        )


ROUTES = [
    Route(
        "scratchpad",
        ScratchpadHandler,
        {
            "post": Operation(
                "Add cells to the scratchpad, which is made where it is missing",
                ScratchpadRequest,
                ScratchpadReply,
            )
        },
    )
]

"""``strategist``: a question about earlier conversations."""

from __future__ import annotations

from tornado import web

from ...notebook.document import DocumentError
from ...protocol.errors import HTTP_STATUS, AgentError
from ...protocol.history import KeptAnswer, StrategistReply, StrategistRequest, StrategistState
from ...protocol.scratchpad import ScratchpadCell
from ...workflows.answer_cell import answer_cell, problem_cell
from ...workflows.scratchpad import add_cells
from ..base.handler import Handler, route
from ..base.limits import MAX_MESSAGE_CHARACTERS
from ..base.route_table import Operation, Route


class StrategistHandler(Handler):
    """Replies when the Strategist has answered; its session's events show the progress."""

    @route("execute")
    async def get(self) -> StrategistState:
        return await self.parts.strategist.state()

    @route("execute")
    async def post(self) -> None:
        question = self.body(StrategistRequest)
        if len(question.question) > MAX_MESSAGE_CHARACTERS:
            raise AgentError("too_large", "The question is too long.")
        if question.scratchpad is not None and not await self.may("write"):
            raise web.HTTPError(403, "You may not write the scratchpad.")
        try:
            reply = await self.parts.strategist.ask(question)
        except AgentError as error:
            if question.scratchpad is not None:
                session = await self.parts.strategist.session()
                cell = problem_cell(question.question, error.message, session.id)
                await self._keep(question, cell)
            raise
        # Written here, since the page may be closed by now.
        if question.scratchpad is not None:
            reply.scratchpad = await self._keep(question, answer_cell(question.question, reply))
        status = HTTP_STATUS[reply.error.code] if reply.error is not None else 200
        self.reply(reply, status)

    async def _keep(self, question: StrategistRequest, cell: ScratchpadCell) -> KeptAnswer:
        assert question.scratchpad is not None
        try:
            path, _, (cell_id,) = await add_cells(
                self.parts.runtime.notebooks,
                [(cell, cell.provenance)],
                question.scratchpad,
                question.client_id,
            )
        except DocumentError as error:
            return KeptAnswer(path=question.scratchpad, problem=str(error))
        return KeptAnswer(path=path, cell_id=cell_id)


ROUTES = [
    Route(
        "strategist",
        StrategistHandler,
        {
            "get": Operation("The Strategist's session", response=StrategistState),
            "post": Operation("Ask about earlier chats", StrategistRequest, StrategistReply),
        },
    )
]

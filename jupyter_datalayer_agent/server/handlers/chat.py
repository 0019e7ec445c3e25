"""``POST chat`` and ``POST chat/stream``: one turn, as one reply or as its events."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import TypeAdapter
from tornado import web

from ...agent.events import TurnEvents
from ...agent.features.next_cell import next_cell
from ...agent.features.preview import preview
from ...agent.request import confined
from ...agent.session.actor import LiveSession
from ...notebook.document import DocumentError
from ...protocol.cells import NextCellReply, NextCellRequest
from ...protocol.context import Attachment, ContextReply
from ...protocol.errors import HTTP_STATUS, AgentError
from ...protocol.history import (
    KeptAnswer,
    Provenance,
    ScratchpadCell,
    ScratchpadReply,
    ScratchpadRequest,
    StrategistReply,
    StrategistRequest,
    StrategistState,
)
from ...protocol.ops import UserMessage
from ...protocol.requests import ChatReply, ChatRequest
from ...workflows.scratchpad import add_cells, answer_cell, problem_cell
from ..base.handler import (
    MAX_MESSAGE_CHARACTERS,
    Handler,
    Operation,
    Route,
    Waiting,
    check_message,
    route,
    stream_events,
    write_events,
)

# ``GET context``: what a turn would send now, and its size.


ATTACHMENTS = TypeAdapter(list[Attachment])
NAMES = TypeAdapter(list[str])


class ContextHandler(Handler):
    """An explicit ``path`` counts as attached and active.

    Attached variables are read in the kernel, so they need ``execute``.
    """

    @route("read")
    async def get(self) -> ContextReply:
        request = self._request()
        loaded = self.parts.sessions.loaded(request.session_id)
        may_execute = await self.may("execute")
        state = None if loaded is None else loaded.state
        return await preview(self.parts, request, state, may_execute=may_execute)

    def _request(self) -> ChatRequest:
        """The chat request that a turn would start with, without its message."""
        names = {
            "client_id": "clientId",
            "session_id": "sessionId",
            "mode": "mode",
            "model": "model",
            "location": "location",
        }
        values: dict[str, object] = {
            field: text for field, name in names.items() if (text := self._query(name))
        }
        active = self._query("activeNotebook")
        if active is not None:
            values["active_notebook"] = active or None
        attached = ATTACHMENTS.validate_json(self._query("attachments") or "[]")
        values["tool_references"] = NAMES.validate_json(self._query("toolReferences") or "[]")
        path = self._query("path")
        if path:
            is_notebook = self.parts.notebooks.is_notebook(path)
            attached.append(Attachment(kind="notebook" if is_notebook else "file", path=path))
            if is_notebook:
                values["active_notebook"] = path
        return ChatRequest.model_validate({"message": "", "attachments": attached, **values})

    def _query(self, name: str) -> str | None:
        return self.get_query_argument(name, None)


CONTEXT_ROUTES = [
    Route(
        "context",
        ContextHandler,
        {
            "get": Operation(
                "What a turn would send besides the message, and its size; needs execute if "
                "variables are attached",
                response=ContextReply,
                query={
                    "path": "a file to attach, or a notebook to attach and make active",
                    "clientId": "the page to ask",
                    "sessionId": "the session with the settings and history (default: a new one)",
                    "mode": "ask, edit or agent (default: the session's)",
                    "model": "the model (default: that of the session and mode)",
                    "location": "panel, inline, magic or api, as in a chat request",
                    "attachments": "attachments as in a chat request, as a JSON array",
                    "activeNotebook": "as in a chat request; empty if none is active",
                    "toolReferences": "tool references as in a chat request, as a JSON array",
                },
            )
        },
    )
]


# ``POST scratchpad``: cells for the scratchpad, with their provenance.


class ScratchpadHandler(Handler):
    """The user's own action: needs no model and no approval."""

    @route("write")
    async def post(self) -> ScratchpadReply:
        request = self.body(ScratchpadRequest)
        runtime = self.parts
        cells = [await self._placed(cell) for cell in request.cells]
        path, created, cell_ids = await add_cells(
            runtime.notebooks, cells, request.path, request.client_id
        )
        if request.show:
            await runtime.notebooks.show(path, request.client_id)
        return ScratchpadReply(path=path, created=created, cell_ids=cell_ids)

    async def _placed(self, cell: ScratchpadCell) -> tuple[ScratchpadCell, Provenance | None]:
        """The cell with its session and provenance, by default of the turn's own newest answer."""
        if cell.turn_id is None:
            return cell, cell.provenance
        past = self.parts.store.past
        turn = await past.turn(cell.turn_id)
        placed = cell.model_copy(update={"session_id": turn.session_id})
        if cell.provenance is not None:
            if cell.provenance.ai_turn_id != cell.turn_id:
                raise AgentError("invalid_request", "The provenance belongs to another turn.")
            return placed, cell.provenance
        # Not a summary of older turns, which is stored with the newest of them, and not another
        # model's answer, which a caller has to name.
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


SCRATCHPAD_ROUTES = [
    Route(
        "scratchpad",
        ScratchpadHandler,
        {
            "post": Operation(
                "Add cells to the scratchpad, which is created if it does not exist",
                ScratchpadRequest,
                ScratchpadReply,
            )
        },
    )
]


# ``strategist``: a question about earlier conversations.


class StrategistHandler(Handler):
    """Replies when the Strategist has answered; its session's events show the progress."""

    @route("execute")
    async def get(self) -> StrategistState:
        return await self.parts.strategist.state()

    @route("execute")
    async def post(self) -> None:
        question = self.body(StrategistRequest)
        if len(question.question) > MAX_MESSAGE_CHARACTERS:
            raise AgentError(
                "too_large", f"The question has more than {MAX_MESSAGE_CHARACTERS:,} characters."
            )
        if question.scratchpad is not None and not await self.may("write"):
            raise web.HTTPError(403, "Not allowed to write the scratchpad.")
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
                self.parts.notebooks,
                [(cell, cell.provenance)],
                question.scratchpad,
                question.client_id,
            )
        except DocumentError as error:
            return KeptAnswer(path=question.scratchpad, problem=str(error))
        return KeptAnswer(path=path, cell_id=cell_id)


STRATEGIST_ROUTES = [
    Route(
        "strategist",
        StrategistHandler,
        {
            "get": Operation("The Strategist's session", response=StrategistState),
            "post": Operation("Ask about earlier chats", StrategistRequest, StrategistReply),
        },
    )
]


# ``next-cell``: a suggestion for the next cell.


class NextCellHandler(Handler):
    """Asks the model once. The request is cancelled if the page disconnects."""

    _asking: asyncio.Task[NextCellReply] | None = None
    _gone = False

    @route("execute")
    async def post(self) -> NextCellReply | None:
        wanted = self.body(NextCellRequest)
        runtime = self.parts
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


NEXT_CELL_ROUTES = [
    Route(
        "next-cell",
        NextCellHandler,
        {"post": Operation("Suggest the next cell", NextCellRequest, NextCellReply)},
    )
]


class ChatBase(Handler):
    """Base of both ways to chat."""

    def chat_request(self) -> ChatRequest:
        """The request's body, checked. Raises ``AgentError``."""
        request = self.body(ChatRequest)
        check_message(request)
        return request


class ChatHandler(ChatBase):
    """Replies when the turn has ended."""

    @route("execute")
    async def post(self) -> None:
        await self.run_turn(self.chat_request())


class ChatStreamHandler(ChatBase):
    """The turn's events. A client that disconnects does not end the turn."""

    @route("execute")
    async def post(self) -> None:
        request = self.chat_request()
        session = await self.parts.sessions.of(request, self.asker.key)
        channel, waiting, turn = session.state.channel, Waiting(), TurnEvents()
        begun = channel.seq
        leave = channel.listen(waiting.put)
        try:
            await self._start(request, session)
            after = await write_events(
                self, waiting, begun, wanted=turn.has, is_last=turn.ends_with
            )
        finally:
            leave()
        await stream_events(self, channel, after, wanted=turn.has, is_last=turn.ends_with)

    async def _start(self, request: ChatRequest, session: LiveSession) -> None:
        op_id, result = await session.chat(
            UserMessage(request=request), "stream", starter=self.asker.key
        )
        result.add_done_callback(_retrieve)
        refused = await session.started(op_id, result)
        if refused is not None:
            raise refused
        self.set_header("X-Session-Id", session.id)


def _retrieve(result: Any) -> None:
    """The stream reports the end; an exception was logged where it occurred."""
    if not result.cancelled():
        result.exception()


ROUTES = [
    Route(
        "chat",
        ChatHandler,
        {"post": Operation("Run one turn, and reply at its end", ChatRequest, ChatReply)},
    ),
    Route(
        "chat/stream",
        ChatStreamHandler,
        {
            "post": Operation(
                "Run one turn, and stream its events", ChatRequest, content="text/event-stream"
            )
        },
    ),
]

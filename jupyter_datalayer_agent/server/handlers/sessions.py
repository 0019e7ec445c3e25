"""``sessions``: list, create, read, change and delete sessions; their turns, events and changes."""

from __future__ import annotations

import asyncio
import difflib
import re
import time
from urllib.parse import quote

from ...agent.changes.checkpoints import changed_blocks
from ...agent.changes.rewind import fork
from ...agent.features.export import exported
from ...protocol.base import Audience
from ...protocol.errors import AgentError
from ...protocol.history import Provenance, SearchReply, StoredResponse, TurnPlace
from ...protocol.ops import OP_ADAPTER, UserMessage
from ...protocol.requests import (
    CellBefore,
    ChangesReply,
    OpAccepted,
    QueuedMessage,
    Session,
    SessionCreate,
    SessionPatch,
    SessionsReply,
    TurnsReply,
)
from ...protocol.sessions import EXPORT_FORMATS, ExportFormat, ForkRequest, PromptsReply
from ...protocol.tools import Change
from ...store.store import Store
from ..base.handler import Handler, Operation, Route, check_op, route, stream_events
from ..kernel_access.reach import reached
from ..kernel_access.tokens import TOKENS_KEY
from .kernel_requests import op_as_kernel_may, session_as_kernel_may

# ``POST sessions/{id}/fork``: continue in a copy of the conversation from any of its turns.


class ForkHandler(Handler):
    """Forks a session."""

    @route("write")
    async def post(self, session_id: str) -> None:
        request = self.body(ForkRequest)
        # Loading the session ends a turn that a crashed server left running.
        await self.parts.sessions.live(session_id)
        self.reply(await fork(self.parts, session_id, request.turn_id), 201)


FORKS_ROUTES = [
    Route(
        "sessions/{session_id}/fork",
        ForkHandler,
        {
            "post": Operation(
                "Copy the conversation up to a turn into a new session",
                ForkRequest,
                Session,
                status=201,
            )
        },
    )
]


# ``GET sessions/{id}/export``: a conversation as a file.


CONTENT_TYPES: dict[ExportFormat, str] = {
    "md": "text/markdown; charset=utf-8",
    "ipynb": "application/x-ipynb+json; charset=utf-8",
    "json": "application/json; charset=utf-8",
}
NAME_CHARACTERS = 60


class ExportHandler(Handler):
    """Sends the file."""

    @route("read")
    async def get(self, session_id: str) -> None:
        name = self.get_query_argument("format", "md")
        if name not in EXPORT_FORMATS:
            raise AgentError("invalid_request", f"format must be md, ipynb or json, not {name!r}.")
        kind: ExportFormat = name
        await self.parts.sessions.live(session_id)
        session, text = await exported(self.parts.store, session_id, kind)
        self.set_header("Content-Disposition", disposition(session.title, kind))
        self.finish(text, set_content_type=CONTENT_TYPES[kind])


def disposition(title: str, suffix: str) -> str:
    """The header that names the file, for every browser (RFC 6266)."""
    name = re.sub(r"[^\w\- ]+", " ", title)[:NAME_CHARACTERS].strip() or "conversation"
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}.{suffix}\"; filename*=UTF-8''{quote(name)}.{suffix}"


EXPORTS_ROUTES = [
    Route(
        "sessions/{session_id}/export",
        ExportHandler,
        {
            "get": Operation(
                "The conversation as a file: Markdown, a notebook, or JSON",
                query={"format": "md (default), ipynb or json"},
            )
        },
    )
]


# ``GET sessions/{id}/events``: a session's stored events from any point on, then live ones.


CHECK_SECONDS = 1.0


class EventsHandler(Handler):
    """Server-sent events for programs; pages use the WebSocket."""

    _checked = 0.0

    @route("read")
    async def get(self, session_id: str) -> None:
        # Keeps only the channel, so that the session can be unloaded meanwhile.
        channel = (await self.parts.sessions.live(session_id)).state.channel
        await stream_events(self, channel, self._after(), may_go_on=self._may_go_on)

    async def _may_go_on(self) -> bool:
        """Whether the reader may read on; a kernel may while its token is valid."""
        now = time.monotonic()
        if self.kernel is None or now - self._checked < CHECK_SECONDS:
            return True
        self._checked = now
        return await self.settings[TOKENS_KEY].refusal(self.kernel) is None

    def _after(self) -> int:
        last = self.request.headers.get("Last-Event-ID")
        if last is None:
            return self.number("after", 0) or 0
        try:
            return int(last)
        except ValueError as error:
            raise AgentError("invalid_request", "Last-Event-ID must be a whole number.") from error


EVENTS_ROUTES = [
    Route(
        "sessions/{session_id}/events",
        EventsHandler,
        {
            "get": Operation(
                "Events after Last-Event-ID (or after), then live ones",
                query={"after": "only events with a greater seq"},
                content="text/event-stream",
            )
        },
    )
]


# ``POST sessions/{id}/ops``: submit an op.


class OpsHandler(Handler):
    """Replies as soon as the op is queued."""

    @route("execute")
    async def post(self, session_id: str) -> None:
        op = await op_as_kernel_may(
            self, session_id, check_op(OP_ADAPTER.validate_python(self.json_body()))
        )
        page = isinstance(op, UserMessage) and op.request.client_id is not None
        audience: Audience = "page" if page else "stream"
        op_id = await self.parts.sessions.submit(session_id, op, audience, self.asker)
        if self.kernel is not None:
            self.kernel.ops.add(op_id)
        self.reply(OpAccepted(op_id=op_id), 202)


OPS_ROUTES = [
    Route(
        "sessions/{session_id}/ops",
        OpsHandler,
        {"post": Operation("Submit an op", response=OpAccepted, status=202)},
    )
]


# ``GET sessions/{id}/prompts``: all turns in short form, so that a page can jump to any of them.


class PromptsHandler(Handler):
    """Reads the turns without their items and events."""

    @route("read")
    async def get(self, session_id: str) -> PromptsReply:
        await self.parts.sessions.live(session_id)
        withdrawals = self.parts.store.withdrawals
        return PromptsReply(prompts=await withdrawals.prompts(session_id))


PROMPTS_ROUTES = [
    Route(
        "sessions/{session_id}/prompts",
        PromptsHandler,
        {"get": Operation("All turns in short form, oldest first", response=PromptsReply)},
    )
]


# ``search``, ``turns/{id}``, ``responses``: searches of all conversations.


MAX_LIMIT = 100


class SearchHandler(Handler):
    """Searches all sessions, or one."""

    @route("read")
    async def get(self) -> SearchReply:
        query = self.searched("q") or ""
        if not query.strip():
            raise AgentError("invalid_request", "q (the text to search for) is empty.")
        limit = self.number("limit", 20)
        if limit is None or not 1 <= limit <= MAX_LIMIT:
            raise AgentError("invalid_request", f"limit must be from 1 to {MAX_LIMIT}.")
        session_id = self.get_query_argument("sessionId", None)
        past = self.parts.store.past
        return SearchReply(results=await past.search(query, limit, session_id))


class TurnHandler(Handler):
    """One turn, by its id alone: the target of a citation."""

    @route("read")
    async def get(self, turn_id: str) -> TurnPlace:
        past = self.parts.store.past
        turn = await past.turn(turn_id)
        return TurnPlace(
            turn=turn,
            session_title=await past.title_of(turn.session_id) or "",
            session_kind=await past.kind_of(turn.session_id),
            responses=await past.responses_of(turn_id),
        )


class ResponsesHandler(Handler):
    """One answer, by its provenance."""

    @route("read")
    async def get(self) -> StoredResponse:
        names = ("aiTurnId", "providerId", "responseType")
        given = {name: self.get_query_argument(name, "") for name in names}
        missing = [name for name, value in given.items() if not value]
        if missing:
            raise AgentError("invalid_request", f"Required but missing: {', '.join(missing)}.")
        key = Provenance.model_validate({**given, "responseIndex": self.number("responseIndex", 0)})
        return await self.parts.store.past.response(key)


SEARCH_ROUTES = [
    Route(
        "search",
        SearchHandler,
        {
            "get": Operation(
                "Search the text of all conversations, newest first",
                response=SearchReply,
                query={
                    "q": "the text to search for; matches any part of a text",
                    "limit": "the number of results, 1 to 100 (default: 20)",
                    "sessionId": "search only this session",
                },
            )
        },
    ),
    Route(
        "turns/{turn_id}",
        TurnHandler,
        {"get": Operation("A turn, by its id alone", response=TurnPlace)},
    ),
    Route(
        "responses",
        ResponsesHandler,
        {
            "get": Operation(
                "An answer, by its provenance",
                response=StoredResponse,
                query={
                    "aiTurnId": "the turn",
                    "providerId": "the model's provider as litellm calls it",
                    "responseType": "batch, synthesis, summary, plan or proposal",
                    "responseIndex": "the number of the answer, from 0 (default: 0)",
                },
            )
        },
    ),
]


class SessionsHandler(Handler):
    """All sessions."""

    @route("read")
    async def get(self) -> SessionsReply:
        limit = self.number("limit", 50)
        if limit is None or not 1 <= limit <= 200:
            raise AgentError("invalid_request", "limit must be from 1 to 200.")
        reply = await self.parts.store.sessions.list_page(
            (self.searched("query") or "").strip(),
            limit,
            self.get_query_argument("cursor", None),
            undecided_in=self.get_query_argument("undecided", None),
        )
        if self.kernel is not None:
            reply.sessions = await reached(self, reply.sessions)
        for session in reply.sessions:
            session.running_turn_id = self.parts.sessions.running_turn(session.id)
            session.waits = self.parts.sessions.waits(session.id) or None
        return reply

    @route("write")
    async def post(self) -> None:
        session = await self.parts.sessions.create(
            session_as_kernel_may(self, self.body(SessionCreate)), self.asker.key
        )
        if self.kernel is not None:
            self.kernel.sessions.add(session.id)
        self.reply(session, 201)


class SessionHandler(Handler):
    """One session."""

    @route("read")
    async def get(self, session_id: str) -> Session:
        # Loading it ends turns that a crashed server left running.
        await self.parts.sessions.live(session_id)
        session = await self.parts.store.sessions.get(session_id)
        session.running_turn_id = self.parts.sessions.running_turn(session_id)
        session.waits = self.parts.sessions.waits(session_id) or None
        session.queued = [
            QueuedMessage(op_id=each.op_id, message=each.op.request.message, held=each.held or None)
            for each in await self.parts.store.queue.waiting(session_id)
        ]
        return session

    @route("write")
    async def patch(self, session_id: str) -> Session:
        return await self.parts.sessions.patch(session_id, self.body(SessionPatch), self.asker)

    @route("write")
    async def delete(self, session_id: str) -> None:
        await self.parts.sessions.delete(session_id)
        self.set_status(204)
        self.finish()


class TurnsHandler(Handler):
    """The turns of a session, newest last. Takes at most one of before, after and around."""

    @route("read")
    async def get(self, session_id: str) -> TurnsReply:
        await self.parts.sessions.live(session_id)
        limit = self.number("limit", 20)
        if limit is None or not 1 <= limit <= 200:
            raise AgentError("invalid_request", "limit must be from 1 to 200.")
        return await self.parts.store.turn_reader.list_page(
            session_id,
            limit,
            self.get_query_argument("before", None),
            include_events="events" in self.get_query_argument("include", "").split(","),
            after=self.get_query_argument("after", None),
            around=self.get_query_argument("around", None),
        )


class ChangesHandler(Handler):
    """The changes that a turn made."""

    @route("read")
    async def get(self, session_id: str, turn_id: str) -> ChangesReply:
        store = self.parts.store
        files = self.parts.notebooks.text_files
        turn = await store.turn_reader.get(turn_id)
        if turn.session_id != session_id:
            raise AgentError("not_found", "This session has no such turn.")
        changes = await store.turn_reader.changes(turn_id)
        states = await store.checkpoints.states(turn_id)
        include = self.get_query_argument("include", "").split(",")
        return ChangesReply(
            turn_id=turn_id,
            changes=changes,
            # In a thread, because a diff of many similar lines takes seconds.
            diffs=await asyncio.to_thread(lambda: [unified(change) for change in changes]),
            # Unrecorded changes cannot be reverted and need no decision.
            states=[states.get((each.path, each.cell_id or ""), "kept") for each in changes],
            before=await cells_before(store, turn_id) if "before" in include else None,
            blocks=await changed_blocks(store, files, turn_id) if "blocks" in include else None,
        )


async def cells_before(store: Store, turn_id: str) -> list[CellBefore]:
    """The undecided cells, as they were before the turn."""
    first: dict[tuple[str, str], CellBefore] = {}
    for span in await store.checkpoints.open_spans(turn_id):
        for cell in span.cells:
            if cell.cell_id:  # An empty id means the document.
                place = (span.path, cell.cell_id)
                first.setdefault(
                    place, CellBefore(path=span.path, cell_id=cell.cell_id, cell=cell.before)
                )
    return list(first.values())


def unified(change: Change) -> str:
    """A change as a unified diff of the cell's source."""
    name = f"{change.path}#{change.cell_id}" if change.cell_id else change.path
    return "\n".join(
        difflib.unified_diff(
            (change.before or "").splitlines(),
            (change.after or "").splitlines(),
            name,
            name,
            lineterm="",
        )
    )


ROUTES = [
    Route(
        "sessions",
        SessionsHandler,
        {
            "get": Operation(
                "Sessions, newest first",
                response=SessionsReply,
                query={
                    "query": "only those whose title or messages contain this",
                    "limit": "the number of sessions, 1 to 200 (default: 50)",
                    "cursor": "nextCursor of the previous page",
                    "undecided": "a path: only those with undecided changes there",
                },
            ),
            "post": Operation("Create a session", SessionCreate, Session, status=201),
        },
    ),
    Route(
        "sessions/{session_id}",
        SessionHandler,
        {
            "get": Operation("One session", response=Session),
            "patch": Operation("Rename a session, or change its settings", SessionPatch, Session),
            "delete": Operation("Delete the session and everything in it", status=204),
        },
    ),
    Route(
        "sessions/{session_id}/turns",
        TurnsHandler,
        {
            "get": Operation(
                "Turns with their items, tool calls and usage",
                response=TurnsReply,
                query={
                    "limit": "the number of turns, 1 to 200 (default: 20)",
                    "before": "a turn id: only older turns",
                    "after": "a turn id: only newer turns, beginning with the next one",
                    "around": "a turn id: that turn and those around it",
                    "include": "events: also the turns' events, with deltas joined",
                },
            )
        },
    ),
    Route(
        "sessions/{session_id}/turns/{turn_id}/changes",
        ChangesHandler,
        {
            "get": Operation(
                "The changes that the turn made, as diffs",
                response=ChangesReply,
                query={
                    "include": "before: the cells as they were, with outputs and metadata; "
                    "blocks: the changed blocks of Lexical documents"
                },
            )
        },
    ),
]

"""``sessions``: list, create, read, change, delete; their turns and what these changed."""

from __future__ import annotations

import difflib

from ...agent.changes.changed_blocks import changed_blocks
from ...protocol.errors import AgentError
from ...protocol.requests import (
    CellBefore,
    ChangesReply,
    QueuedMessage,
    Session,
    SessionCreate,
    SessionPatch,
    SessionsReply,
    TurnsReply,
)
from ...protocol.tools import Change
from ...store.store import Store
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route
from ..kernel_access.reach import reached
from .kernel_requests import session_as_kernel_may


class SessionsHandler(Handler):
    """All sessions."""

    @route("read")
    async def get(self) -> SessionsReply:
        limit = self.number("limit", 50)
        if limit is None or not 1 <= limit <= 200:
            raise AgentError("invalid_request", "limit must be from 1 to 200.")
        reply = await self.parts.runtime.store.sessions.list_page(
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
        session = await self.parts.runtime.store.sessions.get(session_id)
        session.running_turn_id = self.parts.sessions.running_turn(session_id)
        session.waits = self.parts.sessions.waits(session_id) or None
        session.queued = [
            QueuedMessage(op_id=each.op_id, message=each.op.request.message, held=each.held or None)
            for each in await self.parts.runtime.store.queue.waiting(session_id)
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
    """The turns of a session, the newest last; at most one of before, after and around."""

    @route("read")
    async def get(self, session_id: str) -> TurnsReply:
        await self.parts.sessions.live(session_id)
        limit = self.number("limit", 20)
        if limit is None or not 1 <= limit <= 200:
            raise AgentError("invalid_request", "limit must be from 1 to 200.")
        return await self.parts.runtime.store.turn_reader.list_page(
            session_id,
            limit,
            self.get_query_argument("before", None),
            include_events="events" in self.get_query_argument("include", "").split(","),
            after=self.get_query_argument("after", None),
            around=self.get_query_argument("around", None),
        )


class ChangesHandler(Handler):
    """What a turn changed."""

    @route("read")
    async def get(self, session_id: str, turn_id: str) -> ChangesReply:
        store = self.parts.runtime.store
        files = self.parts.runtime.notebooks.text_files
        turn = await store.turn_reader.get(turn_id)
        if turn.session_id != session_id:
            raise AgentError("not_found", "There is no such turn in this session.")
        changes = await store.turn_reader.changes(turn_id)
        states = await store.checkpoints.states(turn_id)
        include = self.get_query_argument("include", "").split(",")
        return ChangesReply(
            turn_id=turn_id,
            changes=changes,
            diffs=[unified(change) for change in changes],
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
                "Sessions, the newest first",
                response=SessionsReply,
                query={
                    "query": "only those whose title or messages hold this",
                    "limit": "how many, 1 to 200 (50)",
                    "cursor": "nextCursor of the page before",
                    "undecided": "a path: only with changes there that wait for a decision",
                },
            ),
            "post": Operation("A new session", SessionCreate, Session, status=201),
        },
    ),
    Route(
        "sessions/{session_id}",
        SessionHandler,
        {
            "get": Operation("One session", response=Session),
            "patch": Operation("Rename, or change settings", SessionPatch, Session),
            "delete": Operation("Delete the session and all that belongs to it", status=204),
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
                    "limit": "how many, 1 to 200 (20)",
                    "before": "a turn id: only older turns",
                    "after": "a turn id: only newer turns, the next ones",
                    "around": "a turn id: that turn with those around it",
                    "include": "events: the turn's events too, deltas joined",
                },
            )
        },
    ),
    Route(
        "sessions/{session_id}/turns/{turn_id}/changes",
        ChangesHandler,
        {
            "get": Operation(
                "What the turn changed, as diffs",
                response=ChangesReply,
                query={
                    "include": "before: the cells as they were, with outputs and metadata; "
                    "blocks: the changed blocks of Lexical documents"
                },
            )
        },
    ),
]

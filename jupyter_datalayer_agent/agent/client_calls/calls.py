"""The calls of one program: reads are made at once, changes one after the other as turns.

A path that a call names counts as attached and active for that call. A notebook that a call named,
or created, is the one that later calls without a path mean. Which notebook the user looks at in a
page never decides where something is changed.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ...notebook.document import DocumentError
from ...notebook.files.kinds import is_lexical
from ...notebook.page.hub import Page
from ...notebook.paths import resolve_path
from ...notebook.renames import TrackedPath
from ...protocol.base import Mode, new_id
from ...protocol.errors import AgentError
from ...protocol.ops import UserMessage
from ...protocol.renames import Rename
from ...protocol.requests import ChatRequest, SessionCreate
from ...settings.turn_settings import Settings
from ...tools.context import SeenCells, ToolContext, ToolFailure
from ...tools.dispatcher import Dispatcher
from ...tools.gate import Gate
from ...tools.registry import Tool
from ...tools.result import Dispatched, ResultBuilder
from ..approvals.data_sharing import TurnSharing
from ..approvals.pending import Audience, PendingRequests
from ..request import TurnRequest
from ..session.actor import LiveSession
from ..session.registry import SessionRegistry
from ..state import SessionState
from .approvals import ClientApprovals
from .client import Client
from .gate import ClientGate
from .turn import ClientTurn

STOPPED = ToolFailure("aborted", "The user stopped this call in JupyterLab.", summary="Stopped")


class ClientCalls:
    """What one program called so far. ``title`` names its session, which begins with the first
    call that changes or runs something."""

    def __init__(self, sessions: SessionRegistry, title: str) -> None:
        self.session_id: str | None = None
        self.title = title
        self._sessions = sessions
        self._runtime = sessions.runtime
        self._seen = SeenCells()
        self._waiting = PendingRequests()
        self._last: dict[bool, str] = {}
        """The notebook and the Lexical document (true) that were named or made last."""
        self._lock = asyncio.Lock()
        self._runtime.notebooks.renames.follow(self)

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        self._last = {kind: rename.path(path) for kind, path in self._last.items()}
        self._seen.renamed(rename)

    async def call(
        self, tool: Tool, name: str, arguments: dict[str, Any], mode: Mode, client: Client
    ) -> Dispatched:
        """Make a call; a failure is in its result. Cancelled, it is interrupted.

        Raises ``AgentError`` if its turn could not be recorded.
        """
        try:
            named = await self._named(arguments)
        except DocumentError as error:
            return ResultBuilder.of_failure(tool.name, error).whole()
        gate = ClientGate.on(named or self._last.get(tool.needs_lexical), mode)
        if gate.refusal(tool) is None and tool.changes:
            # It may be renamed while the call waits.
            document = None if named is None else self._runtime.notebooks.renames.track(named)
            async with self._lock:
                return await self._change(tool, document, name, arguments, mode, client)
        done = await self._read(gate, name, arguments, client)
        self._note(tool, named, [], done)
        return done

    async def read(
        self, path: str, name: str, arguments: dict[str, Any], client: Client
    ) -> Dispatched:
        """Read something of a notebook by a tool, as no call of the program's: later calls without
        a path are not about it. Raises ``DocumentError``."""
        path = await self._located(path)
        gate = ClientGate.on(path, "ask")
        return await self._read(gate, name, {**arguments, "path": path}, client)

    async def _named(self, arguments: dict[str, Any]) -> str | None:
        given = arguments.get("path") or arguments.get("uri")
        return await self._located(given) if isinstance(given, str) else None

    async def _located(self, path: str) -> str:
        notebooks = self._runtime.notebooks
        return await notebooks.located(resolve_path(path, notebooks.root_dir))

    async def _read(
        self, gate: Gate, name: str, arguments: dict[str, Any], client: Client
    ) -> Dispatched:
        runtime = self._runtime
        approvals = ClientApprovals(client, self._waiting, "none", _not_recorded)
        page = self._page()
        context = ToolContext(
            gate=gate,
            notebooks=runtime.notebooks,
            kernel_timeout_seconds=runtime.settings().kernel_timeout_seconds,
            client_id=page.client_id if page is not None else None,
            session_id=self.session_id,
            seen=self._seen,
            active_document=page.state.active_document if page is not None else None,
            past=runtime.store.past,
            datasets=runtime.datasets,
            quality_of=runtime.quality_of,
            repair_of=runtime.repair_of,
            ask=approvals.ask,
            sharing=TurnSharing(runtime.settings, approvals),
            on_status=client.status,
        )
        return await Dispatcher(runtime.registry, context).call(name, arguments, new_id("call"))

    def _page(self) -> Page | None:
        """The open page that was used last: documents are opened there, and what the user works on
        there may be read."""
        pages = [page for page in self._runtime.pages if page.connected]
        return max(pages, key=lambda page: page.last_active, default=None)

    async def _change(
        self,
        tool: Tool,
        document: TrackedPath | None,
        name: str,
        arguments: dict[str, Any],
        mode: Mode,
        client: Client,
    ) -> Dispatched:
        session = await self._session()
        turns: list[ClientTurn] = []
        cancelled, known = False, 0
        page = self._page()
        audience: Audience = "none" if page is None else "stream"

        def make(
            state: SessionState, request: TurnRequest, settings: Settings, op_id: str
        ) -> ClientTurn:
            nonlocal known
            if cancelled:
                raise AgentError("invalid_request", "The call was cancelled.")
            named = None if document is None else document.path
            # With the session's own list, so that what a call creates is known to the next.
            gate = ClientGate.on(named or self._last.get(tool.needs_lexical), mode)
            gate.created, known = state.created, len(state.created)
            own = TurnRequest(
                chat=request.chat,
                text=request.chat.message,
                mode=mode,
                location="api",
                gate=gate,
                # Not those of MCP servers: a program that has its own does not get them twice.
                tools=self._runtime.registry,
                active_document=page.state.active_document if page is not None else None,
                renames=self._runtime.notebooks.renames.count,
            )
            turn = ClientTurn(
                state, own, settings, op_id,
                client=client, seen=self._seen, audience=audience, name=name, arguments=arguments,
            )  # fmt: skip
            turns.append(turn)
            return turn

        request = ChatRequest(
            message=_message(tool, None if document is None else document.path),
            session_id=session.id,
            location="api",
            active_notebook=None,
            client_id=page.client_id if page is not None else None,
            called_by=self.title,
        )
        _, result = await session.chat(UserMessage(request=request), audience, make)
        try:
            reply = await asyncio.shield(result)
        except asyncio.CancelledError:
            cancelled = True
            for turn in turns:
                turn.stop("interrupted")
            await asyncio.wait([result])
            result.exception()
            raise
        done = turns[0].done
        if done is None:
            if reply.error is not None:
                raise AgentError(reply.error.code, reply.error.message)
            return ResultBuilder.of_failure(tool.name, STOPPED).whole()
        named = None if document is None else document.path
        self._note(tool, named, turns[0].request.gate.created[known:], done)
        return done

    def _note(self, tool: Tool, named: str | None, created: list[str], done: Dispatched) -> None:
        """Later calls without a path are about this document."""
        for path in created:
            self._last[is_lexical(path)] = path
        needs_document = tool.needs_notebook or tool.needs_lexical
        if not created and named is not None and needs_document and done.result.ok:
            self._last[is_lexical(named)] = named

    async def _session(self) -> LiveSession:
        """The program's session; a new one where the user deleted it. Raises ``AgentError``
        ``turn_in_progress`` while the user's own turn runs there."""
        if self.session_id is not None:
            try:
                return await self._sessions.live(self.session_id)
            except AgentError as error:
                if error.code != "not_found":
                    raise
        record = await self._sessions.create(SessionCreate(title=self.title))
        self.session_id = record.id
        session = await self._sessions.live(record.id)
        # An approval for the session is one for reads, too.
        self._waiting.approved_tools = session.state.waiting.approved_tools
        return session


async def _not_recorded(event: object) -> None:
    """A read is no turn: nothing of it is stored."""


def _message(tool: Tool, path: str | None) -> str:
    """The text of the call in the conversation."""
    what = tool.label.action if tool.label is not None else tool.name
    return f"{what} ({path})" if path else what

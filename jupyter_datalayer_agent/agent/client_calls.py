"""Tool calls of another program's model. Each one that changes something is a turn of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from ..notebook.document import DocumentError
from ..notebook.files.kinds import is_lexical
from ..notebook.page import Page
from ..notebook.paths import resolve_path
from ..notebook.renames import TrackedPath
from ..protocol import events
from ..protocol.base import Audience, Mode, new_id
from ..protocol.errors import AgentError
from ..protocol.json_text import to_json
from ..protocol.ops import UserMessage
from ..protocol.renames import Rename
from ..protocol.requests import ChatRequest, SessionCreate
from ..protocol.tools import NotDone
from ..settings.turn_settings import Settings
from ..tools.call_approval import ApprovalRequest, Decision
from ..tools.context import SeenCells, ToolFailure
from ..tools.dispatcher import Dispatcher
from ..tools.gate import Gate, GatedTool, Refusal
from ..tools.registry import Tool
from ..tools.result import Dispatched, ResultBuilder
from .approvals import ApprovalBroker, PendingRequests
from .data_sharing import TurnSharing
from .history import assistant_item
from .request import TurnRequest
from .session.actor import LiveSession
from .session.registry import SessionRegistry
from .state import SessionState
from .tool_calls.own_calls import OwnCalls
from .tool_calls.scheduler import FinishedCall, aborted_call
from .turn.loop import Turn

# Another program whose model calls the agent's tools, as the calls see it.


class Client(Protocol):
    """The program at the other end, for one call."""

    async def decide(self, request: ApprovalRequest) -> Decision | None:
        """Its user's decision on an act; None if the program cannot ask."""
        ...

    async def answer(self, question: str, options: list[str] | None) -> str | None:
        """Its user's answer to a question; None if the program cannot ask."""
        ...

    async def status(self, message: str) -> None:
        """Report what the call is doing."""
        ...


# Asks the user of another program: there if possible, else in the panel; otherwise denies.


class ClientApprovals(ApprovalBroker):
    """Asks the program's user. If it cannot ask, ``audience`` decides: with "stream" the request is
    shown in an open page for 10 minutes, with "none" it is denied."""

    def __init__(
        self,
        client: Client,
        waiting: PendingRequests,
        audience: Audience,
        emit: Callable[[events.BaseEvent], Awaitable[None]],
    ) -> None:
        super().__init__(waiting, audience, emit)
        self._client = client
        self._remembered = waiting.approved_tools

    async def approve(self, request: ApprovalRequest) -> Decision:
        """See ``ApprovalBroker.approve``."""
        if any(self.has_approved(each) for each in (request.remember_as, *request.covered_by)):
            return Decision(True, earlier=True)
        decision = await self._client.decide(request)
        if decision is None:
            return await super().approve(request)
        if decision.for_session:
            self._remembered.update(request.remember_as.split())
        return decision

    async def ask(self, question: str, options: list[str] | None) -> str:
        """See ``ApprovalBroker.ask``."""
        answer = await self._client.answer(question, options)
        return await super().ask(question, options) if answer is None else answer


# The gate for another program's calls: the same rules, explained to its model.


class ClientGate(Gate):
    """A ``Gate`` whose messages are for a program that names its notebook by ``path``."""

    def refusal(self, tool: GatedTool) -> Refusal | None:
        """See ``Gate.refusal``."""
        if tool.changes and not self.may_change:
            return Refusal(
                f"{tool.name} changes or runs something, which other programs may not do here.",
                f"The setting mcp_mode is {self.mode}; agent would let programs change and run.",
                f"Not done: mcp_mode is {self.mode}",
            )
        return super().refusal(tool)

    def _no_notebook(self) -> Refusal:
        return Refusal(
            "No notebook is named.",
            "Name one with path, or make one with createNotebook.",
            "Not done: no notebook is named",
            lacks_notebook=True,
        )

    def _no_lexical(self) -> Refusal:
        return Refusal(
            "No Lexical document is named.",
            "Name one with path, or make one with createLexical.",
            "Not done: no Lexical document is named",
            lacks_lexical=True,
        )


# A call that changes or runs something, as a turn: recorded, shown, marked and undone as usual.


class ClientTurn(Turn):
    """Makes one call without asking a model of the agent's; ``done`` is the call's result."""

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        op_id: str,
        *,
        client: Client,
        seen: SeenCells,
        audience: Audience,
        name: str,
        arguments: dict[str, Any],
    ) -> None:
        super().__init__(session, request, settings, audience, op_id)
        self.done: Dispatched | None = None
        self._client = client
        self._name = name
        self._arguments = arguments
        self.approvals = ClientApprovals(client, session.waiting, audience, self.emit)
        self.sharing = TurnSharing(self._settings_now, self.approvals)
        self._dispatcher = self._make_dispatcher(seen)

    async def _prepare(self) -> None:
        self.model = ""

    async def _work(self) -> None:
        calls = OwnCalls(self._dispatcher, self.emit, self._finished)
        call_id = new_id("call")
        try:
            finished = await calls.call(self._name, self._arguments, call_id)
        except asyncio.CancelledError:
            item = {"call_id": call_id, "arguments": to_json(self._arguments)}
            _, event, record = aborted_call(item, self._name)
            await self.emit(event, tool_calls=[record])
            raise
        self.done = finished.done
        # For the agent's model, in case the user continues in this session. The panel shows the
        # call itself.
        self._keep([assistant_item(finished.done.summary_for_model)])

    async def _finished(self, call: FinishedCall) -> None:
        self.record.add_call(call)

    async def _offer_fixes(self) -> None:
        """The program's own model reads the failure, and decides how to go on."""

    def _find_not_done(self) -> NotDone | None:
        """The program reads the result of its one call."""

    async def emit_status(self, message: str) -> None:
        """See ``Turn.emit_status``; also notifies the program."""
        await super().emit_status(message)
        await self._client.status(message)

    def leave(self) -> None:
        """Stop the turn: the program does not wait for a server that ends."""


# The calls of one program: reads are made at once, changes one after another as turns.
#
# A path that a call names counts as attached and active for that call. Calls without a path use the
# notebook that was named or created last. The notebook that the user looks at in a page never
# decides where something is changed.


STOPPED = ToolFailure("aborted", "The user stopped this call in JupyterLab.", summary="Stopped")


class ClientCalls:
    """The calls of one program. ``title`` names its session, which begins with the first call that
    changes or runs something."""

    def __init__(self, sessions: SessionRegistry, title: str) -> None:
        self.session_id: str | None = None
        self.title = title
        self._sessions = sessions
        self._runtime = sessions.runtime
        self._seen = SeenCells()
        self._waiting = PendingRequests()
        self._last: dict[bool, str] = {}
        """The notebook and the Lexical document (true) that were named or created last."""
        self._lock = asyncio.Lock()
        self._runtime.notebooks.renames.follow(self)

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        self._last = {kind: rename.path(path) for kind, path in self._last.items()}
        self._seen.renamed(rename)

    async def call(
        self, tool: Tool, name: str, arguments: dict[str, Any], mode: Mode, client: Client
    ) -> Dispatched:
        """Make a call; a failure is in its result. If cancelled, the call is interrupted.

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
        """Read from a notebook with a tool, without counting it as the program's call: later calls
        without a path do not refer to it. Raises ``DocumentError``."""
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
        context = replace(
            runtime.tool_context(gate, runtime.settings()),
            client_id=page.client_id if page is not None else None,
            session_id=self.session_id,
            seen=self._seen,
            active_document=page.state.active_document if page is not None else None,
            ask=approvals.ask,
            sharing=TurnSharing(runtime.settings, approvals),
            on_status=client.status,
        )
        return await Dispatcher(runtime.registry, context).call(name, arguments, new_id("call"))

    def _page(self) -> Page | None:
        """The open page that was used last. Documents open there, and what the user works on there
        may be read."""
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
            # With the session's own list, so that the next call knows what this one creates.
            gate = ClientGate.on(named or self._last.get(tool.needs_lexical), mode)
            gate.created, known = state.created, len(state.created)
            own = TurnRequest(
                chat=request.chat,
                text=request.chat.message,
                mode=mode,
                location="api",
                gate=gate,
                # Without those of MCP servers, which a program with its own would get twice.
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
        """Make this the document of later calls without a path."""
        for path in created:
            self._last[is_lexical(path)] = path
        needs_document = tool.needs_notebook or tool.needs_lexical
        if not created and named is not None and needs_document and done.result.ok:
            self._last[is_lexical(named)] = named

    async def _session(self) -> LiveSession:
        """The program's session; a new one if the user deleted it. Raises ``AgentError``
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
        # What is approved for the session is approved for reads, too.
        self._waiting.approved_tools = session.state.waiting.approved_tools
        return session


async def _not_recorded(event: object) -> None:
    """A read is not a turn: nothing is stored."""


def _message(tool: Tool, path: str | None) -> str:
    """The text of the call in the conversation."""
    what = tool.label.action if tool.label is not None else tool.name
    return f"{what} ({path})" if path else what

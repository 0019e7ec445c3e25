"""The store's interface. See the package's docstring."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

from ..imports import load
from ..protocol.base import Location, Mode, NotebookMode
from ..protocol.errors import AgentError, ErrorBody
from ..protocol.events import BaseEvent
from ..protocol.ops import UserMessage
from ..protocol.plans import Plan
from ..protocol.requests import (
    ChatRequest,
    DatabaseHealth,
    Session,
    SessionSettings,
    SessionsReply,
    ToolCallRecord,
    Turn,
    TurnsReply,
    Usage,
)
from ..protocol.tools import Change, NotDone
from .history_queries import HistoryQueries
from .records import (
    ChangeState,
    CheckpointPart,
    CheckpointSpan,
    EventReader,
    Place,
    StoredEvent,
    StoredOp,
    StoredPlan,
    TurnContext,
    TurnHistory,
    TurnsWhere,
    WaitingTurn,
)

if TYPE_CHECKING:
    from .queries.compactions import Compactions
    from .queries.datasets import DatasetQueries
    from .queries.forks import Forks
    from .queries.further_answers import Answers
    from .queries.tutorials import Tutorials
    from .queries.usage import UsageSums
    from .queries.withdrawals import Withdrawals
    from .repositories import Repositories

log = logging.getLogger(__name__)


class Store:
    """Conversations in an SQLite file.

    ``database_url`` is ``sqlite:////absolute/path`` or ``sqlite://`` (in memory); None means
    ``datalayer-agent/agent.db`` in Jupyter's data directory. The file is opened at the first use.
    A call that returned has its effect in the file. The ``events`` that a call is given get their
    ``seq``, ``turn_id`` and ``at`` in its transaction; once it is committed, and before the call
    returns, they are passed to the session's reader (``follow``). Where the database cannot be
    used, every call raises ``AgentError`` with what to do about it; the next call tries again.
    ``vacuum``: whether space that is not needed any more goes back to the disk. To be used from one
    event loop.
    """

    def __init__(self, database_url: str | None = None, *, vacuum: bool = True) -> None:
        self._database_url = database_url
        self._vacuum = vacuum
        self._opened: Repositories | None = None
        self._opening = asyncio.Lock()
        self._closed = False
        self._readers: WeakValueDictionary[str, EventReader] = WeakValueDictionary()
        self.past = HistoryQueries(self._open)

    async def open(self) -> None:
        """Open the file, migrate it, and end the turns of servers that died. Idempotent."""
        self._closed = False
        await self._open()

    @property
    def health(self) -> DatabaseHealth | None:
        """Of an open database on a network file system: which, and how it is kept there."""
        database = self._opened.database if self._opened is not None else None
        if database is None or database.network is None:
            return None
        return DatabaseHealth(file_system=database.network, journal=database.journal)

    async def close(self) -> None:
        """Finish what is being written and close the file. Idempotent."""
        self._closed = True
        async with self._opening:
            opened, self._opened = self._opened, None
            if opened is not None:
                await opened.close()

    async def _open(self) -> Repositories:
        if self._opened is not None:
            return self._opened
        async with self._opening:
            if self._closed:
                raise AgentError("internal", "The conversation database is closed.")
            if self._opened is None:
                # The import takes a while: in a thread, so that the server stays responsive.
                name = f"{__package__}.repositories"
                module = await asyncio.to_thread(load, name)
                opened: type[Repositories] = module.Repositories
                self._opened = await opened.open(self._database_url, self._publish, self._vacuum)
            return self._opened

    def follow(self, session_id: str, reader: EventReader) -> None:
        """Pass the session's events to this reader from now on, as long as somebody else holds
        it. Those that other servers store are not among them."""
        self._readers[session_id] = reader

    def _publish(self, stored: Sequence[StoredEvent]) -> None:
        for each in stored:
            reader = self._readers.get(each.session_id)
            if reader is not None:
                try:
                    reader.take(each)
                except Exception:
                    # The edge of the store: what is stored must not fail for who reads it.
                    log.exception("Session %s: an event was not passed on", each.session_id)

    # Sessions

    async def create_session(
        self, title: str = "New session", settings: SessionSettings | None = None
    ) -> Session:
        """A new, empty session."""
        return await (await self._open()).sessions.create(title, settings)

    async def get_session(self, session_id: str) -> Session:
        """The session. Raises ``not_found``."""
        return await (await self._open()).sessions.get(session_id)

    async def list_sessions(
        self,
        query: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        *,
        undecided_in: str | None = None,
    ) -> SessionsReply:
        """Sessions, the newest updated first; ``query`` must be in the title or a message.
        ``undecided_in``: only those with changes in this document that wait for a decision.

        ``limit`` is kept between 1 and 200. Raises ``invalid_request`` for a cursor that no reply
        gave.
        """
        return await (await self._open()).sessions.list_page(query, limit, cursor, undecided_in)

    async def update_session(
        self,
        session_id: str,
        *,
        title: str | None = None,
        settings: SessionSettings | None = None,
    ) -> Session:
        """Change the title, and of the settings those that are set. Raises ``not_found``."""
        return await (await self._open()).sessions.update(session_id, title, settings)

    async def unused_sessions(self, before: int) -> list[str]:
        """Sessions in which nothing happened since ``before`` (ms since 1970), the oldest first.

        Not among them are those where a turn runs or waits, or a message does.
        """
        return await (await self._open()).sessions.unused(before)

    async def reset_session(
        self, session_id: str, *, title: str | None = None, events: Sequence[BaseEvent] = ()
    ) -> None:
        """Delete the turns, events and token count; event numbers continue from where they were,
        with ``events``. ``title`` is what the session is called then.

        Waiting messages stay. Raises ``not_found``.
        """
        await (await self._open()).sessions.reset(session_id, title, events)

    async def delete_session(self, session_id: str) -> None:
        """Delete the session and all that belongs to it. Raises ``not_found``."""
        await (await self._open()).sessions.delete(session_id)

    # Turns

    async def start_turn(
        self,
        *,
        session_id: str,
        turn_id: str,
        mode: Mode,
        notebook_mode: NotebookMode,
        location: Location,
        request: ChatRequest,
        model: str | None = None,
        op_id: str | None = None,
        events: Sequence[BaseEvent] = (),
        items: Sequence[Mapping[str, Any]] = (),
    ) -> int:
        """Begin a turn, with its first events and items; its index in the session, from 0.

        Raises ``not_found`` for an unknown session, ``turn_in_progress`` while a turn runs in it,
        here or in another server. A running turn whose server died is ended first, with events of
        its own.
        """
        opened = await self._open()
        from .repositories import TurnStart

        start = TurnStart(
            session_id=session_id,
            turn_id=turn_id,
            mode=mode,
            notebook_mode=notebook_mode,
            location=location,
            model=model,
            request=request,
            op_id=op_id,
        )
        return await opened.turns.start(start, events, items)

    async def finish_turn(
        self,
        turn_id: str,
        *,
        status: Literal["completed", "failed", "aborted"],
        reply: str = "",
        error: ErrorBody | None = None,
        not_done: NotDone | None = None,
        usage: Usage | None = None,
        ttft_ms: float | None = None,
        duration_ms: float | None = None,
        aborted_reason: str | None = None,
        events: Sequence[BaseEvent] = (),
        items: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """End a running turn. Times in ms.

        Give the turn's last events and items here: they and the end are then kept together, and a
        crash cannot part them. ``aborted_reason`` may be left out when the turn has a
        ``turn_aborted`` event. ``usage`` is the turn's sum; the session's count grows by what
        ``append`` was given.
        """
        opened = await self._open()
        from .repositories import TurnEnd

        end = TurnEnd(
            status=status,
            reply=reply,
            error=error,
            not_done=not_done,
            usage=usage or Usage(),
            ttft_ms=ttft_ms,
            duration_ms=duration_ms,
            aborted_reason=aborted_reason,
        )
        await opened.turns.finish(turn_id, end, events, items)

    async def abandon(self, turn_id: str) -> None:
        """This turn no longer runs and its end could not be saved: ``recover`` ends it."""
        (await self._open()).turns.abandon(turn_id)

    async def recover(self, session_id: str | None = None) -> list[str]:
        """End the orphaned running turns of one session or of all; returns their ids.

        ``open`` does it for all. To be called when a session is loaded into memory, also after a
        failure of the store in the middle of a turn. What such a turn had stays: its calls without
        an answer get the output "aborted", the text that was shown becomes a message item, and a
        ``turn_aborted`` with reason ``shutdown`` is added to its events. A further answer that was
        being given is reported as stopped.
        """
        opened = await self._open()
        recovered = await opened.turns.recover(session_id)
        await opened.answers.recover(session_id)
        return recovered

    async def get_turn(self, turn_id: str, include_events: bool = False) -> Turn:
        """The turn with its items, calls, changes, usage. Raises ``not_found``.

        ``events`` are the turn's events with the deltas of one item joined into one.
        """
        return await (await self._open()).reader.get(turn_id, include_events)

    async def list_turns(
        self,
        session_id: str,
        limit: int = 20,
        before: str | None = None,
        include_events: bool = False,
        *,
        after: str | None = None,
        around: str | None = None,
    ) -> TurnsReply:
        """The newest ``limit`` (1 to 200) turns, or those before, after or around a turn (an id);
        oldest first.

        Raises ``not_found`` when that is no turn of the session.
        """
        opened = await self._open()
        where = TurnsWhere(before, after, around)
        return await opened.reader.list_page(session_id, limit, where, include_events)

    async def history(self, session_id: str, last_turns: int | None = None) -> list[TurnHistory]:
        """The newest ``last_turns`` turns (None: all) with their items, oldest first, without those
        that were withdrawn.

        A turn that is still running is among them.
        """
        return await (await self._open()).reader.history(session_id, last_turns)

    async def changes_of(self, turn_id: str) -> list[Change]:
        """What the turn changed in documents, in order. Raises ``not_found``."""
        return await (await self._open()).reader.changes(turn_id)

    async def created_paths(self, session_id: str) -> list[str]:
        """The documents that the session's turns created, oldest first, without those that were
        reverted."""
        return await (await self._open()).reader.created_paths(session_id)

    # While a turn runs

    async def append(
        self,
        session_id: str,
        turn_id: str | None,
        *,
        events: Sequence[BaseEvent] = (),
        items: Sequence[Mapping[str, Any]] = (),
        tool_calls: Sequence[ToolCallRecord] = (),
        changes: Sequence[Change] = (),
        usage: Usage | None = None,
        model: str | None = None,
        context: TurnContext | None = None,
    ) -> None:
        """Save all of these in one transaction; the cost does not depend on the chat's length.

        ``items`` keep their order; a call that is known already (by ``call_id``) is updated, and
        keeps what is None in the update; ``usage`` is that of one call of ``model``; ``context`` is
        what stands before the message in requests. With ``turn_id`` None only events may be given.
        Raises ``not_found`` when the session was deleted meanwhile.
        """
        log = (await self._open()).log
        await log.append(
            session_id,
            turn_id,
            events=events,
            items=items,
            tool_calls=tool_calls,
            changes=changes,
            usage=usage,
            model=model,
            context=context,
        )

    async def last_seq(self, session_id: str) -> int:
        """The number of the session's newest event; 0 when there is none, or no such session."""
        return await (await self._open()).log.last_seq(session_id)

    async def events_after(
        self, session_id: str, after: int = 0, limit: int = 1000
    ) -> list[dict[str, Any]]:
        """Up to ``limit`` events with a greater ``seq``, in order, as they go over the wire."""
        return await (await self._open()).log.after(session_id, after, limit)

    # Plans, and turns that wait for the user

    async def save_plan(
        self, session_id: str, turn_id: str, plan: Plan, *, events: Sequence[BaseEvent] = ()
    ) -> None:
        """Save the turn's plan in its current state, with its events."""
        await (await self._open()).plans.save(session_id, turn_id, plan, events)

    async def last_plan(self, session_id: str) -> StoredPlan | None:
        """The plan of the newest turn that has one."""
        return await (await self._open()).plans.last(session_id)

    async def sessions_left_waiting(self) -> list[str]:
        """The sessions whose turn waits for the user and is run by no living server."""
        return await (await self._open()).plans.left_waiting()

    async def take_waiting_turn(self, session_id: str) -> WaitingTurn | None:
        """The session's turn that waits for the user and that no living server runs; from now on
        this server does. To be called when no such turn is in memory here."""
        return await (await self._open()).plans.take_waiting(session_id)

    # Checkpoints

    async def save_checkpoint(self, turn_id: str, part: CheckpointPart) -> None:
        """Save a part of a turn's checkpoint of one document. Call it before the change."""
        await (await self._open()).checkpoints.save(turn_id, part)

    async def next_checkpoint_span(self, turn_id: str, path: str) -> int:
        """A number that no span of the turn in this document has."""
        return await (await self._open()).checkpoints.next_span(turn_id, path)

    async def open_changes(self, turn_id: str) -> list[CheckpointSpan]:
        """The turn's changes that are neither kept nor reverted, by path and in their order."""
        return await (await self._open()).checkpoints.open_spans(turn_id)

    async def change_states(self, turn_id: str) -> dict[Place, ChangeState]:
        """The state of each recorded cell (or document) that the turn changed."""
        return await (await self._open()).checkpoints.states(turn_id)

    async def settle_changes(
        self,
        session_id: str,
        turn_id: str,
        settled: Mapping[Place, ChangeState],
        *,
        events: Sequence[BaseEvent] = (),
        items: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Save the decisions on a turn's changes, with their events.

        The data to revert them goes. ``items`` are sent to the model where the conversation is
        now, which may be turns later.
        """
        checkpoints = (await self._open()).checkpoints
        await checkpoints.settle(session_id, turn_id, settled, events, items)

    async def session_of_turn(self, turn_id: str) -> str:
        """The id of the turn's session. Raises ``not_found``."""
        return await (await self._open()).reader.session_of(turn_id)

    # Queued messages

    async def queued_ops(self, session_id: str) -> list[StoredOp]:
        """The session's queued messages, oldest first."""
        return await (await self._open()).queue.waiting(session_id)

    async def has_op(self, session_id: str, op_id: str) -> bool:
        """Whether the message with this op id is queued or has a turn."""
        return await (await self._open()).queue.knows(session_id, op_id)

    async def save_queued_op(
        self, session_id: str, op_id: str, op: UserMessage, *, events: Sequence[BaseEvent] = ()
    ) -> None:
        """Save a queued message, with its events."""
        await (await self._open()).queue.save(session_id, op_id, op, events)

    async def remove_queued_op(
        self, session_id: str, op_id: str, *, events: Sequence[BaseEvent] = ()
    ) -> bool:
        """Remove a queued message and save ``events``; False, without events, if there is none."""
        return await (await self._open()).queue.remove(session_id, op_id, events)

    async def hold_queued_ops(
        self, session_id: str, op_ids: Sequence[str], *, events: Sequence[BaseEvent]
    ) -> None:
        """Hold queued messages until the user sends them; saved with their events."""
        await (await self._open()).queue.hold(session_id, op_ids, events)

    # What is read and written by its own queries

    async def tutorials(self) -> Tutorials:
        """Progress of tutorials."""
        return (await self._open()).tutorials

    async def usage(self) -> UsageSums:
        """Usage of all sessions, and of calls that belong to none."""
        return (await self._open()).usage

    async def forks(self) -> Forks:
        """Forks of conversations."""
        return (await self._open()).forks

    async def withdrawals(self) -> Withdrawals:
        """Turns that the user went back to before, and the list of all prompts."""
        return (await self._open()).withdrawals

    async def answers(self) -> Answers:
        """Further answers of other models to a message."""
        return (await self._open()).answers

    async def compactions(self) -> Compactions:
        """What the model is sent of conversations: their newest compactions and later turns."""
        return (await self._open()).compactions

    async def datasets(self) -> DatasetQueries:
        """The tables of data sets."""
        return (await self._open()).datasets

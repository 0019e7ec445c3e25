"""A chat's session: its messages as turns, and replies to what they ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Protocol

from ...agent.approvals.pending import Audience
from ...agent.asker import PAGE
from ...agent.events.channel import SerializedEvent
from ...agent.request import AGENT_PREFIX, mentioned
from ...protocol.attachments import Attachment
from ...protocol.base import Mode, new_id
from ...protocol.errors import AgentError
from ...protocol.ops import Interrupt, Op, RunAction, UserMessage
from ...protocol.requests import ChatRequest
from ...protocol.turn_view import TurnView
from ..base.limits import check_message
from ..base.parts import Parts
from . import replies
from .transcript import Transcript

NOT_UNDERSTOOD = "I am waiting for an answer, and did not understand this one. "
RUN = "\n\nReply `run` to run it, or say what is to be different."


class Reader(Protocol):
    """The chat that a turn is shown in."""

    def write(self, text: str) -> None:
        """Add to the turn's message."""
        ...

    def begin(self) -> None:
        """Go on in a new message, below what others said meanwhile."""
        ...

    def status(self, text: str) -> None:
        """Show the current activity."""
        ...


class Conversation:
    """One chat. ``remember`` keeps the session's id with the chat."""

    def __init__(
        self, parts: Parts, session_id: str | None, remember: Callable[[str], None]
    ) -> None:
        self._parts = parts
        self._session_id = session_id
        self._remember = remember
        self._notebook: str | None = None
        self._view = TurnView()

    @property
    def waits(self) -> bool:
        """Whether the running turn waits for a reply."""
        return bool(self._view.questions)

    @property
    def usage(self) -> dict[str, Any]:
        """The tokens of the last turn, and of the session."""
        return self._view.usage

    async def send(
        self,
        text: str,
        reader: Reader,
        *,
        mode: Mode,
        model: str | None,
        attachments: list[Attachment],
        author: str | None,
        audience: Audience,
    ) -> None:
        """Carry out a message; ``author`` is its name where several people write."""
        proposal, self._view.proposal = self._view.proposal, None
        try:
            op: Op
            if proposal is not None and proposal["complete"] and replies.is_yes(text):
                op = RunAction(
                    proposal_id=proposal["proposalId"], parameters=replies.run_parameters(proposal)
                )
            else:
                request = await self._request(text, mode, model, attachments, author)
                op = UserMessage(request=request)
            await self._follow(op, reader, audience)
        except AgentError as error:
            reader.write(error.message)

    async def answer(self, text: str, author: str, reader: Reader) -> None:
        """Take a reply to what the running turn asks."""
        view = self._view
        key, event = next(iter(view.questions.items()))
        reader.begin()
        op = replies.answer(event, text, view.proposal)
        if op is None:
            reader.write(f"{NOT_UNDERSTOOD}{replies.how_to_answer(event)}")
            return
        del view.questions[key]
        view.decided_by = author
        assert self._session_id is not None
        try:
            await self._parts.sessions.submit(self._session_id, op, "page", PAGE)
        except AgentError as error:
            reader.write(error.message)

    async def interrupt(self) -> None:
        """Stop the running turn."""
        session = self._parts.sessions.loaded(self._session_id)
        if session is not None:
            session.submit(Interrupt())

    async def _request(
        self,
        text: str,
        mode: Mode,
        model: str | None,
        attachments: list[Attachment],
        author: str | None,
    ) -> ChatRequest:
        """The first notebook that is attached or mentioned is the one that the message works on,
        and so do later messages that name none."""
        runtime = self._parts.runtime
        notebooks = [each.path for each in attachments if each.kind == "notebook" and each.path]
        notebooks += [each for each in await mentioned(runtime, text) if each.endswith(".ipynb")]
        if notebooks:
            self._notebook = notebooks[0]
        elif self._notebook is not None and not await runtime.notebooks.exists(self._notebook):
            self._notebook = None
        if self._notebook is not None and not notebooks:
            attachments = [*attachments, Attachment(kind="notebook", path=self._notebook)]
        request = ChatRequest(
            message=signed(text, author),
            mode=mode,
            model=model,
            location="api",
            active_notebook=self._notebook,
            attachments=attachments,
        )
        check_message(request)
        return request

    async def _follow(self, op: Op, reader: Reader, audience: Audience) -> None:
        """Submit an op that starts a turn, and show the turn to its end."""
        session = await self._session()
        op_id = new_id("op")
        waiting: asyncio.Queue[SerializedEvent] = asyncio.Queue()
        leave = session.state.channel.listen(waiting.put_nowait)
        try:
            if isinstance(op, UserMessage):
                op.request.session_id = session.id
            await self._parts.sessions.submit(session.id, op, audience, PAGE, op_id)
            await self._show(waiting, op_id, reader)
        finally:
            leave()
            self._view.questions.clear()
            reader.status("")

    async def _session(self) -> Any:
        sessions = self._parts.sessions
        if self._session_id is not None:
            try:
                return await sessions.live(self._session_id)
            except AgentError as error:
                # Deleted in the panel: the chat goes on in a new one.
                if error.code != "not_found":
                    raise
        session = await sessions.begin()
        self._session_id = session.id
        self._remember(session.id)
        return session

    async def _show(
        self, waiting: asyncio.Queue[SerializedEvent], op_id: str, reader: Reader
    ) -> None:
        transcript = Transcript()
        turn_id: str | None = None
        usage, self._view = self._view.usage, transcript.view
        self._view.usage = usage
        while True:
            event = json.loads((await waiting.get()).text)
            kind = event["type"]
            if event.get("opId") == op_id:
                if kind == "turn_started":
                    turn_id = event["turnId"]
                elif kind == "error":
                    reader.write(event["message"])
                    return
                elif kind == "op_queued":
                    reader.status("waits for the turn before")
                elif kind == "op_dequeued" and event["reason"] == "removed":
                    reader.write("This message was removed from the queue.")
                    return
            if turn_id is None or event.get("turnId") != turn_id:
                continue
            if text := transcript.of(event):
                reader.write(text)
            if kind in ("status", "action_progress"):
                reader.status(self._view.activity)
            if self._view.ended:
                if self._view.proposal is not None and self._view.proposal["complete"]:
                    reader.write(RUN)
                return


def signed(text: str, author: str | None) -> str:
    """The message with its author's name, where there is one: not of a command, which is read as
    it is."""
    if author is None or text.lstrip().startswith("/"):
        return text
    prefix = AGENT_PREFIX.match(text)
    end = prefix.end() if prefix is not None else 0
    return f"{text[:end]}{author}: {text[end:]}"

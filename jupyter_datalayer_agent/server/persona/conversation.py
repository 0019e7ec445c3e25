"""The session of a chat: messages become turns, and replies answer the turns' questions."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from typing import Any, Protocol

from ...agent.asker import PAGE
from ...agent.events import SerializedEvent
from ...agent.request import mentioned
from ...protocol import ops
from ...protocol.approval_text import approval_parts, visible
from ...protocol.base import Audience, Mode, new_id
from ...protocol.context import Attachment
from ...protocol.errors import AgentError
from ...protocol.fences import fenced
from ...protocol.mcp import FormAnswer
from ...protocol.ops import Interrupt, Op, RunAction, UserMessage
from ...protocol.requests import AGENT_PREFIX, ChatRequest
from ...protocol.turn_view import GrowingText, TurnView, asks
from ..base.handler import Parts, check_message

# The chat message that shows a turn.


FLUSH_SECONDS = 0.2
"""Changes are gathered: at each, Jupyter AI sends the whole message and writes the chat's file."""


class ChatMessage:
    """See ``Reader``. ``persona`` is Jupyter AI's; ``message_class`` and ``new_class`` are Jupyter
    AI's classes for a message and a new message."""

    def __init__(self, persona: Any, message_class: Any, new_class: Any) -> None:
        self._persona = persona
        self._message_class = message_class
        self._new_class = new_class
        self._id: str | None = None
        self._pending = ""
        self._timer: Any = None

    def write(self, text: str) -> None:
        """Add to the message after ``FLUSH_SECONDS``, together with what comes until then."""
        self._pending += text
        if self._timer is None:
            self._timer = self._persona.event_loop.call_later(FLUSH_SECONDS, self.flush)

    def status(self, text: str) -> None:
        """Show the current activity beside the persona's name."""
        if text:
            self._persona.set_status(text)
        else:
            self._persona.clear_status()

    def begin(self) -> None:
        """Begin a new message, below what was said meanwhile."""
        self.flush()
        self._id = None

    def flush(self) -> None:
        """Add the pending text now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        text, self._pending = self._pending, ""
        if not text:
            return
        chat, sender = self._persona.chat, self._persona.id
        if self._id is None:
            self._id = chat.add_message(self._new_class(body=text.lstrip("\n"), sender=sender))
            return
        chat.update_message(
            self._message_class(
                id=self._id, body=text, time=time.time(), sender=sender, raw_time=False
            ),
            append=True,
            # A mention in an answer must not call another persona.
            trigger_actions=[],
        )


# The questions of a turn in a chat, and the meaning of the replies.


_APPROVE = re.compile(r"(approve|approved|allow|yes|y|ok|run)[.!]?", re.IGNORECASE)
_APPROVE_ALL = re.compile(
    r"(approve|allow) (all|always|for (the|this) (session|chat))[.!]?|always[.!]?", re.IGNORECASE
)
_DENY = re.compile(r"(deny|denied|reject|no|n|stop)\b[\s,.:!-]*(.*)", re.IGNORECASE | re.DOTALL)
_DECLINE = re.compile(r"(decline|deny|no|n|stop)[.!]?", re.IGNORECASE)
_SKIP = re.compile(r"skip[.!]?", re.IGNORECASE)

HOW_APPROVAL = (
    "Reply `approve`, `approve all` (for this chat) or `deny`, with a reason if you like."
)
HOW_PLAN = "Reply `approve` or `deny`."
HOW_FORM = "Answer in the agent's panel, or reply `decline`."
HOW_ACTION = "Reply `run`, `skip` or `deny`."


def how_to_answer(event: dict[str, Any]) -> str:
    """A sentence that says which replies are possible."""
    if event["type"] == "approval_requested":
        return HOW_APPROVAL
    if event.get("form") is not None:
        return HOW_FORM
    if event["type"] == "user_input_requested":
        options = event.get("options") or []
        return f"Reply with {', '.join(options)}." if options else "Reply with your answer."
    return HOW_ACTION if event["state"] == "waiting" else HOW_PLAN


def run_parameters(proposal: dict[str, Any]) -> dict[str, Any]:
    """The parameters' values of a proposed action, without missing ones."""
    return {each["name"]: each["value"] for each in proposal["parameters"] if each["found"]}


def is_yes(text: str) -> bool:
    """Whether a reply agrees."""
    return _APPROVE.fullmatch(text.strip()) is not None


def answer(event: dict[str, Any], text: str, proposal: dict[str, Any] | None) -> ops.Op | None:
    """The op for a reply, None if the reply is not an answer. ``proposal`` is the action that a
    plan waits for."""
    text = text.strip()
    if event.get("form") is not None:
        declined = FormAnswer(action="decline")
        is_declined = _DECLINE.fullmatch(text) is not None
        return (
            ops.UserInputAnswer(request_id=event["requestId"], form=declined)
            if is_declined
            else None
        )
    if event["type"] == "user_input_requested":
        return ops.UserInputAnswer(request_id=event["requestId"], answer=text)
    denied = _DENY.fullmatch(text)
    if event["type"] == "approval_requested":
        approval_id = event["approvalId"]
        if _APPROVE_ALL.fullmatch(text):
            return ops.ApprovalDecision(approval_id=approval_id, decision="approve_for_session")
        if is_yes(text):
            return ops.ApprovalDecision(approval_id=approval_id, decision="approve")
        if denied is not None:
            return ops.ApprovalDecision(
                approval_id=approval_id, decision="deny", feedback=denied[2].strip() or None
            )
        return None
    if denied is not None:
        return ops.PlanDecision(decision="reject")
    if event["state"] == "waiting":
        if _SKIP.fullmatch(text):
            return ops.PlanDecision(decision="skip")
        if is_yes(text) and proposal is not None and proposal["complete"]:
            return ops.RunAction(
                proposal_id=proposal["proposalId"], parameters=run_parameters(proposal)
            )
        return None
    return ops.PlanDecision(decision="approve") if is_yes(text) else None


# A turn's events as the Markdown of a chat message.


class Transcript:
    """The text of one turn, to which events only add."""

    def __init__(self) -> None:
        self.view = TurnView()
        self._text = GrowingText()
        self._has_plan = False

    def of(self, event: dict[str, Any]) -> str:
        """The text that the turn's next event adds."""
        added = [self._text.add(part) for part in self.view.take(event)]
        if asked := self._asked(event):
            added.append(self._text.paragraph(asked))
        return "".join(added)

    def _asked(self, event: dict[str, Any]) -> str:
        """The event's question or plan."""
        kind = event["type"]
        if kind == "plan_updated":
            return self._plan(event)
        if kind == "approval_requested":
            return _approval(event)
        if kind == "user_input_requested" and (form := event.get("form")) is not None:
            asked = f"**The MCP server {form['server']} asks you:**"
            return f"{asked}\n\n{fenced(event['question'])}\n\n{how_to_answer(event)}"
        if kind == "user_input_requested":
            return f"**{event['question']}**\n\n{how_to_answer(event)}"
        return ""

    def _plan(self, event: dict[str, Any]) -> str:
        """The plan, once and again when it waits for a decision; steps are shown as they run."""
        waits = asks(event)
        if self._has_plan and not waits:
            return ""
        self._has_plan = True
        if event.get("state") == "waiting":
            return how_to_answer(event)
        steps = [
            f"{number}. {step['description']}" for number, step in enumerate(event["steps"], 1)
        ]
        lines = ["**Plan**", "", *steps]
        return "\n".join([*lines, "", how_to_answer(event)] if waits else lines)


def _approval(event: dict[str, Any]) -> str:
    parts = [f"**Approval needed:** {visible(event['reason'])}"]
    for part in approval_parts(event):
        parts += [f"{part.heading}:"] if part.heading else []
        parts.append(fenced(part.text))
    return "\n\n".join([*parts, how_to_answer(event)])


NOT_UNDERSTOOD = "I am waiting for an answer and did not understand this one. "
RUN = "\n\nReply `run` to run it, or say what to change."


class Reader(Protocol):
    """The chat that shows a turn."""

    def write(self, text: str) -> None:
        """Add to the turn's message."""
        ...

    def begin(self) -> None:
        """Continue in a new message, below what others said meanwhile."""
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
        """Run a message as a turn; ``author`` is its author's name if several people write."""
        proposal, self._view.proposal = self._view.proposal, None
        try:
            op: Op
            if proposal is not None and proposal["complete"] and is_yes(text):
                op = RunAction(
                    proposal_id=proposal["proposalId"], parameters=run_parameters(proposal)
                )
            else:
                request = await self._request(text, mode, model, attachments, author)
                op = UserMessage(request=request)
            await self._follow(op, reader, audience)
        except AgentError as error:
            reader.write(error.message)

    async def answer(self, text: str, author: str, reader: Reader) -> None:
        """Take a reply to the running turn's question."""
        view = self._view
        key, event = next(iter(view.questions.items()))
        reader.begin()
        op = answer(event, text, view.proposal)
        if op is None:
            reader.write(f"{NOT_UNDERSTOOD}{how_to_answer(event)}")
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
        """The chat request for a message. It works on the first notebook that is attached or
        mentioned, and so do later messages that name none."""
        runtime = self._parts
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
                # The session was deleted in the panel: the chat continues in a new one.
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
                    reader.status("is waiting for the previous turn")
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
    """The message with its author's name, if given. A command stays as it is."""
    if author is None or text.lstrip().startswith("/"):
        return text
    prefix = AGENT_PREFIX.match(text)
    end = prefix.end() if prefix is not None else 0
    return f"{text[:end]}{author}: {text[end:]}"

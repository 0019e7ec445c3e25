"""A question to the Strategist: a turn that only reads the history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ...protocol import events
from ...protocol.history import Citation, StrategistReply
from ...protocol.requests import ChatReply
from ...settings.turn_settings import Settings, for_turn
from ...tools.gate import Gate, GatedTool, Refusal
from ..context.system_prompt import prompt_text
from ..history import History, Item, PastTurn, user_item
from ..message import Message
from ..request import TurnRequest
from ..state import SessionState
from ..turn.ends import TurnEnds
from ..turn.loop import Turn

if TYPE_CHECKING:
    from ...store.queries.history import HistoryQueries


# Checks the turns that an answer cites as ``[few words](turn:<turnId>)``.
#
# Models may invent ids. A link to an invented one becomes marked text.


SCHEME = "turn:"
NO_SUCH_TURN = "no such turn"

LONGEST = 500_000
"""Characters of an answer whose links are checked."""
_SPACE = r"\s{0,20}"
_TARGET = (
    rf"(?:<{_SPACE})?turn:(?://)?([^\s)>\]\"]{{0,100}}){_SPACE}"
    rf"(?:>{_SPACE})?(?:\"[^\"]{{0,200}}\"{_SPACE})?"
)
_LINK = re.compile(rf"!?\[([^\]\[]*)\]\({_SPACE}{_TARGET}\)", re.IGNORECASE)
# Other forms: <turn:id>, a definition for a reference, HTML, the bare scheme.
_OTHER = re.compile(r"<?\bturn:(?://)?([\w-]+)>?", re.IGNORECASE)


@dataclass(frozen=True)
class Cited:
    """An answer whose links all exist; ``unknown`` are the ids that were made up."""

    text: str
    citations: list[Citation]
    unknown: list[str]


async def check_citations(text: str, past: HistoryQueries) -> Cited:
    """Look up every turn that the text names, and remove links to those that do not exist."""
    if len(text) > LONGEST:
        return Cited(text, [], [])
    named = [*_ids(_LINK, text, 2), *_ids(_OTHER, _LINK.sub("", text), 1)]
    found = await past.citations(named) if named else []
    known = {citation.turn_id for citation in found}

    def link(match: re.Match[str]) -> str:
        label, turn_id = match.group(1).strip(), match.group(2)
        if turn_id in known:
            return f"[{label or 'turn'}]({SCHEME}{turn_id})"
        return f"{label} ({NO_SUCH_TURN})".strip()

    def bare(match: re.Match[str]) -> str:
        turn_id = match.group(1)
        return f"[turn]({SCHEME}{turn_id})" if turn_id in known else f"({NO_SUCH_TURN})"

    parts: list[str] = []
    end = 0
    for match in _LINK.finditer(text):
        parts += [_OTHER.sub(bare, text[end : match.start()]), link(match)]
        end = match.end()
    parts.append(_OTHER.sub(bare, text[end:]))
    unknown = [turn_id for turn_id in dict.fromkeys(named) if turn_id not in known]
    return Cited("".join(parts), found, unknown)


def _ids(pattern: re.Pattern[str], text: str, group: int) -> Iterable[str]:
    return (match.group(group) for match in pattern.finditer(text))


PROMPT = "strategist.md"
TOOLS = ("searchChatHistory", "getRecentTurns", "getTurnById", "getContextByProvenance")
MAX_CALLS = 5
MAX_EARLIER_QUESTIONS = 4
TOO_MUCH = (
    f"This question needs more than {MAX_CALLS} look-ups in the history, which is my limit. Ask a "
    "simpler one: about one thing, one conversation, or with a word that was used there."
)


class HistoryGate(Gate):
    """Allows the four history tools only."""

    def refusal(self, tool: GatedTool) -> Refusal | None:
        """See ``Gate.refusal``."""
        if tool.name in TOOLS:
            return None
        return Refusal(
            f"The Strategist cannot use {tool.name}: it only reads the history.",
            f"Its tools are {', '.join(TOOLS)}. The chat's Agent mode can do anything else.",
            "Not done: the Strategist only reads the history",
        )


def strategist_turn(
    session: SessionState, request: TurnRequest, message: Message
) -> StrategistTurn:
    """The turn that answers a question in the Strategist's session, whatever else it asks for."""
    base, remembered = session.runtime.settings(), session.record.settings
    settings = for_turn(base, remembered, message.op.request, "strategist")
    settings = settings.model_copy(update={"max_tool_calls": MAX_CALLS})
    request.mode = "ask"
    request.planned = False
    request.gate = HistoryGate(mode="ask", location=request.location)
    request.instructions = prompt_text(PROMPT)
    return StrategistTurn(session, request, settings, message)


class StrategistTurn(Turn):
    """Answers from the history. The text is shown once its citations are checked."""

    def __init__(
        self, session: SessionState, request: TurnRequest, settings: Settings, message: Message
    ) -> None:
        super().__init__(session, request, settings, message.audience, message.op_id)
        self.quiet = True
        self._cited = Cited("", [], [])

    async def _prepare(self) -> None:
        self.model = self.runtime.resolve_model(self.settings)
        self._keep_recent_questions()
        self._window.model = self.model
        self._statement.send(user_item(await self._context_text()))

    def _keep_recent_questions(self) -> None:
        """Send the last few questions with their answers, for follow-up questions, but without the
        results of their look-ups."""
        history = self.session.history
        most = min(MAX_EARLIER_QUESTIONS, self.settings.max_history_turns)
        turns = [PastTurn(turn.index, said(turn.items)) for turn in history.turns[-most:]]
        self.session.history = History(turns, None, history.calibration)

    async def _context_text(self) -> str:
        """When the question is asked, and from which conversation."""
        now = datetime.now(timezone.utc).strftime("%A, %Y-%m-%d %H:%M UTC")
        lines = [f"now: {now}"]
        asked_from = self.request.chat.about_session
        if asked_from is not None and asked_from != self.session.id:
            title = await self.runtime.store.past.title_of(asked_from)
            if title is not None:
                lines.append(f"asked from the conversation: sessionId {asked_from}, “{title}”")
        return "\n".join(["<context>", *lines, "</context>"])

    async def _complete(self) -> ChatReply:
        self._cited = await check_citations(self.record.reply, self.runtime.store.past)
        self.record.reply = self._cited.text
        await self.emit(events.FinalReply(text=self.record.reply, citations=self._cited.citations))
        return await self._end("completed", None)

    async def _end_early(self, end: TurnEnds) -> ChatReply:
        if end.reason == "tool_limit":
            end = TurnEnds(end.reason, TOO_MUCH)
        return await super()._end_early(end)

    def _reply_as(self, status: Any, error: Any) -> ChatReply:
        reply = super()._reply_as(status, error)
        return StrategistReply(
            **{name: getattr(reply, name) for name in ChatReply.model_fields},
            citations=self._cited.citations,
            unknown_citations=self._cited.unknown,
        )


def said(items: Sequence[Item]) -> list[Item]:
    """The messages, without calls, outputs and reasoning."""
    return [item for item in items if item.get("type") == "message"]

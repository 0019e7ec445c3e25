"""The history group: earlier messages, answers and tool calls, in any conversation. Read-only.

Results are cut, since a turn may be very long, and contain neither pictures nor data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from ...protocol.base import Wire
from ...protocol.errors import AgentError
from ...protocol.history import Provenance, ResponseType, SearchHit
from ...protocol.limits import MAX_SEARCHED_CHARACTERS
from ...protocol.requests import ToolCallRecord, Turn
from ..context import ToolContext, ToolFailure
from ..limits import at_least, clamped, no_longer_than
from ..outputs import OUTPUTS, ROW_DATA
from ..redaction import PrivateValue
from ..registry import ToolOutcome, tool

if TYPE_CHECKING:
    from ...store.queries.history import HistoryQueries

MAX_RESULTS = 50
MAX_CALLS = 20
MAX_CHANGES = 20
TEXT = 6_000
"""Characters of a message or an answer that is read on its own."""
GIST = 300
"""Characters of a message or an answer in a list."""
VALUE = 600
"""Characters of a call's arguments or output."""


class SearchChatHistory(Wire):
    """Arguments of ``searchChatHistory``."""

    query: Annotated[str, no_longer_than(MAX_SEARCHED_CHARACTERS)] = Field(min_length=1)
    limit: Annotated[int, clamped(1, MAX_RESULTS)] = 20
    session_id: str | None = None


class GetRecentTurns(Wire):
    """Arguments of ``getRecentTurns``: of this conversation, of ``session_id``'s, or of all."""

    limit: Annotated[int, clamped(1, MAX_RESULTS)] = 10
    session_id: str | None = None
    all_sessions: bool = False


class GetTurnById(Wire):
    """Arguments of ``getTurnById``: an id, or a ``number`` (from 1, as the user sees it) in this
    conversation or in that of ``session_id``. An id that is all digits is a number."""

    turn_id: str | None = None
    number: Annotated[int | None, at_least(1)] = None
    session_id: str | None = None

    @model_validator(mode="after")
    def _which(self) -> GetTurnById:
        if self.number is None and self.turn_id is not None and self.turn_id.isdecimal():
            self.number, self.turn_id = int(self.turn_id), None
        if (self.turn_id is None) == (self.number is None):
            raise ValueError("give turnId, or the number of a turn")
        return self


class GetContextByProvenance(Wire):
    """Arguments of ``getContextByProvenance``."""

    ai_turn_id: str
    provider_id: str
    response_type: ResponseType
    response_index: Annotated[int, at_least(0)] = 0


@tool(
    SearchChatHistory,
    group="history",
    label=("Search past conversations", "Searching past conversations"),
    parallel=True,
)
async def search_chat_history(args: SearchChatHistory, context: ToolContext) -> ToolOutcome:
    """Find text (also parts of words) in past messages, answers and code."""
    past = _past(context)
    # The message that is being answered is not a result.
    hits = await past.search(args.query, args.limit + 1, args.session_id)
    hits = [hit for hit in hits if hit.turn_id != context.turn_id][: args.limit]
    if not hits:
        return ToolOutcome({"results": []}, f"Nothing found for {args.query!r}")
    results = [_hit(hit) for hit in hits]
    return ToolOutcome({"results": results}, f"{len(hits)} found for {args.query!r}")


@tool(
    GetRecentTurns,
    group="history",
    label=("Read recent turns", "Reading recent turns"),
    parallel=True,
)
async def get_recent_turns(args: GetRecentTurns, context: ToolContext) -> ToolOutcome:
    """The newest turns of this conversation or, with allSessions, of all."""
    past, turns = _past(context), []
    session_id = None
    if not args.all_sessions:
        session_id = args.session_id or await _conversation(context)
    for turn_id in await past.recent(args.limit, session_id, without=context.turn_id):
        turn = await _turn(context, turn_id)
        turns.append(
            {
                **await _head(past, turn),
                "message": _cut(turn.message, GIST),
                "reply": _cut(_reply(turn), GIST),
                "tools": _names(turn.tool_calls),
            }
        )
    return ToolOutcome({"turns": turns}, f"{len(turns)} recent turns")


@tool(
    GetTurnById, group="history", label=("Read a past turn", "Reading a past turn"), parallel=True
)
async def get_turn_by_id(args: GetTurnById, context: ToolContext) -> ToolOutcome:
    """A past turn, whole, by id or by its number in this conversation."""
    turn_id = args.turn_id
    if args.number is not None:
        turn_id = await _numbered(context, args.number, args.session_id)
    assert turn_id is not None
    turn = await _turn(context, turn_id)
    output = {
        **await _head(_past(context), turn),
        "status": turn.status,
        "message": _cut(turn.message, TEXT),
        "reply": _cut(_reply(turn), TEXT),
        "provenance": [each.to_wire() for each in await _past(context).responses_of(turn.id)],
        **_answers(turn),
        "toolCalls": [_call(call) for call in turn.tool_calls[:MAX_CALLS]],
        "changes": [
            {"path": each.path, "op": each.op, "cellId": each.cell_id}
            for each in turn.changes[:MAX_CHANGES]
        ],
    }
    if (more := len(turn.tool_calls) - MAX_CALLS) > 0:
        output["moreToolCalls"] = more
    return ToolOutcome(output, f"Read a turn of {output['session']}")


@tool(
    GetContextByProvenance,
    group="history",
    label=("Read the context of a past answer", "Reading the context of a past answer"),
    parallel=True,
)
async def get_context_by_provenance(
    args: GetContextByProvenance, context: ToolContext
) -> ToolOutcome:
    """The answer with this provenance (see getTurnById), and its message."""
    key = Provenance(
        ai_turn_id=args.ai_turn_id,
        provider_id=args.provider_id,
        response_type=args.response_type,
        response_index=args.response_index,
    )
    try:
        found = await _past(context).response(key)
    except AgentError as error:
        raise _failure(error, "searchChatHistory and getTurnById find turns.") from error
    output = {
        "turnId": key.ai_turn_id,
        "sessionId": found.session_id,
        "session": found.session_title,
        "at": _time(found.created_at),
        "message": _cut(found.message, TEXT),
        "text": _cut(found.text, TEXT),
    }
    return ToolOutcome(output, f"Read an answer of {found.session_title}")


def _past(context: ToolContext) -> HistoryQueries:
    if context.past is None:
        raise ToolFailure("not_allowed", "The history is not available here.")
    return context.past


async def _conversation(context: ToolContext) -> str | None:
    """The conversation of the call; None if it has none, or if it is the Strategist's."""
    if context.session_id is None or await _past(context).kind_of(context.session_id) != "chat":
        return None
    return context.session_id


async def _numbered(context: ToolContext, number: int, session_id: str | None) -> str:
    """The id of the turn with this number in a conversation."""
    session_id = session_id or await _conversation(context)
    if session_id is None:
        raise ToolFailure(
            "invalid_arguments",
            "A turn's number is only valid within its conversation.",
            "Also give sessionId.",
        )
    try:
        return await _past(context).turn_at(session_id, number)
    except AgentError as error:
        raise _failure(error, "getRecentTurns lists the numbers of the newest turns.") from error


async def _turn(context: ToolContext, turn_id: str) -> Turn:
    try:
        return await _past(context).turn(turn_id)
    except AgentError as error:
        raise _failure(error, "Turn ids come from searchChatHistory and getRecentTurns.") from error


def _failure(error: AgentError, hint: str) -> ToolFailure:
    return ToolFailure(
        "not_found" if error.code == "not_found" else "internal", error.message, hint
    )


async def _head(past: HistoryQueries, turn: Turn) -> dict[str, Any]:
    return {
        "turnId": turn.id,
        "number": turn.index + 1,
        "sessionId": turn.session_id,
        "session": await past.title_of(turn.session_id),
        "at": _time(turn.started_at),
        **({} if turn.withdrawn_at is None else {"takenBack": True}),
    }


def _hit(hit: SearchHit) -> dict[str, Any]:
    return {
        "turnId": hit.turn_id,
        "sessionId": hit.session_id,
        "session": hit.session_title,
        "role": hit.role,
        **({} if hit.path is None else {"writtenTo": hit.path}),
        "at": _time(hit.created_at),
        "snippet": hit.snippet,
    }


def _call(call: ToolCallRecord) -> dict[str, Any]:
    # Outputs are stored whole, whatever the model was sent at the time. The current settings
    # decide, but data withheld in its own conversation stays withheld. Rows cannot be told apart
    # from other outputs here.
    result = call.output
    shown: Any = _short(_said(result), VALUE)
    if isinstance(result, dict) and result.get("withheld"):
        shown = f"[output of {call.name} withheld by the setting]"
    what = f"output of {call.name}"
    return {
        "name": call.name,
        "arguments": _short(call.arguments, VALUE),
        "status": call.status,
        "output": PrivateValue(shown, OUTPUTS | ROW_DATA, what) if shown else "",
    }


def _said(result: Any) -> Any:
    """The output of a stored result, with its error if it failed."""
    if not isinstance(result, dict) or "ok" not in result:
        return result
    if result["ok"]:
        return result.get("output")
    error = result.get("error") or {}
    said = {"error": error.get("message"), "output": result.get("output")}
    return {key: value for key, value in said.items() if value is not None}


def _short(value: Any, room: int) -> Any:
    """A JSON value whose texts are cut so that it has about ``room`` characters. It stays JSON,
    since JSON within a string has each quote escaped; one with too many parts is cut as text."""
    whole = _text(value)
    if len(whole) <= room or isinstance(value, str):
        return _cut(value, room) if isinstance(value, str) else value
    for most in (room // 2, room // 4, 80, 40):
        cut = _with_cut_texts(value, most)
        if len(_text(cut)) <= room:
            return cut
    return _cut(whole, room)


def _with_cut_texts(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return _cut(value, most)
    if isinstance(value, dict):
        return {key: _with_cut_texts(each, most) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_cut_texts(each, most) for each in value]
    return value


def _reply(turn: Turn) -> str:
    """The answer; for a comparison, the one from which the conversation continued."""
    chosen = (each.text for each in turn.answers if each.answer_id == turn.chosen_answer)
    return turn.reply or next(chosen, "")


def _answers(turn: Turn) -> dict[str, Any]:
    """What other models answered to the same message."""
    answers = [
        {
            "model": each.model,
            "text": _cut(each.text, TEXT),
            "provenance": each.provenance.to_wire(),
        }
        for each in turn.answers
    ]
    return {"furtherAnswers": answers} if answers else {}


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _names(calls: Iterable[ToolCallRecord]) -> list[str]:
    return list(dict.fromkeys(call.name for call in calls))


def _cut(text: str, limit: int) -> str:
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{text[:limit]} [... {left_out} more characters]"


def _time(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return moment.strftime("%Y-%m-%d %H:%M UTC")


TOOLS = [search_chat_history, get_recent_turns, get_turn_by_id, get_context_by_provenance]

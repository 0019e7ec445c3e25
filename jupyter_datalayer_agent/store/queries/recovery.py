"""Ends the turns of a server that died: what they had stays, and everybody can see the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.base import now_ms
from ...protocol.events import BaseEvent, ToolCallOutput, TurnAborted
from ...protocol.requests import ToolCallRecord, Usage
from ...protocol.turn_view import PLAN_WAITS
from .. import schema
from ..encoding import from_json, plain_text, to_json
from ..file.driver import Connection, in_thread
from .answers import keep_answer
from .event_log import save_events, shown_texts
from .statements import run_all, turn_statements

ABORTED: Literal["aborted"] = "aborted"
END_STATUS = {"turn_completed": "completed", "turn_aborted": ABORTED}
EVENTS = schema.events.c
TURNS = schema.turns.c

IsOver = Callable[[str, str], bool]
"""Of a turn id and its server id: whether that turn is orphaned."""
IsLost = Callable[[str], bool]
"""Of a turn id: whether it cannot be resumed again, whatever it waits for."""


async def recover_session(
    connection: AsyncConnection, session_id: str, is_over: IsOver, is_lost: IsLost
) -> str | None:
    """End the session's running turn if it is orphaned; its id, or None.

    A turn that waits for the user is left as it is, to be resumed when its session is loaded.
    """
    statement = sa.select(TURNS.id, TURNS.server_id, TURNS.first_seq, TURNS.duration_ms).where(
        TURNS.session_id == session_id, TURNS.status == "running"
    )
    row = (await connection.execute(statement)).one_or_none()
    if row is None or not is_over(row.id, row.server_id):
        return None
    turn = await _DeadTurn.load(connection, session_id, row)
    if turn.waits and not is_lost(row.id):
        return None
    await turn.end(connection)
    return turn.turn_id


async def read_events(
    connection: AsyncConnection, session_id: str, turn_id: str, first_seq: int
) -> list[dict[str, Any]]:
    """The events of a session's last turn, in order."""
    events = await connection.scalars(
        sa.select(EVENTS.data)
        .where(
            EVENTS.session_id == session_id,
            EVENTS.seq >= first_seq,
            EVENTS.turn_id == turn_id,
        )
        .order_by(EVENTS.seq)
    )
    return [from_json(event) for event in events]


def open_wait(events: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The event that asks the user, where the turn did nothing since: an approval, a question,
    or a plan that waits. Not a form, whose MCP server has ended with its call."""
    shown = [event for event in events if event["type"] != "status"]
    if not shown:
        return None
    last = shown[-1]
    if last["type"] in ("approval_requested", "user_input_requested"):
        return last if last.get("form") is None else None
    waits = last["type"] == "plan_updated" and last.get("state") in PLAN_WAITS
    return last if waits else None


class _DeadTurn:
    """A turn that was running when its server died, as the database has it."""

    def __init__(
        self,
        session_id: str,
        turn_id: str,
        duration_ms: float,
        events: list[dict[str, Any]],
        items: list[dict[str, Any]],
        calls: dict[str, str],
    ) -> None:
        """``duration_ms`` is how long it is known to have worked: at what it stored last."""
        self.session_id = session_id
        self.turn_id = turn_id
        self._duration_ms = duration_ms
        self._events = events
        self._items = items
        self._running_calls = calls

    @classmethod
    async def load(cls, connection: AsyncConnection, session_id: str, row: Any) -> _DeadTurn:
        """Read what the turn had. It is the session's last one."""
        turn_id = row.id
        events = await read_events(connection, session_id, turn_id, row.first_seq)
        items = await connection.scalars(
            sa.select(schema.items.c.data)
            .where(schema.items.c.turn_id == turn_id)
            .order_by(schema.items.c.id)
        )
        calls = await connection.execute(
            sa.select(schema.tool_calls.c.call_id, schema.tool_calls.c.name).where(
                schema.tool_calls.c.turn_id == turn_id, schema.tool_calls.c.status == "running"
            )
        )
        return cls(
            session_id,
            turn_id,
            row.duration_ms or 0,
            events,
            [from_json(item) for item in items],
            {row.call_id: row.name for row in calls},
        )

    @property
    def waits(self) -> bool:
        """Whether it waits for the user, and so can be resumed."""
        return open_wait(self._events) is not None

    async def end(self, connection: AsyncConnection) -> None:
        """Answer what is unanswered, keep what was shown, and mark the turn."""
        calls = [
            ToolCallRecord(call_id=call_id, name=name, status=ABORTED, output=ABORTED)
            for call_id, name in self._running_calls.items()
        ]
        items = self._missing_outputs() + self._missing_messages()
        statements = turn_statements(self.session_id, self.turn_id, items=items, tool_calls=calls)
        ends = self._end_events()

        def write(raw: Connection) -> None:
            run_all(raw, statements)
            save_events(raw, self.session_id, self.turn_id, ends)

        await in_thread(connection, write)
        await connection.execute(
            sa.update(schema.turns).where(TURNS.id == self.turn_id),
            {
                "status": self._status(),
                "reply": plain_text(self._reply()),
                "usage": to_json((await self._usage(connection)).to_wire()),
                "duration_ms": self._duration_ms,
                "ended_at": max([event["at"] for event in self._events], default=0) or now_ms(),
            },
        )
        await in_thread(connection, lambda raw: keep_answer(raw, self.turn_id))

    def _end_event(self) -> dict[str, Any] | None:
        return next((event for event in self._events if event["type"] in END_STATUS), None)

    def _status(self) -> str:
        end = self._end_event()
        return ABORTED if end is None else END_STATUS[end["type"]]

    def _missing_outputs(self) -> list[dict[str, Any]]:
        answered = {
            item.get("call_id")
            for item in self._items
            if item.get("type") == "function_call_output"
        }
        return [
            {"type": "function_call_output", "call_id": item["call_id"], "output": ABORTED}
            for item in self._items
            if item.get("type") == "function_call" and item["call_id"] not in answered
        ]

    def _missing_messages(self) -> list[dict[str, Any]]:
        """The answer texts that were shown and whose items had not come to their end."""
        messages = [item for item in self._items if item.get("role") == "assistant"]
        ids = {item.get("id") for item in messages}
        texts = {_text(item) for item in messages}
        return [
            _message(text)
            for item_id, text in shown_texts(self._events).items()
            if item_id not in ids and text not in texts
        ]

    def _reply(self) -> str:
        final = [event["text"] for event in self._events if event["type"] == "final_reply"]
        return final[-1] if final else "\n\n".join(shown_texts(self._events).values())

    def _end_events(self) -> list[BaseEvent]:
        """The events that a page which reloads still needs."""
        if self._end_event() is not None:
            return []
        answered = {e["callId"] for e in self._events if e["type"] == "tool_call_output"}
        began = [event for event in self._events if event["type"] == "tool_call_started"]
        answers = {event["callId"]: event.get("answerId") for event in began}
        started = {event["callId"]: event["name"] for event in began}
        open_calls = {**started, **self._running_calls}
        events: list[BaseEvent] = [
            ToolCallOutput(
                call_id=call_id,
                name=name,
                status=ABORTED,
                output=ABORTED,
                answer_id=answers.get(call_id),
            )
            for call_id, name in open_calls.items()
            if call_id not in answered
        ]
        events.append(TurnAborted(reason="shutdown", duration_ms=self._duration_ms))
        return events

    async def _usage(self, connection: AsyncConnection) -> Usage:
        """The sum of the turn's model calls."""
        usage = schema.usage.c
        names = ("input_tokens", "output_tokens", "cached_tokens", "total_tokens")
        sums = [sa.func.coalesce(sa.func.sum(usage[name]), 0).label(name) for name in names]
        statement = sa.select(
            *sums,
            sa.select(schema.sessions.c.session_tokens)
            .where(schema.sessions.c.id == self.session_id)
            .scalar_subquery()
            .label("session_tokens"),
            sa.select(schema.sessions.c.session_cost)
            .where(schema.sessions.c.id == self.session_id)
            .scalar_subquery()
            .label("session_cost"),
            sa.func.sum(usage.cost).label("cost"),
            sa.func.coalesce(sa.func.max(usage.estimated), 0).label("estimated"),
        ).where(usage.turn_id == self.turn_id)
        row = (await connection.execute(statement)).one()
        return Usage(**row._mapping)


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def _text(item: dict[str, Any]) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or [])

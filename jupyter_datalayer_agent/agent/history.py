"""The conversation that the model is sent before the current message.

Items stand byte for byte as they were sent the first time, so that a provider's prompt cache hits
from turn to turn. When a chat is longer than ``max_history_turns``, the oldest turns are dropped
in one go down to half of it, not one by one at every turn, for the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..store.store import Store

Item = dict[str, Any]

ENDED_EARLY = {
    "interrupted": "The person stopped the turn here, before it was finished.",
    "replaced": "The person stopped the turn here to send another message.",
    "shutdown": "The server stopped here, before the turn was finished.",
    "token_limit": "The turn ended here: the token limit was reached.",
    "tool_limit": "The turn ended here: the limit of tool calls was reached.",
    "error": "The turn ended here, with an error of the model or the server.",
}


def user_item(text: str) -> Item:
    """A user message as a Responses input item."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def assistant_item(text: str) -> Item:
    """An answer as a Responses input item."""
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }


def note_item(reason: str) -> Item:
    """What the next turn's history says of a turn that ended early."""
    return user_item(f"[{ENDED_EARLY[reason]}]")


def output_item(call_id: str, output: str) -> Item:
    """A tool's answer as a Responses input item."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def unanswered(items: Sequence[Item]) -> list[Item]:
    """The calls that have no output yet, in order."""
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    return [
        item
        for item in items
        if item.get("type") == "function_call" and item["call_id"] not in answered
    ]


@dataclass
class History:
    """The turns that are still sent, each a list of items; the newest last."""

    turns: list[list[Item]] = field(default_factory=list)

    def items(self) -> list[Item]:
        """All items in order."""
        return [item for turn in self.turns for item in turn]

    def add(self, items: Sequence[Item]) -> None:
        """A turn ended."""
        self.turns.append(list(items))

    def note(self, item: Item) -> None:
        """Something happened after the newest turn that the model has to know."""
        if self.turns:
            self.turns[-1].append(item)
        else:
            self.turns.append([item])

    def trim(self, max_turns: int) -> tuple[int, int] | None:
        """Drop the oldest turns when there are more than ``max_turns``; counts before and after."""
        before = len(self.turns)
        if before <= max_turns:
            return None
        keep = max(1, (max_turns + 1) // 2)
        del self.turns[: before - keep]
        return before, keep


async def read_history(
    store: Store, session_id: str, max_turns: int, *, without: str | None = None
) -> History:
    """The turns that are sent, as the database has them, but for the one named ``without``."""
    history = History()
    for turn in await store.history(session_id, max_turns):
        if turn.turn_id == without:
            continue
        items: list[Item] = list(turn.items)
        if turn.aborted_reason is not None:
            items.append(note_item(turn.aborted_reason))
        history.add(items)
    return history

"""Caches how a conversation's items were mapped, so that a request only maps the new ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..protocol.sharing import PRIVATE_NOTE
from .chat_messages import ChatMessages, Message, thinking_blocks
from .types import Item


class ItemMapper:
    """Belongs to one conversation. Items are compared in order; from the first that differs on, all
    are mapped again.

    Its results must not be modified.
    """

    def __init__(self) -> None:
        self._form: Any = None
        self._items: list[Item] = []
        self._made: list[dict[str, Any]] = []
        # Counts of items and of what was made of them, where what follows changes nothing before.
        self._cuts: list[tuple[int, int]] = []

    def chat(self, items: Sequence[Item], *, thinking: bool) -> list[Message]:
        """The items as messages of chat completions, without a system prompt."""
        start, made = self._known(("chat", thinking), items)
        conversation = ChatMessages(thinking)
        for place in range(start, len(items)):
            if conversation.is_settled:
                self._cuts.append((place, len(made) + len(conversation.messages)))
            conversation.add(items[place])
        self._made = made + conversation.finished()
        return list(self._made)

    def responses(self, items: Sequence[Item]) -> list[Item]:
        """The items as the Responses API takes them."""
        start, made = self._known("responses", items)
        self._made = made + input_items(items[start:])
        self._cuts.append((len(items), len(self._made)))
        return list(self._made)

    def _known(self, form: Any, items: Sequence[Item]) -> tuple[int, list[dict[str, Any]]]:
        """The number of items that need not be mapped again, and their messages."""
        same = _same(self._items, items) if form == self._form else 0
        self._form, self._items = form, list(items)
        while self._cuts and self._cuts[-1][0] > same:
            self._cuts.pop()
        start, count = self._cuts[-1] if self._cuts else (0, 0)
        return start, self._made[:count]


def _same(before: Sequence[Item], items: Sequence[Item]) -> int:
    """The length of the common prefix."""
    count = 0
    for one, other in zip(before, items, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count


def input_items(items: Iterable[Item]) -> list[Item]:
    """Items as they can be sent to the Responses API with ``store: false``.

    The server stored none of them, so ids are left out, and a reasoning item is only useful with
    its encrypted content."""
    sent = []
    for item in items:
        reasoning = item.get("type") == "reasoning"
        if reasoning and (not item.get("encrypted_content") or thinking_blocks(item)):
            continue
        left_out = {"status", PRIVATE_NOTE} | (set() if reasoning else {"id"})
        sent.append({name: value for name, value in item.items() if name not in left_out})
    return sent

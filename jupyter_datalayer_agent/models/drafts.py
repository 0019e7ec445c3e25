"""What an answer is put together from, whichever API it comes over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .types import BrokenStream, Item, ItemDone, StreamEvent


@dataclass
class AnswerDraft:
    """An item of which something has arrived."""

    kind: str
    text: str = ""
    name: str = ""
    call_id: str = ""
    item: Item | None = None
    """The whole item, once it has ended."""


class Assembler(Protocol):
    """Feed it litellm's events; it yields ours, and knows what was whole if the stream breaks."""

    ended: bool
    """All of a complete answer has arrived: nothing needs to be read any more."""

    def feed(self, event: Any) -> Iterator[StreamEvent]:
        """The events that follow from one of litellm's."""
        ...

    def feed_whole(self, response: Any) -> Iterator[StreamEvent]:
        """The events of an answer that was not streamed."""
        ...

    def is_whole(self, source: Any) -> bool:
        """Whether what litellm's stream ``source`` gave, now that it is read, is a complete
        answer."""
        ...

    def finish(self) -> Iterator[StreamEvent]:
        """What remains to be emitted once the end of the stream is known to be sound."""
        ...

    def recover(self) -> Iterator[ItemDone]:
        """The items that were whole when the stream broke and have not been announced yet."""
        ...

    def broken(self) -> BrokenStream:
        """What was whole, and what was not, after ``recover``."""
        ...


def broken_stream(drafts: dict[str, AnswerDraft]) -> BrokenStream:
    """What is whole of these, by item id, and what is not."""
    whole = [draft.item for draft in drafts.values() if draft.item is not None]
    partial = [item_id for item_id, draft in drafts.items() if draft.item is None]
    return BrokenStream(tuple(whole), tuple(partial))


def text_of(item: Item) -> str:
    """The text of a message item, a refusal included."""
    parts = item.get("content") or []
    return "".join(part.get("text") or part.get("refusal") or "" for part in parts)

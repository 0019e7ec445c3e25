"""Drafts of an answer's items, for both APIs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..protocol.limits import MAX_ANSWER_CHARACTERS
from .types import BrokenStream, Item, StreamEvent


@dataclass
class AnswerDraft:
    """An incomplete item."""

    kind: str
    name: str = ""
    call_id: str = ""
    item: Item | None = None
    """The complete item, once it has ended."""
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self._pieces) > 1:
            self._pieces[:] = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def last_piece(self) -> str:
        """What was added last; joining a long text for each of its pieces would take minutes."""
        return self._pieces[-1] if self._pieces else ""

    def add(self, text: str) -> None:
        """The text goes on."""
        self._pieces.append(text)


@dataclass
class AnswerSize:
    """Characters of an answer, up to ``MAX_ANSWER_CHARACTERS``."""

    is_over: bool = False
    _left: int = MAX_ANSWER_CHARACTERS

    def take(self, text: str) -> str:
        """The part of a text that still fits."""
        self.is_over = self.is_over or len(text) > self._left
        kept = text[: self._left]
        self._left -= len(kept)
        return kept


class Assembler(Protocol):
    """Turns litellm's events into the agent's, and keeps complete items if the stream breaks."""

    @property
    def ended(self) -> bool:
        """Whether the whole answer has arrived, so that reading can stop."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether the answer is longer than what is read of one."""
        ...

    def feed(self, event: Any) -> Iterator[StreamEvent]:
        """The events that follow from one of litellm's."""
        ...

    def feed_whole(self, response: Any) -> Iterator[StreamEvent]:
        """The events of an answer that was not streamed."""
        ...

    def is_whole(self, source: Any) -> bool:
        """Whether litellm's stream ``source``, read to its end, was a complete answer."""
        ...

    def has_reason(self, source: Any) -> bool:
        """Whether litellm's stream ``source`` said why the answer ended, so that nothing is missing
        whatever happens next."""
        ...

    def may_be_whole(self) -> bool:
        """Whether nothing is known to be missing: the server may end its answers without saying
        so."""
        ...

    def was_shown(self) -> bool:
        """Whether the user has seen a message that is known to be complete, and nothing was begun
        after it."""
        ...

    def end_as(self, reason: str) -> None:
        """Take the answer as it is, with this finish reason."""
        ...

    def finish(self) -> Iterator[StreamEvent]:
        """The remaining events, once the stream is known to have ended properly."""
        ...

    def recover(self) -> Iterator[StreamEvent]:
        """The items that were complete when the stream broke and have not been announced yet."""
        ...

    def broken(self) -> BrokenStream:
        """The complete and the incomplete items, after ``recover``."""
        ...


def broken_stream(drafts: dict[str, AnswerDraft]) -> BrokenStream:
    """The complete and the incomplete ones of these, by item id."""
    whole = [draft.item for draft in drafts.values() if draft.item is not None]
    partial = [item_id for item_id, draft in drafts.items() if draft.item is None]
    return BrokenStream(tuple(whole), tuple(partial))


def text_of(item: Item) -> str:
    """The text of a message item, a refusal included."""
    parts = item.get("content") or []
    return "".join(part.get("text") or part.get("refusal") or "" for part in parts)

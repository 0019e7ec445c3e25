"""Separates the reasoning that a model writes into its text from its answer.

Servers that do not know a model's format pass on all that it writes: ``<think>…</think>`` before
the answer, the same without its opening where the chat template has written that, or the channels
of gpt-oss (harmony). Reasoning stands at the beginning of an answer only; what looks like it
further on is text. A closing mark without an opening tells that all text before it was reasoning:
what was shown of it is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from ..protocol.json_text import plain_text
from .drafts import Assembler, text_of
from .types import (
    BrokenStream,
    Item,
    ItemDone,
    ItemTakenBack,
    ReasoningChunk,
    ResponseDone,
    StreamEvent,
    TextChunk,
)

MARKS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "◁think▷": "◁/think▷",
    "[THINK]": "[/THINK]",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
}
"""What models write around their reasoning, as their chat templates and the reasoning parsers of
vLLM and SGLang have it."""
OPENED_ALONE = {"analysis": "assistantfinal"}
"""Harmony's channels where the server leaves out special tokens. The first is a word as well, so it
counts only once the second follows."""

# Harmony: https://cookbook.openai.com/articles/openai-harmony
_HEADER = ("<|start|>assistant", "<|channel|>", "assistant<|channel|>")
_MESSAGE = "<|message|>"
_ENDS = ("<|end|>", "<|return|>")
_NEXT = ("<|start|>", "<|channel|>")
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_LONGEST_HEADER = 200

_CLOSINGS = tuple(MARKS.values())
_HARMONY_CLOSINGS = (*_ENDS, *_NEXT)
_LONGEST = max(map(len, (*_CLOSINGS, *OPENED_ALONE.values(), *_HARMONY_CLOSINGS)))
# Those in lists and quotations as well.
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})", re.MULTILINE)
_MOST_CLOSINGS = 100
"""Closing marks of an answer that are looked at, for each of which the text before it is read."""
_LONGEST_BEGINNING = 1_000
"""White space before an answer, at most."""


class Kind(Enum):
    """What a piece of a text is."""

    TEXT = "text"
    THOUGHT = "thought"
    TEXT_TAKEN_BACK = "text taken back"
    """All text so far was reasoning, which follows."""
    THOUGHT_TAKEN_BACK = "thought taken back"
    """All reasoning so far was text, which follows."""


class Piece(NamedTuple):
    """A piece of a text, as it is to be shown."""

    kind: Kind
    text: str = ""


class _State(Enum):
    START = "start"
    THOUGHT = "thought"
    TEXT = "text"
    REST = "rest"
    """Nothing that follows is reasoning."""


class ThoughtReader:
    """Reads one text as it streams. ``implied`` is the closing mark of a model that is known to
    begin with reasoning without an opening. ``is_about_marks``: the user wrote of such marks, so
    only those count that stand on lines of their own.

    ``bare`` is the closing mark that ended reasoning without an opening; ``is_contradicted``: the
    text is not that of a model for which one is ``implied``."""

    def __init__(self, implied: str | None = None, *, is_about_marks: bool = False) -> None:
        self.bare: str | None = None
        self.is_contradicted = False
        self._implied = implied
        self._strict = is_about_marks
        # On lines of their own, where only such count.
        self._marks = {f"{a}\n": f"\n{b}" for a, b in MARKS.items()} if is_about_marks else MARKS
        self._state = _State.START
        self._held = ""
        self._closings: Sequence[str] = ()
        self._is_implied = self._is_harmony = self._has_marks = False
        # A word that was taken for an opening.
        self._opening = ""
        # Openings within the reasoning whose closings may still follow.
        self._nested = 0
        self._closings_seen = 0
        self._text: list[str] = []
        self._thought: list[str] = []

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._text)

    @property
    def thought(self) -> str:
        """The reasoning so far."""
        return "".join(self._thought)

    def feed(self, delta: str) -> Iterator[Piece]:
        """What can be shown now that the text goes on with ``delta``."""
        self._held += delta
        yield from self._read(is_end=False)

    def end(self, *, is_cut: bool = False) -> Iterator[Piece]:
        """What was held back. ``is_cut``: the text ended at a limit."""
        yield from self._read(is_end=True)
        if self._is_implied and self._state is _State.THOUGHT and not is_cut:
            self.is_contradicted = True
            text = self._opening + self.thought
            self._thought.clear()
            yield Piece(Kind.THOUGHT_TAKEN_BACK)
            yield from self._say(text)

    def _read(self, *, is_end: bool) -> Iterator[Piece]:
        while self._held:
            before = self._state, len(self._held)
            match self._state:
                case _State.START:
                    self._start(is_end)
                case _State.THOUGHT:
                    yield from self._think(is_end)
                case _State.TEXT:
                    yield from self._answer(is_end)
                case _State.REST:
                    text, self._held = self._held, ""
                    yield from self._say(text)
            if (self._state, len(self._held)) == before:
                return

    # -- the beginning -------------------------------------------------------------------------

    def _start(self, is_end: bool) -> None:
        text = self._held.lstrip()
        for opening, closing in self._marks.items():
            if text.startswith(opening):
                self._held = text[len(opening.strip()) :]
                self._has_marks = self.is_contradicted = True
                self._begin_thought((closing,))
                return
        if self._take_header(text):
            return
        marks = (*self._marks, *OPENED_ALONE, *_HEADER, *(_ENDS if self._is_harmony else ()))
        may_open = any(mark.startswith(text) for mark in marks)
        has_header = text.startswith(_HEADER) and len(text) < _LONGEST_HEADER
        is_short = len(self._held) < _LONGEST_BEGINNING
        if not is_end and is_short and (may_open or has_header):
            return
        if self._is_harmony and text.startswith(_HARMONY_CLOSINGS):
            # A special token, and no text.
            self._held = text[text.index("|>") + 2 :]
        elif not text and self._has_marks:
            self._held = ""
        elif text and self._implied is not None and not self._has_marks and self._implies(text):
            self._begin_unmarked(text, self._implied)
        elif self._is_harmony:
            self._begin_text(_HARMONY_CLOSINGS)
        else:
            follows = [closing for word, closing in OPENED_ALONE.items() if text.startswith(word)]
            self._begin_text((*_CLOSINGS, *follows))

    def _implies(self, text: str) -> bool:
        """Whether the text begins as one of a model that ends its reasoning with ``implied``."""
        return self._implied not in _ALONE or text.startswith(_ALONE[self._implied])

    def _begin_unmarked(self, text: str, implied: str) -> None:
        self._opening = _ALONE.get(implied, "")
        self._held = text.removeprefix(self._opening)
        closing = f"\n{implied}" if self._strict and implied not in _ALONE else implied
        self._begin_thought((closing,), is_implied=True)

    def _begin_text(self, closings: Sequence[str]) -> None:
        self._state, self._closings = _State.TEXT, closings
        if self._text:
            self._held = f"\n\n{self._held.lstrip()}"
        elif self._has_marks:
            self._held = self._held.lstrip()

    def _begin_thought(self, closings: Sequence[str], *, is_implied: bool = False) -> None:
        self._state, self._closings, self._is_implied = _State.THOUGHT, closings, is_implied
        if self._thought:
            self._held = f"\n\n{self._held.lstrip()}"

    def _take_header(self, text: str) -> bool:
        """Whether the text begins with harmony's header of a message, which is taken off it. One
        of a call stays, for whoever reads calls that are written as text."""
        at = text.find(_MESSAGE) if text.startswith(_HEADER) else -1
        channel = _CHANNEL.search(text, 0, at) if 0 <= at < _LONGEST_HEADER else None
        if channel is None:
            return False
        self._is_harmony = self._has_marks = True
        if " to=" in text[:at]:
            self._state = _State.REST
            self._held = text.removeprefix("<|start|>assistant").removeprefix("assistant").lstrip()
        else:
            self._held = text[at + len(_MESSAGE) :]
            if channel[1] == "analysis":
                self._begin_thought(_HARMONY_CLOSINGS)
            else:
                self._begin_text(_HARMONY_CLOSINGS)
        return True

    # -- reasoning -----------------------------------------------------------------------------

    def _think(self, is_end: bool) -> Iterator[Piece]:
        at, closing = _first(self._held, self._closings)
        if closing:
            thought, self._held = self._held[:at], self._held[at + len(closing) :]
            yield from self._reason(thought)
            if closing in _NEXT:
                self._held = closing + self._held
            if self._is_implied:
                self.bare, self._is_implied = closing.strip(), False
            self._nested = self.thought.count(_opening_of(closing))
            self._has_marks = True
            self._restart()
            return
        kept = 0 if is_end else _begun(self._held, self._closings)
        thought = self._held[: len(self._held) - kept]
        self._held = self._held[len(thought) :]
        yield from self._reason(thought)

    def _restart(self) -> None:
        """A mark has ended a part; another may begin."""
        self._closings_seen += 1
        is_enough = self._closings_seen >= _MOST_CLOSINGS
        self._state = _State.REST if is_enough else _State.START

    def _reason(self, thought: str) -> Iterator[Piece]:
        if not self._thought:
            thought = thought.lstrip()
        if thought:
            self._thought.append(thought)
            yield Piece(Kind.THOUGHT, thought)

    # -- the answer ----------------------------------------------------------------------------

    def _answer(self, is_end: bool) -> Iterator[Piece]:
        at, closing = _first(self._held, self._closings)
        if not closing or self._is_harmony:
            kept = 0 if is_end else _begun(self._held, self._closings)
            end = at if closing else len(self._held) - kept
            text, self._held = self._held[:end], self._held[end:]
            if closing:
                self._restart()
            yield from self._say(text)
            return
        rest = self._held[at + len(closing) :]
        shown = self.text
        before = shown + self._held[:at]
        if not rest and not is_end:
            # What follows decides.
            yield from self._say(self._held[:at])
            self._held = closing
            return
        if not self._ends_thought(before, closing, rest):
            yield from self._say(self._held[: at + len(closing)])
            self._held = rest
            self._closings_seen += 1
            if self._closings_seen >= _MOST_CLOSINGS:
                self._state = _State.REST
            return
        self._text.clear()
        if shown:
            yield Piece(Kind.TEXT_TAKEN_BACK)
        if before.strip() and not self._has_marks:
            self.bare = closing
        self._has_marks = True
        self._held = rest
        self._restart()
        thought = before.removeprefix(_opening_of(closing)) if closing in _ALONE else before
        yield from self._reason(f"\n\n{thought.strip()}" if self._thought else thought.strip())

    def _ends_thought(self, before: str, closing: str, rest: str) -> bool:
        """Whether a closing mark after this text, and before ``rest``, says that the text was
        reasoning; in code, in the middle of a line or after its opening, it is part of a text."""
        if closing in _ALONE:
            return before.startswith(_ALONE[closing])
        line = before[before.rfind("\n") + 1 :]
        if len(_FENCE.findall(before)) % 2 or line.count("`") % 2:
            return False
        if self._nested:
            self._nested -= 1
            return True
        begins_line, ends_line = not line.strip(), not rest or rest[0] in "\r\n"
        if _opening_of(closing) in before:
            return False
        if self._strict:
            return begins_line and ends_line
        ends_word = bool(line) and not line[-1].isspace() and line[-1] not in _QUOTES
        return begins_line or (ends_line and ends_word)

    def _say(self, text: str) -> Iterator[Piece]:
        if text:
            self._text.append(text)
            yield Piece(Kind.TEXT, text)


_ALONE = {closing: opening for opening, closing in OPENED_ALONE.items()}
_OPENINGS = {closing: opening for opening, closing in (MARKS | OPENED_ALONE).items()}
_QUOTES = "\"'`“”„«»‘’‚‹›*_>(["


def _opening_of(closing: str) -> str:
    """The opening mark of a closing one; of harmony's, a text that does not occur."""
    return _OPENINGS.get(closing.strip(), "\0")


def _first(text: str, marks: Sequence[str]) -> tuple[int, str]:
    """The first of ``marks`` in a text, and its place; an empty one if there is none."""
    if _may_have(text, marks):
        found = [(at, mark) for mark in marks if (at := text.find(mark)) >= 0]
        return min(found, default=(-1, ""))
    return -1, ""


def _begun(text: str, marks: Sequence[str]) -> int:
    """The length of the end of a text that may be the beginning of one of ``marks``."""
    end = text[1 - _LONGEST :]
    if _may_have(end, marks):
        for size in range(len(end), 0, -1):
            if any(mark.startswith(end[-size:]) for mark in marks):
                return size
    return 0


def _may_have(text: str, marks: Sequence[str]) -> bool:
    """False for nearly all pieces of an answer, which cost no more than this."""
    return not _first_characters(marks).isdisjoint(text)


@lru_cache(maxsize=32)
def _first_characters(marks: Sequence[str]) -> frozenset[str]:
    return frozenset(mark[0] for mark in marks)


def speaks_of_marks(items: Sequence[Item]) -> bool:
    """Whether the newest message of the user has a mark of reasoning in it."""
    for item in reversed(items):
        if item.get("role") == "user":
            content = item.get("content")
            texts = [content] if isinstance(content, str) else [text_of(item)]
            return any(mark in text for text in texts for mark in (*MARKS, *_CLOSINGS))
    return False


@dataclass
class WithoutThoughts:
    """An ``Assembler`` whose texts have no reasoning: that is in items of its own, with the content
    ``reasoning_text`` as in the Responses API. See ``ThoughtReader`` for ``implied``."""

    inner: Assembler
    implied: str | None = None
    is_about_marks: bool = False
    _readers: dict[str, ThoughtReader] = field(default_factory=dict)
    _done: list[Item] = field(default_factory=list)
    _has_thoughts: bool = False

    @property
    def ended(self) -> bool:
        """See ``drafts.Assembler``."""
        return self.inner.ended

    @property
    def is_over(self) -> bool:
        """See ``drafts.Assembler``."""
        return self.inner.is_over

    def feed(self, event: Any) -> Iterator[StreamEvent]:
        """See ``drafts.Assembler``."""
        return self._split(self.inner.feed(event))

    def feed_whole(self, response: Any) -> Iterator[StreamEvent]:
        """See ``drafts.Assembler``."""
        return self._split(self.inner.feed_whole(response))

    def is_whole(self, source: Any) -> bool:
        """See ``drafts.Assembler``."""
        return self.inner.is_whole(source)

    def has_reason(self, source: Any) -> bool:
        """See ``drafts.Assembler``."""
        return self.inner.has_reason(source)

    def may_be_whole(self) -> bool:
        """See ``drafts.Assembler``."""
        return self.inner.may_be_whole()

    def was_shown(self) -> bool:
        """See ``drafts.Assembler``; reasoning is no message."""
        is_message = bool(self._done) and self._done[-1].get("type") == "message"
        return is_message and self.inner.was_shown()

    def end_as(self, reason: str) -> None:
        """See ``drafts.Assembler``."""
        self.inner.end_as(reason)

    def finish(self) -> Iterator[StreamEvent]:
        """See ``drafts.Assembler``."""
        return self._split(self.inner.finish())

    def recover(self) -> Iterator[StreamEvent]:
        """See ``drafts.Assembler``."""
        return self._split(self.inner.recover())

    def broken(self) -> BrokenStream:
        """See ``drafts.Assembler``."""
        broken = self.inner.broken()
        partial: list[str] = []
        for item_id in broken.partial_item_ids:
            reader = self._readers.get(item_id)
            if reader is not None and reader.thought:
                partial.append(_reasoning_id(item_id))
            if reader is None or reader.text or not reader.thought:
                partial.append(item_id)
        return BrokenStream(tuple(self._done), tuple(partial))

    def learnt(self) -> str | None:
        """The closing mark of a model that begins with reasoning without an opening, once the
        answer has ended; None where it did not."""
        implied = self.implied
        for reader in self._readers.values():
            implied = None if reader.is_contradicted else reader.bare or implied
        return implied

    def _split(self, events: Iterator[StreamEvent]) -> Iterator[StreamEvent]:
        for event in events:
            if isinstance(event, TextChunk):
                reader = self._readers.get(event.item_id) or self._reader(event.item_id)
                for piece in reader.feed(event.delta):
                    yield from _shown(event.item_id, piece)
            elif isinstance(event, ItemDone):
                yield from self._item(event)
            elif isinstance(event, ResponseDone) and self._has_thoughts:
                yield replace(event, items=tuple(self._done))
            else:
                yield event

    def _reader(self, item_id: str) -> ThoughtReader:
        reader = ThoughtReader(self.implied, is_about_marks=self.is_about_marks)
        self._readers[item_id] = reader
        return reader

    def _item(self, event: ItemDone) -> Iterator[StreamEvent]:
        item_id, item = event.item_id, event.item
        reader = self._readers.get(item_id)
        if reader is not None and item.get("type") == "message":
            for piece in reader.end(is_cut=item.get("status") == "incomplete"):
                yield from _shown(item_id, piece)
        else:
            reader = None
        # The deltas may hold an emoji's two halves, or one of them, which the item has not.
        text = "" if reader is None else plain_text(reader.text)
        if reader is None or text == text_of(item):
            self._done.append(item)
            yield event
            return
        self._has_thoughts = True
        if reader.thought:
            thought = _thought_item(_reasoning_id(item_id), plain_text(reader.thought))
            self._done.append(thought)
            yield ItemDone(thought["id"], thought)
        if text:
            part = {"type": "output_text", "text": text, "annotations": []}
            item = {**item, "content": [part]}
            self._done.append(item)
            yield ItemDone(item_id, item)


def _reasoning_id(item_id: str) -> str:
    return f"{item_id}_reasoning"


def _thought_item(item_id: str, text: str) -> Item:
    content = [{"type": "reasoning_text", "text": text}]
    return {"id": item_id, "type": "reasoning", "summary": [], "content": content}


def _shown(item_id: str, piece: Piece) -> Iterator[StreamEvent]:
    match piece.kind:
        case Kind.TEXT:
            yield TextChunk(item_id, piece.text)
        case Kind.THOUGHT:
            yield ReasoningChunk(_reasoning_id(item_id), piece.text)
        case Kind.TEXT_TAKEN_BACK:
            yield ItemTakenBack(item_id)
        case Kind.THOUGHT_TAKEN_BACK:
            yield ItemTakenBack(_reasoning_id(item_id))

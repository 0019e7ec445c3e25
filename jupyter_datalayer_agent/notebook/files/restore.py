"""Undo of a turn's changes to a text file, and only those: pure, on texts.

As with cells, three states are compared: before the change, as the change left the file, and now.
Lines that the user changed since stay; where the same lines, or their neighbours, were changed by
both, nothing is restored and the file is a conflict.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Protocol

from ...protocol.renames import Rename
from ..document import DocumentError
from .text_state import TextState

# What a turn is about to change in text files, recorded before it is changed.


Correct = Callable[[TextState], Awaitable[None]]

# Errors with which a change is refused: nothing of it was written.
_REFUSED = ("stale", "not_found", "invalid_arguments", "not_allowed", "too_large")


class TextKeeper(Protocol):
    """Where a turn's checkpoints of text files are kept."""

    async def next_span(self, path: str) -> int:
        """A new span number for this file."""
        ...

    async def keep_text(
        self, path: str, span: int, before: TextState | None, left: TextState, *, is_new: bool
    ) -> None:
        """Store how the file was before a span (None: the turn created it) and how it is left."""
        ...

    async def drop_text(self, path: str, span: int) -> None:
        """The span did not come about."""
        ...


@dataclass(frozen=True)
class _Span:
    number: int
    before: TextState | None
    left: TextState


class TextRecorder:
    """Records the changes of one turn. Its methods hold the file's lock.

    Changes that follow upon each other are one span; a new one begins where somebody else changed
    the file in between.
    """

    def __init__(self, keeper: TextKeeper) -> None:
        self._keeper = keeper
        self._spans: dict[str, _Span] = {}

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        rename.rekey(self._spans)

    @asynccontextmanager
    async def change(
        self, path: str, before: TextState | None, after: TextState
    ) -> AsyncIterator[Correct]:
        """Around a change; ``before`` is None for a new file. What it gives is called with the text
        that was saved instead, by a save hook."""
        known = self._spans.get(path)
        goes_on = known is not None and before is not None and known.left.content == before.content
        if known is not None and goes_on:
            span = _Span(known.number, known.before, after)
        else:
            span = _Span(await self._keeper.next_span(path), before, after)
        await self._keeper.keep_text(path, span.number, span.before, after, is_new=not goes_on)
        self._spans[path] = span
        try:
            yield partial(self._correct, path)
        except DocumentError as error:
            # After any other failure it is not known whether the file was written.
            if error.code in _REFUSED:
                await self._forget(path, span, known if goes_on else None)
            raise

    async def _correct(self, path: str, left: TextState) -> None:
        span = replace(self._spans[path], left=left)
        await self._keeper.keep_text(path, span.number, span.before, left, is_new=False)
        self._spans[path] = span

    async def _forget(self, path: str, span: _Span, known: _Span | None) -> None:
        if known is None:
            await self._keeper.drop_text(path, span.number)
            self._spans.pop(path, None)
        else:
            await self._keeper.keep_text(path, known.number, known.before, known.left, is_new=False)
            self._spans[path] = known


@dataclass(frozen=True)
class TextSpan:
    """One change of a turn, or several that follow upon each other: before and after."""

    before: TextState
    left: TextState


class Contested(Exception):
    """The turn and somebody else changed the same lines."""


TextSplices = list[tuple[int, int, str]]
"""Stretches of a text (start, end) with what replaces them."""


def lines_reverted(before: str, left: str, now: str) -> TextSplices:
    """The spans of ``now`` that the change made, with what was there before it. Raises
    ``Contested``."""
    was, made, lines = (_lines(each) for each in (before, left, now))
    theirs = differences(made, lines)
    starts = _starts(lines)
    spans = []
    for made_from, made_to, was_from, was_to in differences(made, was):
        if any(first <= made_to and made_from <= last for first, last, _, _ in theirs):
            raise Contested
        # Nobody else touched these lines: they only moved, by what was added or removed above.
        shift = sum(
            (new_to - new_from) - (last - first)
            for first, last, new_from, new_to in theirs
            if last < made_from
        )
        start, end = starts[made_from + shift], starts[made_to + shift]
        spans.append((start, end, "".join(was[was_from:was_to])))
    return spans


def restored(
    spans: Sequence[TextSpan],
    now: TextState,
    reverted: Callable[[str, str, str], TextSplices] = lines_reverted,
) -> TextState:
    """The file without what the spans changed, the last of them first; ``reverted`` compares the
    texts. Raises ``Contested``."""
    for span in reversed(spans):
        now = _without(span, now, reverted)
    return now


def _without(
    span: TextSpan, now: TextState, reverted: Callable[[str, str, str], TextSplices]
) -> TextState:
    before, left = span.before, span.left
    if now.content == left.content:
        # Byte for byte; but where an editor wrote all line ends anew, as those are now.
        return before if now.raw == left.raw else now.with_content(before.content)
    if now.content == before.content:
        return now
    return now.with_spans(reverted(before.content, left.content, now.content))


MOST_PAIRS = 250_000
"""Pairs of lines of which all are compared, a tenth of a second at most. Of more, a line that is
often there is the same only beside others that are: 2,000 lines of two kinds would take 3 s."""


def differences(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """The stretches of lines (or other parts) that differ: (first, end) in ``one``, then in
    ``other``. What is the same at both ends is left out first: comparing takes long where many
    lines are alike."""
    head = 0
    most = min(len(one), len(other))
    while head < most and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < most - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    first, second = one[head : len(one) - tail], other[head : len(other) - tail]
    return [
        (start + head, end + head, new_start + head, new_end + head)
        for kind, start, end, new_start, new_end in SequenceMatcher(
            None, first, second, autojunk=len(first) * len(second) > MOST_PAIRS
        ).get_opcodes()
        if kind != "equal"
    ]


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")[:-1]] + text.split("\n")[-1:]


def _starts(lines: Sequence[str]) -> list[int]:
    """Where each line begins, and where the last one ends."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts

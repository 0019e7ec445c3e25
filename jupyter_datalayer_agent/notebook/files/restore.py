"""Undo of a turn's changes to a text file, and only those: pure, on texts.

As with cells, three states are compared: before the change, as the change left the file, and now.
Lines that the user changed since stay; where the same lines, or their neighbours, were changed by
both, nothing is restored and the file is a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .text_state import TextState


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


def differences(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """The stretches of lines (or other parts) that differ. What is the same at both ends is left
    out first: comparing takes long where many lines are alike."""
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
            None, first, second, autojunk=False
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

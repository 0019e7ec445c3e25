"""Undo of a turn's changes to a Lexical document, block by block: pure, on texts.

As with cells and lines, three states are compared: before the change, as the change left the
document, and now. Blocks that the user changed, added or removed since stay. Where both changed the
same block, only that block is contested: it is left as it is, or restored where that is asked for.
A run is no edit: outputs follow the code that they belong to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..files.restore import Contested, TextSplices, differences
from .editor_state import EditorState, NotLexical
from .nodes import INPUT, INPUT_UUID, OUTPUT

Difference = tuple[int, int, int, int]


@dataclass(frozen=True)
class ContestedBlocks:
    """Blocks that the turn and the user both changed, each as JSON: as the turn found and left
    them, and as they are now."""

    before: Sequence[str]
    left: Sequence[str]
    now: Sequence[str]


@dataclass(frozen=True)
class _Document:
    """The blocks but for outputs, and the outputs by the code that they belong to, all as JSON."""

    blocks: Sequence[str]
    inputs: dict[str, str]
    outputs: dict[str, tuple[str, ...]]
    uuids: Sequence[str | None]


@dataclass
class BlocksReverted:
    """Takes changes back, and notes in ``contested`` which blocks were changed by both. These stay
    as they are; with ``overwrite`` they are restored, and no others."""

    overwrite: bool = False
    contested: list[ContestedBlocks] = field(default_factory=list)

    def __call__(self, before: str, left: str, now: str) -> TextSplices:
        """The spans of ``now`` that the change made, with what was there before it. Raises
        ``Contested`` where a text is no Lexical document."""
        try:
            state = EditorState.parse(now)
            then, made = _document(EditorState.parse(before)), _document(EditorState.parse(left))
        except NotLexical as error:
            raise Contested from error
        current = _document(state)
        merged = self._merged(then.blocks, made.blocks, current.blocks)
        pieces = list(_with_outputs(merged, then, made, current))
        known = {block.text: index for index, block in enumerate(state.blocks)}
        return [(0, len(now), state.recomposed(list(_in_place(pieces, state, known))))]

    def _merged(self, before: Sequence[str], left: Sequence[str], now: Sequence[str]) -> list[str]:
        """``now`` without what led from ``before`` to ``left``."""
        theirs = [_replacement(each, now) for each in by_block(differences(left, now))]
        undo = [_replacement(each, before, True) for each in by_block(differences(left, before))]
        # What the user took back already is restored once, as it was printed before.
        known = {each.meaning for each in undo}
        theirs = [each for each in theirs if each.meaning not in known]
        merged: list[str] = []
        at = 0
        for group in _groups([*undo, *theirs]):
            start, end = group[0].start, max(each.end for each in group)
            undone = [each for each in group if each.undoes]
            since = [each for each in group if not each.undoes]
            chosen = group
            if undone and since:
                texts = [_replaced(left, start, end, side) for side in (undone, since)]
                self.contested.append(ContestedBlocks(texts[0], left[start:end], texts[1]))
                chosen = undone if self.overwrite else since
            merged += [*left[at:start], *_replaced(left, start, end, chosen)]
            at = end
        return [*merged, *left[at:]]


@dataclass(frozen=True)
class _Replacement:
    """A stretch of the blocks as the turn left them, and what was in its place before the turn
    (``undoes``) or now."""

    start: int
    end: int
    instead: tuple[str, ...]
    undoes: bool

    @property
    def meaning(self) -> tuple[int, int, str]:
        """The same for blocks that are printed differently and say the same."""
        nodes = [json.loads(each) for each in self.instead]
        return self.start, self.end, json.dumps(nodes, sort_keys=True)


def _replacement(found: Difference, other: Sequence[str], undoes: bool = False) -> _Replacement:
    start, end, new_start, new_end = found
    return _Replacement(start, end, tuple(other[new_start:new_end]), undoes)


def _groups(changes: Sequence[_Replacement]) -> Iterator[list[_Replacement]]:
    """Changes in the order of the document; those that meet are one group. Changes of one side
    never meet; neighbours and two insertions at one place do not either."""
    group: list[_Replacement] = []
    for change in sorted(changes, key=lambda each: (each.start, each.end)):
        if group and change.start >= max(each.end for each in group):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _replaced(
    left: Sequence[str], start: int, end: int, changes: Sequence[_Replacement]
) -> list[str]:
    """The blocks from ``start`` to ``end`` with these changes."""
    blocks: list[str] = []
    for change in changes:
        blocks += [*left[start : change.start], *change.instead]
        start = change.end
    return [*blocks, *left[start:end]]


def _document(state: EditorState) -> _Document:
    blocks, uuids = [], []
    inputs: dict[str, str] = {}
    outputs: dict[str, tuple[str, ...]] = {}
    linked = {b.node.get(INPUT_UUID) for b in state.blocks if b.type == INPUT}
    for block in state.blocks:
        uuid = block.node.get(INPUT_UUID)
        name = uuid if isinstance(uuid, str) else None
        if block.type == OUTPUT and name is not None and name in linked:
            outputs[name] = (*outputs.get(name, ()), block.text)
            continue
        blocks.append(block.text)
        uuids.append(name if block.type == INPUT else None)
        if block.type == INPUT and name is not None:
            inputs[name] = block.text
    return _Document(blocks, inputs, outputs, uuids)


def by_block(found: Sequence[Difference]) -> Iterator[Difference]:
    """The same differences, each of one block in place of another, one removed, or some added."""
    for start, end, new_start, new_end in found:
        shift = new_start - start
        paired = min(end, new_end - shift)
        for each in range(start, paired):
            yield each, each + 1, each + shift, each + shift + 1
        for each in range(paired, end):
            yield each, each + 1, new_end, new_end
        if paired + shift < new_end:
            yield end, end, paired + shift, new_end


def _with_outputs(
    merged: Sequence[str], then: _Document, made: _Document, now: _Document
) -> Iterator[str]:
    """The blocks with the outputs of each: with a code that comes back come those that it had;
    where the turn only ran it, outputs of a later run stay."""
    by_text = {
        text: uuid
        for document in (made, now, then)
        for text, uuid in zip(document.blocks, document.uuids, strict=True)
        if uuid is not None
    }
    for text in merged:
        yield text
        uuid = by_text.get(text)
        if uuid is None:
            continue
        comes_back = then.inputs.get(uuid) == text != now.inputs.get(uuid)
        only_turn = uuid in then.inputs and now.outputs.get(uuid) == made.outputs.get(uuid)
        source = then if comes_back or only_turn else now
        yield from source.outputs.get(uuid, ())


def _in_place(
    pieces: Sequence[str], state: EditorState, known: dict[str, int]
) -> Iterator[int | str]:
    """Each piece by its index where it is a block of now, so that what is between two stays."""
    last = -1
    for piece in pieces:
        index = known.get(piece)
        if last + 1 < len(state.blocks) and state.blocks[last + 1].text == piece:
            index = last + 1
        if index is None:
            yield piece
        else:
            last = index
            yield index

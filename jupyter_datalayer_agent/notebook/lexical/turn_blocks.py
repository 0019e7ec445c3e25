"""Which blocks of a document, as it is now, a turn changed: pure, on texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..files.restore import differences
from .editor_state import Block, EditorState, Node
from .merge import Difference, by_block
from .nodes import INPUT, INPUT_UUID, OUTPUT


@dataclass(frozen=True)
class TurnBlock:
    """A block that a turn changed. ``index`` is its place in the document now; of a removed one,
    that of the block before which it stood. ``before`` is the block as it was, with its outputs."""

    op: Literal["insert", "update", "delete"]
    index: int
    before: Sequence[Node] = ()


def turn_blocks(spans: Sequence[tuple[str, str]], now: str) -> list[TurnBlock]:
    """What these changes of a turn, each given as the texts before and after it, did to the blocks;
    only what is still so. Raises ``NotLexical``."""
    current = EditorState.parse(now)
    found: dict[tuple[int, str], TurnBlock] = {}
    for before, left in spans:
        for each in _of_span(EditorState.parse(before), EditorState.parse(left), current):
            # Several removed at one place are several.
            name = str(each.before) if each.op == "delete" else ""
            first = found.setdefault((each.index, name), each)
            if each.op == "insert" and first.op == "update":
                found[each.index, name] = each
    return sorted(found.values(), key=lambda each: (each.index, each.op != "delete"))


def _of_span(before: EditorState, left: EditorState, now: EditorState) -> Iterator[TurnBlock]:
    was, made, current = (_without_outputs(each) for each in (before, left, now))
    since = list(by_block(differences(_texts(made), _texts(current))))
    there = set(_texts(current))
    places = [*(index for index, _ in current), len(now.blocks)]
    for start, end, was_start, was_end in by_block(differences(_texts(made), _texts(was))):
        removed = [block for _, block in was[was_start:was_end]]
        if start == end:
            gap = _gap(end, since)
            for old in removed:
                if old.text not in there:
                    yield TurnBlock("delete", places[gap], _with_outputs(old, before))
            continue
        place = _place(start, since)
        if place is None:
            continue
        index, block = current[place]
        if not removed:
            yield TurnBlock("insert", index)
        elif removed[0].node != block.node:
            yield TurnBlock("update", index, _with_outputs(removed[0], before))


def _without_outputs(state: EditorState) -> list[tuple[int, Block]]:
    return [(i, block) for i, block in enumerate(state.blocks) if block.type != OUTPUT]


def _texts(blocks: Sequence[tuple[int, Block]]) -> list[str]:
    return [block.text for _, block in blocks]


def _with_outputs(block: Block, state: EditorState) -> list[Node]:
    uuid = block.node.get(INPUT_UUID)
    outputs = [
        each.node
        for each in state.blocks
        if each.type == OUTPUT and each.node.get(INPUT_UUID) == uuid is not None
    ]
    return [block.node, *(outputs if block.type == INPUT else [])]


def _place(index: int, since: Sequence[Difference]) -> int | None:
    """Where a block is now, after these differences; None where it is gone."""
    shift = 0
    for start, end, new_start, new_end in since:
        if index < start:
            break
        if index < end:
            return new_start if new_start < new_end else None
        shift = new_end - end
    return index + shift


def _gap(index: int, since: Sequence[Difference]) -> int:
    """Where the place before a block is now, whatever became of the block."""
    shift = 0
    for start, end, _, new_end in since:
        if start >= index:
            break
        shift = new_end - end
    return index + shift

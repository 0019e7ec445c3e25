"""A Lexical document as tools see it: its blocks by id, and batches of edits, pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..document import DocumentError
from . import nodes
from .editor_state import Block, EditorState, Node
from .to_markdown import kind_of, markdown_of


@dataclass(frozen=True)
class DocumentBlock:
    """A block with its id and its place, counted from 0. ``outputs`` are the indices of the output
    blocks of code that runs."""

    id: str
    index: int
    block: Block
    outputs: tuple[int, ...] = ()

    @property
    def node(self) -> Node:
        """Its JSON."""
        return self.block.node

    @property
    def kind(self) -> str:
        """Its type as users name it."""
        return kind_of(self.node)

    @property
    def runs(self) -> bool:
        """Whether it is code that runs."""
        return self.block.type == nodes.INPUT

    @property
    def is_output(self) -> bool:
        """Whether it is what a code block put out."""
        return self.block.type == nodes.OUTPUT

    @property
    def content(self) -> str:
        """Code as it is, everything else as Markdown."""
        return nodes.source_of(self.node) if self.runs else markdown_of(self.node)

    @property
    def uuid(self) -> str | None:
        """What links code and output."""
        found = self.node.get(nodes.INPUT_UUID)
        return found if isinstance(found, str) and found else None


@dataclass(frozen=True)
class InsertBlocks:
    """New blocks before the block that is now at ``index`` (or at the end)."""

    index: int
    nodes: Sequence[Node]


@dataclass(frozen=True)
class UpdateBlock:
    """Another node in place of a block that has this hash."""

    id: str
    base_hash: str
    node: Node


@dataclass(frozen=True)
class DeleteBlock:
    """Removal of a block that has this hash, with its outputs."""

    id: str
    base_hash: str


@dataclass(frozen=True)
class SetOutput:
    """What a run of a code block put out, in place of what it had put out before."""

    id: str
    source: str
    outputs: Sequence[dict[str, object]]


BlockEdit = InsertBlocks | UpdateBlock | DeleteBlock | SetOutput


@dataclass(frozen=True)
class Blocks:
    """A document's state and the ids of its blocks."""

    path: str
    state: EditorState
    ids: Sequence[str]

    @cached_property
    def all(self) -> list[DocumentBlock]:
        """Every block, outputs too."""
        outputs: dict[str, list[int]] = {}
        for index, block in enumerate(self.state.blocks):
            if block.type == nodes.OUTPUT:
                outputs.setdefault(str(block.node.get(nodes.INPUT_UUID)), []).append(index)
        return [
            DocumentBlock(
                block_id,
                index,
                block,
                tuple(outputs.get(str(block.node.get(nodes.INPUT_UUID)), ()))
                if block.type == nodes.INPUT
                else (),
            )
            for index, (block_id, block) in enumerate(zip(self.ids, self.state.blocks, strict=True))
        ]

    def outputs_of(self, block: DocumentBlock) -> list[dict[str, object]]:
        """What a code block put out, as nbformat has it."""
        found: list[dict[str, object]] = []
        for index in block.outputs:
            outputs = self.state.blocks[index].node.get("outputs")
            if isinstance(outputs, list):
                found += [each for each in outputs if isinstance(each, dict)]
        return found


@dataclass(frozen=True)
class Edited:
    """A batch's result: the text, and for each block its id, None for a new one."""

    text: str
    ids: list[str | None]


def apply_edits(document: Blocks, edits: Sequence[BlockEdit]) -> Edited:
    """The document with a batch applied, whole. Raises ``DocumentError`` ``stale`` or
    ``not_found``."""
    batch = _Batch(document)
    for edit in edits:
        if isinstance(edit, InsertBlocks):
            batch.insert(edit)
        elif isinstance(edit, UpdateBlock):
            batch.update(edit)
        elif isinstance(edit, DeleteBlock):
            batch.delete(edit)
        else:
            batch.set_output(edit)
    return batch.result()


class _Batch:
    """What each block becomes, and what comes before each and after the last one."""

    def __init__(self, document: Blocks) -> None:
        self._document = document
        self._blocks = {each.id: each for each in document.all}
        count = len(document.ids)
        self._pieces: list[int | Node | None] = list(range(count))
        self._new: list[list[Node]] = [[] for _ in range(count + 1)]

    def insert(self, edit: InsertBlocks) -> None:
        place = min(max(edit.index, 0), len(self._pieces))
        # An output stays below its code.
        while place < len(self._pieces) and self._is_own_output(place):
            place += 1
        self._new[place] += edit.nodes

    def update(self, edit: UpdateBlock) -> None:
        block = self._checked(edit.id, edit.base_hash)
        self._pieces[block.index] = edit.node

    def delete(self, edit: DeleteBlock) -> None:
        block = self._checked(edit.id, edit.base_hash)
        for index in (block.index, *block.outputs):
            self._pieces[index] = None

    def set_output(self, edit: SetOutput) -> None:
        block = self._block(edit.id)
        if block.uuid is None:
            raise DocumentError(
                "invalid_arguments", f"Block {block.index + 1} has no {nodes.INPUT_UUID}."
            )
        first, *others = block.outputs or (None,)
        for index in others:
            self._pieces[index] = None
        if not edit.outputs:
            if first is not None:
                self._pieces[first] = None
            return
        made = nodes.jupyter_output(edit.source, edit.outputs, block.uuid)
        if first is None:
            self._new[block.index + 1].insert(0, made)
            return
        old = self._document.state.blocks[first].node
        self._pieces[first] = {**old, "source": edit.source, "outputs": list(edit.outputs)}

    def result(self) -> Edited:
        pieces: list[int | Node | str] = []
        ids: list[str | None] = []
        for index, piece in enumerate([*self._pieces, None]):
            for node in self._new[index]:
                pieces.append(node)
                ids.append(None)
            if piece is not None:
                pieces.append(piece)
                ids.append(self._document.ids[index])
        return Edited(self._document.state.recomposed(pieces), ids)

    def _is_own_output(self, index: int) -> bool:
        if index == 0:
            return False
        block, before = self._document.state.blocks[index], self._document.state.blocks[index - 1]
        linked = block.node.get(nodes.INPUT_UUID) == before.node.get(nodes.INPUT_UUID)
        return block.type == nodes.OUTPUT and linked

    def _block(self, block_id: str) -> DocumentBlock:
        found = self._blocks.get(block_id)
        if found is None:
            raise DocumentError(
                "not_found",
                f"{self._document.path} has no block with id {block_id}.",
                "Read the blocks again with readAllBlocks.",
            )
        return found

    def _checked(self, block_id: str, base_hash: str) -> DocumentBlock:
        block = self._block(block_id)
        if block.block.hash != base_hash:
            raise DocumentError(
                "stale",
                f"Block {block.index + 1} changed in the meantime; nothing was changed.",
                "Read it again.",
            )
        return block

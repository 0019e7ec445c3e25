"""Ids of blocks, kept beside the documents: a block keeps its id while it is edited or moved by
others, as long as the server runs; ``ids_now`` says what became of those of another server."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...protocol.renames import Rename
from ..files.restore import differences
from ..recent import RecentDocuments
from .blocks import Blocks
from .editor_state import Block
from .nodes import INPUT, INPUT_UUID, OUTPUT, OUTPUT_UUID

BlockId = tuple[str, str, str]
"""A block's type, the hash of its JSON, and its id."""

MOST_DOCUMENTS = 20
_OWN = {INPUT: INPUT_UUID, OUTPUT: OUTPUT_UUID}


@dataclass(frozen=True)
class _Known:
    """Of each block its type, hash and id: what it holds is not kept."""

    types: Sequence[str] = ()
    hashes: Sequence[str] = ()
    ids: Sequence[str] = ()


class BlockIds:
    """The ids of the documents that were read last, and these documents as they were parsed."""

    def __init__(self) -> None:
        self.recent = RecentDocuments[Blocks]()
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def of(self, path: str, blocks: Sequence[Block]) -> list[str]:
        """The ids of a document's blocks as they are now, and note them."""
        known = self._known.get(path) or _Known()
        ids: list[str | None] = [None] * len(blocks)
        now = _Known([block.type for block in blocks], [block.hash for block in blocks])
        for old, index in _same(known, now):
            ids[index] = known.ids[old]
        return self.wrote(path, blocks, ids)

    def known(self, path: str) -> list[BlockId]:
        """The document's blocks as they were last seen."""
        known = self._known.get(path) or _Known()
        return list(zip(known.types, known.hashes, known.ids, strict=True))

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        rename.rekey(self._known)
        self.recent.renamed(rename)

    def wrote(self, path: str, blocks: Sequence[Block], ids: Sequence[str | None]) -> list[str]:
        """These are its blocks now, by these ids, None for a new one; the ids of all."""
        taken = {each for each in ids if each is not None}
        named = [each or _new(block, taken) for each, block in zip(ids, blocks, strict=True)]
        types, hashes = [each.type for each in blocks], [each.hash for each in blocks]
        self._known[path] = _Known(types, hashes, named)
        self._known.move_to_end(path)
        while len(self._known) > MOST_DOCUMENTS:
            self._known.popitem(last=False)
        return named


def ids_now(before: Sequence[BlockId], now: Sequence[BlockId]) -> dict[str, str]:
    """The ids that the blocks of a document have now, by those that they had when another server
    knew it; what is gone is left out."""
    there = {each for _, _, each in now}
    found = {each: each for _, _, each in before if each in there}
    for old, index in _same(_known(before), _known(now)):
        found.setdefault(before[old][2], now[index][2])
    return found


def _known(blocks: Sequence[BlockId]) -> _Known:
    types, hashes, ids = zip(*blocks, strict=True) if blocks else ((), (), ())
    return _Known(types, hashes, ids)


def _same(before: _Known, now: _Known) -> Iterator[tuple[int, int]]:
    """The indices of blocks that are the same, before and now: alike, or changed in place."""
    count, new_count = len(before.hashes), len(now.hashes)
    at = 0
    for start, end, new_start, new_end in [
        *differences(before.hashes, now.hashes),
        (count, count, new_count, new_count),
    ]:
        # What is alike before the difference.
        for old in range(at, start):
            yield old, new_start - (start - old)
        at = end
        if end - start == new_end - new_start:
            for old, index in zip(range(start, end), range(new_start, new_end), strict=True):
                if before.types[old] == now.types[index]:
                    yield old, index


def _new(block: Block, taken: set[str]) -> str:
    """An id of the block's own: the same again when the server was restarted in between."""
    own = block.node.get(_OWN.get(block.type, ""))
    name = own if isinstance(own, str) else block.hash
    number = 0
    while True:
        said = f"{block.type} {name} {number}"
        new = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        if new not in taken:
            taken.add(new)
            return new
        number += 1

"""The ids by which cells are addressed, and those that their file has.

A file need not have an id for each cell, and may have some that address nothing: before nbformat
4.5 there are none, others are no text, or occur twice. Such a cell is addressed by an id that is
derived from its content. What is in the file stays as it is, except where nbformat itself requires
an id and would otherwise invent one each time.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...protocol.renames import Rename
from ..edits.batch import Cell, source_of
from ..same_cells import same_cells, text_id

NO_ID: Any = object()
"""In place of an id: the cell has none in the file."""
_OLDEST_MINOR_WITH_IDS = 5
_MOST_NOTEBOOKS = 256


@dataclass
class CellIds:
    """``addresses`` are the ids of the cells, in order; ``derived`` are those that are not in the
    file. ``in_file`` has, by address, what the file has instead, and ``new_have_ids`` says whether
    added cells are written with an id. ``text_ids`` identify the texts of the cells, where
    ``texts`` needed them."""

    addresses: list[str]
    derived: set[str] = field(default_factory=set)
    in_file: dict[str, Any] = field(default_factory=dict)
    new_have_ids: bool = True
    text_ids: list[str] = field(default_factory=list)

    def as_addresses(self, cells: Sequence[Cell]) -> None:
        """Give the cells, which are all there are, their addresses."""
        for cell, address in zip(cells, self.addresses, strict=True):
            cell["id"] = address

    def as_in_file(self, cells: Sequence[Cell]) -> None:
        """Give the cells, which are all there are, the ids that they have in the file."""
        for cell, address in zip(cells, self.addresses, strict=True):
            _set_id(cell, self.in_file.get(address, address))

    def written(self, cells: Sequence[Cell]) -> list[Cell]:
        """Copies of cells with the ids that they have in the file."""
        known = set(self.addresses)
        copies = []
        for cell in cells:
            copy, address = dict(cell), cell["id"]
            is_named = address in known or self.new_have_ids
            _set_id(copy, self.in_file.get(address, address if is_named else NO_ID))
            copies.append(copy)
        return copies

    def after(self, cells: Sequence[Cell]) -> CellIds:
        """The ids once these cells are written."""
        known = set(self.addresses)
        addresses = [cell["id"] for cell in cells]
        in_file = {each: self.in_file[each] for each in addresses if each in self.in_file}
        if not self.new_have_ids:
            in_file |= {each: NO_ID for each in addresses if each not in known}
        return CellIds(addresses, set(in_file), in_file, self.new_have_ids)

    def texts(self, cells: Sequence[Cell]) -> list[tuple[str, str]]:
        """The addresses of the cells, which are all there are, with what identifies their texts."""
        if len(self.text_ids) != len(cells):
            self.text_ids = [_text_id(cell) for cell in cells]
        return list(zip(self.addresses, self.text_ids, strict=True))

    def carry(self, before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> None:
        """Give cells with derived ids the addresses that the same cells had before."""
        taken = set(self.addresses) - self.derived
        names = {new: old for old, new in same_cells(before, now, taken).items()}
        renamed: dict[str, str] = {}
        for derived in sorted(self.derived, key=lambda each: each not in names):
            renamed[derived] = _free(names.get(derived, derived), taken)
            taken.add(renamed[derived])
        self.addresses = [renamed.get(each, each) for each in self.addresses]
        self.derived = set(renamed.values())
        self.in_file = {renamed.get(each, each): value for each, value in self.in_file.items()}


def ids_in(raw: Mapping[str, Any]) -> list[Any]:
    """The ids of the cells in a notebook's JSON, in order, ``NO_ID`` for a cell without one."""
    return [cell.get("id", NO_ID) for cell in raw.get("cells", [])]


def cell_ids(content: Mapping[str, Any], in_file: Sequence[Any] | None) -> CellIds:
    """The ids of the cells of ``content``; without ``in_file`` those that it has are the file's.

    A derived id is the same at each reading.
    """
    cells: Sequence[Cell] = content["cells"]
    own = ids_in(content) if in_file is None else in_file
    if len(own) != len(cells):
        own = [NO_ID] * len(cells)  # converted from nbformat 3, which has no ids
    required = requires_ids(content)
    ids = CellIds([], new_have_ids=required or any(each is not NO_ID for each in own))
    taken: set[str] = set()
    named = {each for each in own if isinstance(each, str)}
    alike: dict[str, int] = {}  # how many cells with this text there were before
    seen: list[Any] = []
    for index, own_id in enumerate(own):
        if isinstance(own_id, str) and own_id and own_id not in taken:
            taken.add(own_id)
            ids.addresses.append(own_id)
            continue
        if not ids.text_ids:
            ids.text_ids = [_text_id(each) for each in cells]
        name = ids.text_ids[index]
        alike[name] = alike.get(name, -1) + 1
        derived = _free(name, named, alike[name])
        taken.add(derived)
        named.add(derived)
        ids.addresses.append(derived)
        ids.derived.add(derived)
        # nbformat invents an id, another one each time, for what is missing or there twice.
        if not required or not (own_id is NO_ID or own_id in seen or own_id in taken):
            ids.in_file[derived] = own_id
            seen.append(own_id)
    return ids


class KnownAddresses:
    """The cells of the notebooks that were seen last, for those that are addressed by derived ids:
    a cell whose source is changed keeps its address."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Sequence[tuple[str, str]]] = OrderedDict()
        self._now: dict[str, dict[str, str]] = {}

    def carry(self, path: str, ids: CellIds, cells: Sequence[Cell]) -> None:
        """Give the cells the addresses that they had when the notebook was seen last."""
        before = self._known.get(path) if ids.derived else None
        if before:
            ids.carry(before, ids.texts(cells))
            ids.as_addresses(cells)

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        rename.rekey(self._known)
        rename.rekey(self._now)

    def wrote(self, path: str, cells: Sequence[Cell]) -> None:
        """These cells were just written; the file may hold them without their ids."""
        self.seen(path, [(cell["id"], _text_id(cell)) for cell in cells])

    def seen(self, path: str, cells: Sequence[tuple[str, str]]) -> None:
        """The notebook has cells with these ids and texts. A page that loads it names the cells
        anew; the ids that they had before stand for the cells with the same text. The same list
        as before costs nothing."""
        if self._known.get(path) is cells:
            self._known.move_to_end(path)
            return
        before, texts = self._known.get(path, ()), dict(cells)
        same = same_cells(before, cells)
        renamed = {
            old: same[old]
            for old, text in before
            if same.get(old, old) != old and texts[same[old]] == text
        }
        former = {old: same.get(new, new) for old, new in self._now.get(path, {}).items()}
        # An id that a cell has again stands for that cell.
        now = {old: new for old, new in (former | renamed).items() if old not in texts}
        if now:
            self._now[path] = now
        else:
            self._now.pop(path, None)
        self._known[path] = cells
        self._known.move_to_end(path)
        while len(self._known) > _MOST_NOTEBOOKS:
            forgotten, _ = self._known.popitem(last=False)
            self._now.pop(forgotten, None)

    def knows(self, path: str) -> bool:
        """Whether the notebook was seen, and keeps no ids."""
        return path in self._known

    def now(self, path: str) -> dict[str, str]:
        """The present ids of cells by those that they had before."""
        return self._now.get(path, {})


def _text_id(cell: Cell) -> str:
    return text_id(cell["cell_type"], source_of(cell))


def _set_id(cell: Cell, value: Any) -> None:
    if value is NO_ID:
        cell.pop("id", None)
    elif cell.get("id", NO_ID) is not value:  # to set it takes nbformat's cells much longer
        cell["id"] = value


def version_of(content: Mapping[str, Any], in_file: Sequence[Any]) -> str:
    """Identifies the content of a notebook whose cells have these ids in the file."""
    cells = [dict(cell) for cell in content["cells"]]
    for cell, own_id in zip(cells, in_file, strict=True):
        _set_id(cell, own_id)
    text = json.dumps({**content, "cells": cells}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def requires_ids(content: Mapping[str, Any]) -> bool:
    """Whether each cell has an id, by the version of the notebook; before, none may have one."""
    return _minor(content) >= _OLDEST_MINOR_WITH_IDS


def _minor(content: Mapping[str, Any]) -> float:
    minor = content.get("nbformat_minor", 0)
    return minor if isinstance(minor, (int, float)) else 0


def _free(name: str, taken: set[str], count: int = 0) -> str:
    """The name, or the next one from ``count`` on that is not taken."""
    while (free := text_id(name, str(count)) if count else name) in taken:
        count += 1
    return free

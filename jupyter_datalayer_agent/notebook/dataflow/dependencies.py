"""Which cells depend on which: a static graph of names over the code cells of a notebook.

For Python, a cell depends on the cells that define or change what it uses, the nearest above; for
other languages on all code cells above it. Nothing is run, and the analysis of a cell is cached by
its source.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ...protocol.cells import PageCell
from .cell_names import Call, CellNames, Later
from .names import analyse

__all__ = ["CellNames", "Dependencies", "analyse", "dependents", "stale"]

BUILTINS = frozenset(dir(builtins)) | {
    "__annotations__", "__file__", "__name__", "In", "Out", "_", "__", "___", "_dh", "_i", "_ih",
    "_oh", "display", "exit", "get_ipython", "quit",
}  # fmt: skip


@dataclass
class _Value:
    """The cells that a name's value depends on at a place in the notebook."""

    cells: list[int]
    at: int
    later: Later | None = None
    is_class: bool = False
    imported: bool = False
    known: bool = True


@dataclass
class Dependencies:
    """The graph. ``needs[i]`` are the places of the cells that cell ``i`` directly depends on, all
    above it; ``undefined[i]`` the names that it uses and no cell above defines."""

    cells: list[PageCell]
    needs: list[list[int]]
    undefined: list[set[str]] = field(default_factory=list)

    def following(self, places: Iterable[int]) -> set[int]:
        """The dependents of these cells, direct or indirect, without these."""
        start = set(places)
        reached = set(start)
        for place, needed in enumerate(self.needs):
            if place not in reached and not reached.isdisjoint(needed):
                reached.add(place)
        return reached - start


def build(cells: Sequence[PageCell], language: str = "python") -> Dependencies:
    """The graph of a notebook's code cells (places count code cells only)."""
    code = [cell for cell in cells if cell.type == "code"]
    if not is_python(language):
        return Dependencies(code, [list(range(place)) for place in range(len(code))])
    builder = _Builder()
    for place, cell in enumerate(code):
        builder.add(place, analyse(cell.source))
    return Dependencies(code, builder.needs, builder.undefined)


def is_python(language: str | None) -> bool:
    """Whether a kernel's language is Python; an unknown one is taken to be."""
    return (language or "python").lower() in ("python", "ipython", "python3", "xpython")


class _Builder:
    """Walks the notebook from the top, tracking the source of each name's value."""

    def __init__(self) -> None:
        self.needs: list[list[int]] = []
        self.undefined: list[set[str]] = []
        self.names: dict[str, _Value] = {}
        # Cells that may define any name (``from x import *``).
        self.stars: list[int] = []

    def add(self, place: int, cell: CellNames) -> None:
        uses, mutates = self._with_calls(cell)
        needed: set[int] = set()
        undefined: set[str] = set()
        for name in uses:
            found = self._sources(name)
            needed.update(found)
            if not found and name not in BUILTINS and not self._bound_before(cell, name, name):
                undefined.add(name)
        self.needs.append(sorted(needed))
        self.undefined.append(set() if cell.opaque or cell.star else undefined)
        for name in mutates:
            self._changed(name, place, cell)
        for name in cell.deletes:
            self.names[name] = _Value([place], place)
        for name in cell.defines:
            self._defined(name, place, cell)
        if cell.star:
            self.stars.append(place)

    def _sources(self, name: str) -> list[int]:
        value = self.names.get(name)
        if value is None:
            return [] if name in BUILTINS else self.stars
        stars = [star for star in self.stars if star > value.at]
        return value.cells + stars if stars else value.cells

    def _with_calls(self, cell: CellNames) -> tuple[set[str], set[str]]:
        """What a cell uses and changes, through the functions of other cells too."""
        uses, mutates = set(cell.uses), set(cell.mutates)
        waiting = [(name, name) for name in cell.uses]
        seen = set()
        while waiting:
            name, first = waiting.pop()
            value = self.names.get(name)
            if name in seen or value is None or value.later is None:
                continue
            seen.add(name)
            for used in value.later.uses:
                if used in cell.maybe or not self._bound_before(cell, used, first):
                    uses.add(used)
                waiting.append((used, first))
            mutates |= value.later.mutates
            uses |= value.later.mutates & self.names.keys()
        for call in cell.calls:
            mutates |= self._changed_arguments(call) - cell.defines
        return uses, mutates

    @staticmethod
    def _bound_before(cell: CellNames, name: str, function: str) -> bool:
        """Whether the cell assigns the name before it first uses the other."""
        bound = cell.bound_at.get(name)
        return bound is not None and bound < cell.used_at.get(function, 0)

    def _changed_arguments(self, call: Call) -> set[str]:
        value = self.names.get(call.function)
        if value is None or value.later is None:
            return set()
        return {name for key, name in call.arguments.items() if key in value.later.parameters}

    def _changed(self, name: str, place: int, cell: CellNames) -> None:
        value = self.names.get(name)
        if value is None:
            self.names[name] = _Value([place], place, known=False)
        elif value.imported and name not in cell.library_mutates:
            return
        elif cell.opaque:
            # It may or may not have changed it: earlier cells count for those below, too.
            self.names[name] = _Value(
                [*value.cells, place], value.at, value.later, value.is_class, value.imported
            )
        else:
            # It used the earlier value, so those below depend on that through this cell.
            self.names[name] = _Value([place], place, value.later, value.is_class, value.imported)

    def _defined(self, name: str, place: int, cell: CellNames) -> None:
        later, is_class = cell.later.get(name), name in cell.classes
        if later is None and (other := cell.also.get(name)) is not None:
            value = self.names.get(other[0])
            if value is not None and value.is_class >= other[1]:
                later, is_class = value.later, value.is_class and not other[1]
        cells = [place]
        before = self.names.get(name)
        if name in cell.maybe and before is not None:
            cells = [*before.cells, place]
            later = _either(before.later, later)
        self.names[name] = _Value(cells, place, later, is_class, name in cell.imports)


def _either(first: Later | None, second: Later | None) -> Later | None:
    if first is None or second is None:
        return first or second
    return Later(
        first.uses | second.uses,
        first.mutates | second.mutates,
        first.parameters | second.parameters,
    )


def dependents(
    cells: Sequence[PageCell], changed_ids: Collection[str], language: str = "python"
) -> list[str]:
    """The dependents of these cells, direct or indirect, in notebook order, without these."""
    graph = build(cells, language)
    changed = [place for place, cell in enumerate(graph.cells) if cell.id in changed_ids]
    following = graph.following(changed)
    return [cell.id for place, cell in enumerate(graph.cells) if place in following]


def stale(
    cells: Sequence[PageCell], changed_ids: Collection[str], language: str = "python"
) -> list[str]:
    """The cells that become stale when these are changed and not run again: they and their
    dependents, if they have run."""
    affected = {*changed_ids, *dependents(cells, changed_ids, language)}
    return [
        cell.id for cell in cells if cell.type == "code" and cell.id in affected and has_run(cell)
    ]


def has_run(cell: PageCell) -> bool:
    """Whether a cell shows that it has run."""
    return cell.execution_count is not None or cell.last_run_success is not None

"""Which cells show outputs that no longer follow from the sources above.

Each run of a cell is recorded as a fingerprint of its source and of the runs of the cells that it
depended on. A cell is stale when its fingerprint would be different now. So an edit makes its
dependents stale, a reverted edit does not, and a run after a stale cell stays stale, as does one in
a kernel in which a cell that it depends on has not run. Runs before the notebook was first read
count as made with the sources at that time.
"""

from __future__ import annotations

import ast
import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from ...protocol.cells import PageCell, PageNotebook
from ...protocol.renames import Rename
from .dependencies import Dependencies, build, has_run
from .ipython_source import NotPython, parse_cell

_MOST_NOTEBOOKS = 200
# Below these the analysis is too fast to be worth a thread.
_FEW_CELLS = 100
_LITTLE_TEXT = 100_000
# Longer sources are compared as they are: parsing takes up to a second for each megabyte.
_LONGEST_PARSED = 100_000
_Mark = tuple[int | None, int | None]


@dataclass
class _Seen:
    """A cell as last seen. ``key`` identifies what its source means; ``mark`` identifies its newest
    run, whose fingerprint is ``ran``, in the kernel's ``life``."""

    source: str
    key: str
    mark: _Mark | None = None
    ran: int = 0
    life: object = None


@dataclass
class _CellsSeen:
    cells: dict[str, _Seen] = field(default_factory=dict)
    reported: dict[str | None, list[str]] = field(default_factory=dict)


class Staleness:
    """The runs of the last 200 notebooks, in memory: a restart of the server ends kernels too."""

    def __init__(self, life_of: Callable[[str], object] = lambda path: None) -> None:
        self._notebooks: OrderedDict[str, _CellsSeen] = OrderedDict()
        self._life_of = life_of

    def knows(self, path: str) -> bool:
        """Whether the notebook was read before."""
        return path in self._notebooks

    async def look(self, path: str, notebook: PageNotebook) -> list[str]:
        """Record the current notebook; returns the ids of its stale cells, in notebook order."""
        cells, language = notebook.cells, notebook.kernel_language or "python"
        if len(cells) < _FEW_CELLS and sum(len(cell.source) for cell in cells) < _LITTLE_TEXT:
            graph = build(cells, language)
        else:
            graph = await asyncio.to_thread(build, cells, language)
        return self._note(path, graph)

    def news(self, path: str, listener: str | None, stale: list[str]) -> bool:
        """Whether this list differs from the one that the listener (a session) last received."""
        reported = self._notebook(path).reported
        before = reported.get(listener, [])
        reported[listener] = stale
        return before != stale

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        rename.rekey(self._notebooks)

    def _notebook(self, path: str) -> _CellsSeen:
        notebook = self._notebooks.setdefault(path, _CellsSeen())
        self._notebooks.move_to_end(path)
        while len(self._notebooks) > _MOST_NOTEBOOKS:
            self._notebooks.popitem(last=False)
        return notebook

    def _note(self, path: str, graph: Dependencies) -> list[str]:
        notebook = self._notebook(path)
        is_first = not notebook.cells
        seen = [_look_at(notebook.cells.get(cell.id), cell) for cell in graph.cells]
        notebook.cells = {cell.id: each for cell, each in zip(graph.cells, seen, strict=True)}
        now: list[int] = []
        for place, needed in enumerate(graph.needs):
            now.append(hash((seen[place].key, *[now[each] for each in needed])))
        in_order = sorted(
            (place for place, cell in enumerate(graph.cells) if has_run(cell)),
            key=lambda place: (graph.cells[place].execution_count or 0, place),
        )
        life = self._life_of(path)
        for place in in_order:
            cell = seen[place]
            before, cell.mark = cell.mark, _mark(graph.cells[place])
            if before != cell.mark and not _is_forgotten(before, cell.mark):
                cell.life = life
                needed = [
                    _ran(seen[each], now[each], life, is_first=is_first)
                    for each in graph.needs[place]
                ]
                cell.ran = hash((cell.key, *needed))
        return [
            graph.cells[place].id for place in sorted(in_order) if seen[place].ran != now[place]
        ]


def _look_at(before: _Seen | None, cell: PageCell) -> _Seen:
    if before is None:
        return _Seen(cell.source, cell.source)
    if before.source != cell.source:
        # A comment or white space changes nothing.
        if _meaning(before.source) != _meaning(cell.source):
            before.key = cell.source
        before.source = cell.source
    if not has_run(cell):
        before.mark = None
    return before


def _is_forgotten(before: _Mark | None, mark: _Mark) -> bool:
    """Whether only the time of a run is not known any more: its kernel is gone, or the page that
    knew it was reloaded."""
    return before is not None and before[0] == mark[0] and mark[1] is None


def _ran(needed: _Seen, now: int, life: object, *, is_first: bool) -> int:
    """The fingerprint that a run found of a cell that it depends on."""
    if needed.mark is None:
        return now
    if needed.life is not life and not is_first:
        return hash(("not run in this kernel", needed.ran))
    return needed.ran


def _mark(cell: PageCell) -> _Mark:
    return cell.execution_count, cell.last_run_end_time


def _meaning(source: str) -> str:
    if len(source) > _LONGEST_PARSED:
        return source
    try:
        return ast.dump(parse_cell(source))
    except (SyntaxError, NotPython, RecursionError):
        return source

"""Which cells show outputs that no longer follow from the sources above.

Each run of a cell is recorded as a fingerprint of its source and of the runs of the cells that it
depended on. A cell is stale when its fingerprint would be different now. So an edit makes its
dependents stale, a reverted edit does not, and a run after a stale cell stays stale. Runs before
the notebook was first read count as made with the sources at that time.
"""

from __future__ import annotations

import ast
import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

from ...protocol.cells import PageCell, PageNotebook
from .dependencies import Dependencies, build, has_run
from .ipython_source import NotPython, parse_cell

_MOST_NOTEBOOKS = 200
# Below this the analysis is too fast to be worth a thread.
_FEW_CELLS = 100


@dataclass
class _Seen:
    """A cell as last seen. ``key`` identifies what its source means; ``mark`` identifies its newest
    run, whose fingerprint is ``ran``."""

    source: str
    key: str
    mark: tuple[int | None, int | None] | None = None
    ran: int = 0


@dataclass
class _CellsSeen:
    cells: dict[str, _Seen] = field(default_factory=dict)
    reported: dict[str | None, list[str]] = field(default_factory=dict)


class Staleness:
    """The runs of the last 200 notebooks, in memory: a restart of the server ends kernels too."""

    def __init__(self) -> None:
        self._notebooks: OrderedDict[str, _CellsSeen] = OrderedDict()

    def knows(self, path: str) -> bool:
        """Whether the notebook was read before."""
        return path in self._notebooks

    async def look(self, path: str, notebook: PageNotebook) -> list[str]:
        """Record the current notebook; returns the ids of its stale cells, in notebook order."""
        cells, language = notebook.cells, notebook.kernel_language or "python"
        if len(cells) < _FEW_CELLS:
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

    def _notebook(self, path: str) -> _CellsSeen:
        notebook = self._notebooks.setdefault(path, _CellsSeen())
        self._notebooks.move_to_end(path)
        while len(self._notebooks) > _MOST_NOTEBOOKS:
            self._notebooks.popitem(last=False)
        return notebook

    def _note(self, path: str, graph: Dependencies) -> list[str]:
        notebook = self._notebook(path)
        seen = [_look_at(notebook.cells.get(cell.id), cell) for cell in graph.cells]
        notebook.cells = {cell.id: each for cell, each in zip(graph.cells, seen, strict=True)}
        now: list[int] = []
        for place, needed in enumerate(graph.needs):
            now.append(hash((seen[place].key, *[now[each] for each in needed])))
        in_order = sorted(
            (place for place, cell in enumerate(graph.cells) if has_run(cell)),
            key=lambda place: (graph.cells[place].execution_count or 0, place),
        )
        for place in in_order:
            mark = _mark(graph.cells[place])
            if seen[place].mark != mark:
                seen[place].mark = mark
                seen[place].ran = hash(
                    (
                        seen[place].key,
                        *[
                            seen[each].ran if seen[each].mark is not None else now[each]
                            for each in graph.needs[place]
                        ],
                    )
                )
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


def _mark(cell: PageCell) -> tuple[int | None, int | None]:
    return cell.execution_count, cell.last_run_end_time


def _meaning(source: str) -> str:
    try:
        return ast.dump(parse_cell(source))
    except (SyntaxError, NotPython, RecursionError):
        return source

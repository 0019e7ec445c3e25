"""A real notebook with a real kernel in which cells really fail, and are repaired by the tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.protocol.cells import CellRun
from jupyter_datalayer_agent.protocol.workflows import FixInfo
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.context import ToolContext
from jupyter_datalayer_agent.tools.dispatcher import Dispatcher
from jupyter_datalayer_agent.tools.gate import Gate
from jupyter_datalayer_agent.workflows.fixes.probe import NotebookProbe, failure_of
from jupyter_datalayer_agent.workflows.fixes.registry import find_fixes
from tests.notebook.support import World, code, markdown, world, write_notebook


class Bench:
    """A notebook, its kernel, and the tools on it. Cells are called a, b, c… in order."""

    def __init__(self, w: World, path: str) -> None:
        self.world = w
        self.path = path
        context = ToolContext(gate=Gate.on(path), notebooks=w.service, kernel_timeout_seconds=60)
        self.dispatcher = Dispatcher(builtin_registry(), context)

    async def run(self, *cell_ids: str) -> list[CellRun]:
        document = await self.world.service.open(self.path)
        return await document.run(list(cell_ids), timeout=60, stop_on_error=False)

    async def fails(self, cell_id: str, ename: str) -> list[FixInfo]:
        """Run the cell, which must fail so, and ask what could be done."""
        (run,) = await self.run(cell_id)
        assert run.error is not None, run
        assert run.error.ename == ename, run.error
        return await self.fixes(cell_id)

    async def fixes(self, cell_id: str) -> list[FixInfo]:
        failure = await failure_of(self.world.service, self.path, cell_id)
        assert failure is not None
        return await find_fixes(failure, NotebookProbe(self.world.service, self.path))

    async def apply(self, fix: FixInfo) -> None:
        """Carry out the calls through the real tools; each must go well."""
        for call in fix.calls:
            done = await self.dispatcher.call(call.name, dict(call.arguments))
            assert done.result.ok, (call, done.result)

    async def state(self) -> dict[str, tuple[str, str]]:
        """Every cell's source and how its last run ended, by id."""
        document = await self.world.service.open(self.path)
        return {
            cell.id: (cell.source, {True: "ok", False: "failed", None: "not run"}[
                cell.last_run_success
            ])
            for cell in (await document.read()).cells
        }  # fmt: skip

    async def sources(self) -> list[str]:
        document = await self.world.service.open(self.path)
        return [cell.source for cell in (await document.read()).cells]


@asynccontextmanager
async def bench(
    tmp_path: Path,
    sources: Sequence[str],
    *,
    path: str = "a.ipynb",
    metadata: dict[str, Any] | None = None,
    kernel_dirs: Sequence[Path] = (),
) -> AsyncIterator[Bench]:
    """A notebook of these cells; those that start with ``#md`` are Markdown."""
    async with world(tmp_path, kernel_dirs=kernel_dirs) as w:
        cells = [
            (markdown if source.startswith("#md") else code)(chr(ord("a") + place), source)
            for place, source in enumerate(sources)
        ]
        write_notebook(w.root, cells, path, metadata=metadata)
        yield Bench(w, path)


def titles(fixes: Sequence[FixInfo]) -> list[str]:
    return [fix.title for fix in fixes]

"""Repairs of a failed cell that need no model: found by the error fixes, carried out by calls."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...notebook.document import DocumentError
from ...notebook.service import NotebookService
from ...protocol.page import CellRunError, PageCell
from ...protocol.workflows import FixInfo
from ...workflows.fix import CellFailure, FindFixes
from .own_calls import OwnCalls
from .watch import Failure

log = logging.getLogger(__name__)

MAX_FILES = 5_000
PROBE_SECONDS = 30.0


@dataclass(frozen=True)
class Probe:
    """Looks at the kernel of a notebook and the files beside it."""

    notebooks: NotebookService
    path: str

    async def compute(self, code: str) -> Any:
        """See ``FixProbe.compute``."""
        if await self.notebooks.kernel_of(self.path) is None:
            return None
        try:
            run = await self.notebooks.execute_code(code, path=self.path, timeout=PROBE_SECONDS)
        except DocumentError:
            return None
        if run.status != "ok":
            return None
        printed = "".join(
            output.get("text", "") for output in run.outputs if output.get("name") == "stdout"
        )
        try:
            return json.loads(printed)
        except ValueError:
            return None

    async def files(self) -> list[str]:
        """See ``FixProbe.files``."""
        root = self.notebooks.root_dir
        return [] if root is None else await asyncio.to_thread(_files_under, root)

    async def kernel_specs(self) -> list[dict[str, Any]]:
        """See ``FixProbe.kernel_specs``."""
        return [dict(spec) for spec in await self.notebooks.kernel_specs()]


def _files_under(root: str) -> list[str]:
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            each for each in folders if not each.startswith((".", "__")) and each != "node_modules"
        )
        for name in sorted(names):
            if not name.startswith("."):
                found.append(os.path.relpath(os.path.join(folder, name), root).replace("\\", "/"))
        if len(found) >= MAX_FILES:
            break
    return found[:MAX_FILES]


class Repairs:
    """Finds the fixes of a failure and carries one out."""

    def __init__(
        self, notebooks: NotebookService, find: FindFixes, calls: OwnCalls, client_id: str | None
    ) -> None:
        self._notebooks = notebooks
        self._find = find
        self._calls = calls
        self._client_id = client_id

    async def find(self, failure: Failure) -> list[FixInfo]:
        """The fixes of a cell that failed, the likeliest first."""
        if failure.path is None or failure.cell_id is None:
            return []
        cell_failure = await read_failure(
            self._notebooks, failure.path, failure.cell_id, self._client_id
        )
        if cell_failure is None:
            return []
        return await self._find(cell_failure, Probe(self._notebooks, failure.path))

    async def apply(self, fix: FixInfo, path: str) -> str | None:
        """Carry the fix out; None when all of it ended well, else what did not."""
        for step in fix.calls:
            done = await self._calls.call(step.name, {"path": path, **step.arguments})
            error = done.done.result.error
            if error is not None:
                return error.message
        return None


async def read_failure(
    notebooks: NotebookService, path: str, cell_id: str, client_id: str | None
) -> CellFailure | None:
    """A cell that failed, with its error as its outputs hold it; None where there is nothing to
    repair: the cell is gone, or its outputs hold no error though there is a kernel."""
    try:
        document = await notebooks.open(path, client_id)
        notebook = await document.read()
        outputs = (await document.read([cell_id], outputs=True)).cells
    except DocumentError as error:
        log.debug("A failed cell could not be read: %s", error)
        return None
    cell = next((each for each in notebook.cells if each.id == cell_id), None)
    if cell is None:
        return None
    raised = error_of(outputs)
    kernel = await notebooks.kernel_of(path)
    if raised is None and kernel is not None:
        return None
    return CellFailure(
        path=path,
        cell=cell,
        cells=notebook.cells,
        error=raised,
        language=notebook.kernel_language or "python",
        no_kernel=kernel is None,
    )


def error_of(cells: Sequence[PageCell]) -> CellRunError | None:
    """The error that stands in the outputs of a cell."""
    for cell in cells:
        for output in cell.outputs or []:
            if output.get("output_type") == "error":
                return CellRunError(
                    ename=str(output.get("ename", "")),
                    evalue=str(output.get("evalue", "")),
                    traceback=[str(line) for line in output.get("traceback", [])],
                )
    return None

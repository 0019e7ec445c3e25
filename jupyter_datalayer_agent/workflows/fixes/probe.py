"""The ``FixProbe`` of a real notebook."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable
from typing import Any

from ...notebook.cells_of import cells_of
from ...notebook.document import DocumentError
from ...notebook.kernel.acts import only_looking
from ...notebook.service import NotebookService
from ...opening import is_file_of
from ...protocol.cells import CellRun, CellRunError, PageCell, PageNotebook
from ...protocol.workflows import FixInfo
from ...tools.outputs import OUTPUTS
from ...tools.redaction import Part, text
from ..fix import CellFailure, FindFixes

COMPUTE_SECONDS = 20.0
MOST_FILES = 5_000
_KERNELS = {
    "python": "python",
    "xpython": "python",
    "ir": "r",
    "xr": "r",
    "julia": "julia",
    "bash": "bash",
}
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "env"})


class NotebookProbe:
    """A ``FixProbe`` over the notebook service; it starts no kernel and changes nothing."""

    def __init__(self, notebooks: NotebookService, path: str) -> None:
        self._notebooks = notebooks
        self._path = path
        self._files: list[str] | None = None

    async def compute(self, code: str) -> Any:
        """What the code prints in the notebook's kernel, read as JSON; None where that fails."""
        try:
            if await self._notebooks.kernel_of(self._path) is None:
                return None
            with only_looking():
                run = await self._notebooks.execute_code(
                    code, path=self._path, timeout=COMPUTE_SECONDS
                )
        except DocumentError:
            return None
        printed = "".join(
            output["text"]
            for output in run.outputs
            if output.get("output_type") == "stream" and output.get("name") == "stdout"
        )
        try:
            return json.loads(printed) if run.status == "ok" else None
        except json.JSONDecodeError:
            return None

    async def files(self) -> list[str]:
        """Up to 5,000 files under the server root, those nearest to the root first; without hidden
        ones and environments."""
        if self._files is None:
            root = self._notebooks.root_dir
            closed = self._notebooks.text_files.leads_to_secret
            self._files = [] if root is None else await asyncio.to_thread(_walk, root, closed)
        return self._files

    async def kernel_specs(self) -> list[dict[str, Any]]:
        """Kernels that could be started: ``{name, displayName, language}``."""
        return await self._notebooks.kernel_specs()


def _walk(root: str, leads_to_secret: Callable[[str], bool]) -> list[str]:
    found: list[str] = []
    folders = [root]
    while folders and len(found) < MOST_FILES:
        below: list[str] = []
        for folder in folders:
            for entry in _entries(folder):
                if entry.name.startswith(".") or entry.name in _PASSED_OVER:
                    continue
                # Folders are not followed by links, which may form a cycle.
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.path)
                elif is_file_of(root, entry):
                    path = os.path.relpath(entry.path, root).replace(os.sep, "/")
                    if not (entry.is_symlink() and leads_to_secret(path)):
                        found.append(path)
        folders = below
    return found[:MOST_FILES]


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


async def failure_of(
    notebooks: NotebookService, path: str, cell_id: str, client_id: str | None = None
) -> CellFailure | None:
    """The failure that a cell, or a block that runs, shows now: the error among its outputs.

    None if there is no such cell, or it shows no error. Raises ``DocumentError``.
    """
    notebook = await cells_of(notebooks, path, client_id, outputs=True)
    cell = next((each for each in notebook.cells if each.id == cell_id), None)
    error = None if cell is None else _error_in(cell)
    if cell is None or error is None:
        return None
    return CellFailure(
        path=path,
        cell=cell,
        cells=notebook.cells,
        error=error,
        language=await language_of(notebooks, notebook) or _language_of_error(error),
    )


async def language_of(notebooks: NotebookService, notebook: PageNotebook) -> str | None:
    """The language of a notebook's code, in lower case: its kernel's, or that of its metadata, or
    None."""
    if notebook.kernel_language:
        return notebook.kernel_language.lower()
    name = notebook.kernel_name
    for spec in await notebooks.kernel_specs():
        if spec["name"] == name and spec["language"]:
            return str(spec["language"]).lower()
    return _language_of_kernel(name) if name else None


def _language_of_error(error: CellRunError) -> str | None:
    """The language of an error whose traceback is Python's."""
    python = any("Traceback (most recent call last)" in line for line in error.traceback)
    return "python" if python else None


def _language_of_kernel(name: str) -> str | None:
    """The language of a kernel that is not installed, by the usual kernel names."""
    family = re.match(r"[a-z+]*", name.lower())
    return _KERNELS.get(family[0]) if family is not None else None


def _error_in(cell: PageCell) -> CellRunError | None:
    for output in cell.outputs or []:
        if output.get("output_type") == "error":
            return CellRunError(
                ename=str(output.get("ename", "")),
                evalue=str(output.get("evalue", "")),
                traceback=[str(line) for line in output.get("traceback") or []],
            )
    return None


# The hint of a failed run: what the error fixes would do, said to the model.
#
# The fixes are the one place that knows repairs. The page offers them as a click, a plan carries
# out the safe ones, and the result of a failed run names them by this.


MOST = 3
"""The most alternatives that a hint names."""
_CODE = "the-code"


async def repair_hint(
    notebooks: NotebookService,
    find_fixes: FindFixes,
    path: str,
    run: CellRun,
    code: str | None = None,
    client_id: str | None = None,
) -> str | None:
    """What would repair a failed run of a cell (or of ``code`` in the notebook's kernel), None
    where no fix is known. The text is private as the outputs are: it may name columns and files.

    Raises ``DocumentError``.
    """
    if code is None:
        failure = await failure_of(notebooks, path, run.cell_id, client_id)
    else:
        failure = await _failure_of_code(notebooks, path, run, code, client_id)
    if failure is None:
        return None
    fixes = await find_fixes(failure, NotebookProbe(notebooks, path))
    if not fixes:
        return None
    return text(Part(_said(fixes[:MOST]), OUTPUTS, "a hint"))


def _said(fixes: list[FixInfo]) -> str:
    titles = [fixes[0].title, *(f"{fix.title[:1].lower()}{fix.title[1:]}" for fix in fixes[1:])]
    return f"{fixes[0].explanation} {', or '.join(titles)}."


async def _failure_of_code(
    notebooks: NotebookService, path: str, run: CellRun, code: str, client_id: str | None
) -> CellFailure:
    """The failure of code that is no cell, as that of a cell below all others."""
    notebook = await cells_of(notebooks, path, client_id)
    cell = PageCell(
        id=_CODE, index=len(notebook.cells), type="code", source=code, hash="", has_output=True
    )
    return CellFailure(
        path=path,
        cell=cell,
        cells=[*notebook.cells, cell],
        error=run.error,
        language=await language_of(notebooks, notebook),
    )

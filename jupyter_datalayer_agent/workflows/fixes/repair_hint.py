"""The hint of a failed run: what the error fixes would do, said to the model.

The fixes are the one place that knows repairs. The page offers them as a click, a plan carries out
the safe ones, and the result of a failed run names them by this.
"""

from __future__ import annotations

from ...notebook.cells_of import cells_of
from ...notebook.service import NotebookService
from ...protocol.cells import CellRun, PageCell
from ...protocol.workflows import FixInfo
from ...tools.outputs import OUTPUTS
from ...tools.redaction import Part, text
from ..fix import CellFailure, FindFixes
from .probe import NotebookProbe, failure_of, language_of

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

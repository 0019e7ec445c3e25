"""Checks a lesson: runs the learner's cell as it is, then inspects what it made.

Everything happens in the notebook's own kernel, on the learner's own variables. The cell is run at
each check, so that what is judged is what the cell says now, whatever ran before or after it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...notebook.document import DocumentError, NotebookDocument
from ...notebook.kernel.acts import only_looking
from ...notebook.service import NotebookService
from ...protocol.cells import CellRun, PageCell, PageNotebook
from ..fixes.probe import language_of
from .in_kernel import answer_in, check_code, prepare_code
from .lesson import LessonContent, TutorialContent, lesson_cells

log = logging.getLogger(__name__)

DIED = "The kernel died. Wait until there is a new one, then check again."
RUN_SECONDS = 120.0
CHECK_SECONDS = 60.0


@dataclass(frozen=True)
class Verdict:
    """Whether the answer is right, and the feedback."""

    passed: bool
    feedback: str


class NotNow(Exception):
    """The answer cannot be judged; the message says why, and what to do."""


async def check_lesson(
    notebooks: NotebookService,
    tutorial: TutorialContent,
    number: int,
    path: str,
    cell_id: str | None = None,
    client_id: str | None = None,
) -> Verdict:
    """Run and judge the lesson's cells, or the cell ``cell_id``.

    Raises ``DocumentError`` where the notebook or the cell is not there. Whatever is wrong with
    the kernel or with the learner's code is a verdict.
    """
    path = await notebooks.confine(path)
    document = await notebooks.open(path, client_id)
    # Nobody's run may come between the learner's cell and the look at what it made.
    async with notebooks.lock(path):
        notebook = await document.read(whole=True)
        check = _Check(notebooks, document, tutorial, number, notebook)
        cells = check.cells_of(number) if cell_id is None else check.named(cell_id)
        try:
            await check.look_at_kernel()
            return await check.verdict(cells)
        except NotNow as reason:
            return Verdict(False, str(reason))
        except DocumentError as error:
            if error.code != "kernel_error":
                raise
            return Verdict(False, f"{error.message} {error.hint or ''}".strip())


class _Check:
    def __init__(
        self,
        notebooks: NotebookService,
        document: NotebookDocument,
        tutorial: TutorialContent,
        number: int,
        notebook: PageNotebook,
    ) -> None:
        self.notebooks = notebooks
        self.document = document
        self.tutorial = tutorial
        self.number = number
        self.notebook = notebook

    @property
    def lesson(self) -> LessonContent:
        return self.tutorial.lessons[self.number - 1]

    def cells_of(self, number: int) -> list[PageCell]:
        """The lesson's code cells. Raises ``DocumentError`` ``not_found``."""
        ids = lesson_cells(self.tutorial, number, self.notebook.cells)
        if not ids:
            raise DocumentError(
                "not_found",
                f"The cell of lesson {number} is not in {self.document.path} any more.",
                "Undo its deletion, or rename this notebook and start the tutorial again for a "
                "new one.",
            )
        return [cell for cell in self.notebook.cells if cell.id in ids]

    def named(self, cell_id: str) -> list[PageCell]:
        """The code cell of that id. Raises ``DocumentError`` ``not_found``."""
        found = [c for c in self.notebook.cells if c.id == cell_id and c.type == "code"]
        if not found:
            raise DocumentError("not_found", f"There is no code cell {cell_id}.")
        return found

    async def look_at_kernel(self) -> None:
        """Raises ``NotNow`` unless there is, or can be, a kernel for Python."""
        language = await language_of(self.notebooks, self.notebook)
        if language not in ("python", None):
            raise NotNow(
                f"The notebook's kernel speaks {language}; the lesson is in Python. Choose a "
                "Python kernel for the notebook, then check again."
            )
        if self.document.backend == "browser" and self.notebook.kernel_id is None:
            raise NotNow(
                "The notebook has no kernel. Choose one at the upper right of the notebook, then "
                "check again."
            )

    async def verdict(self, cells: Sequence[PageCell]) -> Verdict:
        source = "\n\n".join(cell.source for cell in cells)
        if not source.strip():
            return Verdict(False, "The cell is empty. Write your answer into it.")
        missing = await self._prepare()
        if missing:
            await self._run_earlier_lessons()
            await self._prepare()
        runs = await self._run([cell.id for cell in cells])
        failed = next((run for run in runs if run.status not in ("ok", "skipped")), None)
        if failed is not None and (failed.status != "error" or _died(failed)):
            raise NotNow(_unfinished(failed))
        error = failed.error if failed is not None else None
        request = {
            "source": source,
            "count": runs[-1].execution_count,
            "error": None if error is None else [error.ename, error.evalue],
        }
        code = check_code(self.tutorial.package, self.lesson.check, request)
        found = await self._ask(code)
        feedback = str(found["feedback"])
        if found.get("confused"):
            log.warning("A check of %s, lesson %s: %s", self.tutorial.id, self.number, feedback)
        if not found["passed"] and source.strip() == self.lesson.starter_code.strip():
            feedback = f"The cell still holds the starter code. {feedback}"
        return Verdict(bool(found["passed"]), feedback)

    async def _prepare(self) -> list[str]:
        """The names of earlier lessons that the kernel does not have."""
        code = prepare_code(self.lesson.builds_on, figures=self.tutorial.figures)
        found = await self._ask(code)
        return list(found["missing"])

    async def _run_earlier_lessons(self) -> None:
        """Run what this lesson builds on, as after a restart of the kernel."""
        for number in range(1, self.number):
            try:
                cells = self.cells_of(number)
            except DocumentError:
                continue  # the check then reports what is missing
            for run in await self._run([cell.id for cell in cells]):
                if run.status not in ("ok", "skipped"):
                    what = f"{run.error.ename}: {run.error.evalue}" if run.error else run.status
                    raise NotNow(
                        f"This lesson builds on lesson {number}, whose cell fails ({what}). Check "
                        "that lesson first."
                    )

    async def _run(self, cell_ids: Sequence[str]) -> list[CellRun]:
        seconds = min(RUN_SECONDS, self.notebooks.kernel_timeout_seconds)
        return await self.document.run(cell_ids, timeout=seconds)

    async def _ask(self, code: str) -> dict[str, Any]:
        """What the code answers in the kernel; ``NotNow`` where there is no answer."""
        with only_looking():
            run = await self.notebooks.execute_code(
                code, path=self.document.path, timeout=CHECK_SECONDS
            )
        if run.status == "timeout":
            raise NotNow(
                "The check took too long and was stopped. Is one of the values far larger than the "
                "lesson's data? Correct the cell and check again."
            )
        printed = "".join(
            str(output.get("text", ""))
            for output in run.outputs
            if output.get("output_type") == "stream" and output.get("name") == "stdout"
        )
        if _died(run):
            raise NotNow(DIED)
        answer = answer_in(printed)
        if not isinstance(answer, dict):
            why = f" ({run.error.ename}: {run.error.evalue})" if run.error else ""
            raise NotNow(
                f"The kernel gave no answer to the check{why}. Restart the kernel, then check "
                "again."
            )
        return answer


def _died(run: CellRun) -> bool:
    return run.kernel_died


def _unfinished(run: CellRun) -> str:
    if _died(run):
        return DIED
    if run.status == "timeout":
        return (
            f"The cell ran for more than {RUN_SECONDS:.0f} seconds and was stopped. Is there a "
            "loop without an end?"
        )
    note = f" {run.note}" if run.note else ""
    return f"The cell did not run to its end.{note} Check again."

"""Every task's check passes what is right and refuses what is wrong, in a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.benchmark.item import Result
from jupyter_datalayer_agent.benchmark.tasks.catalogue import TASKS
from jupyter_datalayer_agent.benchmark.tasks.runner import Used, run_task
from jupyter_datalayer_agent.benchmark.tasks.task import NOTEBOOK, Task
from tests.benchmark.scripted import CLAIM
from tests.benchmark.solutions import RIGHT, Add, Change, Run, Solution, Step
from tests.benchmark.wrong_solutions import WRONG
from tests.support.template_run import KernelForTemplates

BY_ID = {task.id: task for task in TASKS}


class SolvingAgent:
    """Carries out a solution on a notebook file, in a kernel that all tasks share."""

    def __init__(self, kernel: KernelForTemplates, folder: Path, solution: Solution) -> None:
        kernel.start(folder)
        self._kernel = kernel
        self._file = folder / NOTEBOOK
        self._notebook = nbformat.read(self._file, as_version=4)
        self._solution = solution
        self._last = ""

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        if tool == "executeCode":
            self._kernel.execute(arguments["code"])
        elif tool == "updateNotebookCell":
            self._cell(arguments["cellId"]).source = arguments["content"]
        else:
            assert (tool, arguments["all"]) == ("runNotebookCells", True)
            for cell in self._notebook.cells:
                self._run(cell)
        self._save()

    def ask(self, message: str) -> str:
        for step in self._solution.steps:
            self._take(step)
        self._save()
        said = self._last or next(filter(None, map(_text, reversed(self._notebook.cells))), "")
        return self._solution.answer.replace("{out}", said)

    def used(self) -> Used:
        return Used()

    def _take(self, step: Step) -> None:
        if isinstance(step, Add):
            self._notebook.cells.append(nbformat.v4.new_code_cell(step.source))
            self._run(self._notebook.cells[-1])
        elif isinstance(step, Change):
            self._cell(step.cell_id).source = step.source
            self._run(self._cell(step.cell_id))
        elif isinstance(step, Run):
            self._run(self._cell(step.cell_id))
        else:
            self._notebook.cells.insert(0, nbformat.v4.new_markdown_cell(step.source))

    def _cell(self, cell_id: str) -> Any:
        return next(cell for cell in self._notebook.cells if cell.id == cell_id)

    def _run(self, cell: Any) -> None:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = self._kernel.execute(cell.source)
            self._last = _text(cell)

    def _save(self) -> None:
        nbformat.write(self._notebook, self._file)


def _text(cell: Any) -> str:
    outputs = cell.get("outputs", [])
    texts = [each.get("text") or each.get("data", {}).get("text/plain", "") for each in outputs]
    return "\n".join(filter(None, texts))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelForTemplates]:
    with KernelForTemplates(tmp_path_factory.mktemp("kernel")) as running:
        yield running


def solved(kernel: KernelForTemplates, task: Task, solution: Solution) -> Result:
    @contextmanager
    def start(folder: Path) -> Iterator[SolvingAgent]:
        yield SolvingAgent(kernel, folder, solution)
        # The folder goes, and IPython can do nothing in one that is gone.
        kernel.execute("import os; os.chdir('/')")

    return run_task(task, start)


def test_each_task_has_a_right_and_a_wrong_solution() -> None:
    assert len(TASKS) == len(BY_ID) >= 20
    assert BY_ID.keys() == RIGHT.keys() == WRONG.keys()


@pytest.mark.parametrize("task_id", BY_ID)
def test_what_is_right_passes(kernel: KernelForTemplates, task_id: str) -> None:
    assert solved(kernel, BY_ID[task_id], RIGHT[task_id]).problems == []


@pytest.mark.parametrize(
    ("task_id", "solution"),
    [
        *((task_id, CLAIM) for task_id in BY_ID),
        *((task_id, each) for task_id, wrong in WRONG.items() for each in wrong),
    ],
)
def test_what_is_wrong_or_only_claimed_does_not_pass(
    kernel: KernelForTemplates, task_id: str, solution: Solution
) -> None:
    assert solved(kernel, BY_ID[task_id], solution).problems != []

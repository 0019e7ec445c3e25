"""Runs a workflow template against a real kernel and a notebook in memory.

with KernelForTemplates(folder) as kernel:
    notebook = await kernel.run(template, {"data": "cars.csv"})

The kernel starts in the notebook's folder, as Jupyter's sessions start theirs. Nothing is mocked
but the executor around the template (approvals, events, recovery), which has tests of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    output_from_msg,
)

from jupyter_datalayer_agent.workflows.template import StepFailed, Template

METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
    "language_info": {"name": "python"},
}
TIMEOUT = 110
# On a busy machine the threads of gradient boosting wait for one another, many times their work.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@dataclass
class NotebookRun:
    """A ``TemplateRun`` that writes into ``document``; ``computed`` counts hidden requests."""

    kernel: KernelForTemplates
    parameters: Any
    notebook: str
    facts: dict[str, Any] = field(default_factory=dict)
    document: NotebookNode = field(default_factory=lambda: new_notebook(metadata=METADATA))
    computed: int = 0
    questions: list[tuple[str, list[str]]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    async def markdown(self, source: str) -> str:
        cell = new_markdown_cell(source)
        self.document.cells.append(cell)
        return str(cell.id)

    async def code(self, source: str, *, run: bool = True) -> str:
        cell = new_code_cell(source)
        self.document.cells.append(cell)
        if run:
            outputs, count = self.kernel.execute(source)
            cell.outputs, cell.execution_count = outputs, count
            errors = [each for each in outputs if each.output_type == "error"]
            if errors:
                raise StepFailed(f"{errors[0].ename}: {errors[0].evalue}", str(cell.id))
        return str(cell.id)

    async def compute(self, code: str) -> Any:
        self.computed += 1
        outputs, _ = self.kernel.execute(code, history=False)
        for output in outputs:
            if output.output_type == "error":
                raise StepFailed(f"{output.ename}: {output.evalue}\n" + "\n".join(output.traceback))
        # The facts are kept as JSON in the database.
        return json.loads("".join(each.text for each in outputs if each.output_type == "stream"))

    async def ask(self, question: str, options: Sequence[str]) -> str:
        self.questions.append((question, list(options)))
        if not self.answers:
            raise StepFailed(f"{question} The choices are: {'; '.join(options)}.")
        return self.answers.pop(0)


class KernelForTemplates:
    """One kernel, emptied for each notebook: ``root`` is the server root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._manager: KernelManager | None = None
        self._client: BlockingKernelClient | None = None

    def __enter__(self) -> KernelForTemplates:
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()

    def start(self, folder: Path) -> None:
        """A kernel in that folder that holds no names; its imports are kept, to be quick."""
        folder.mkdir(parents=True, exist_ok=True)
        if self._client is not None:
            self.execute(f"%reset -f\nimport os; os.chdir({str(folder)!r}); del os")
            return
        self._manager = KernelManager(kernel_name="python3")
        self._manager.start_kernel(cwd=str(folder), env=os.environ | ONE_THREAD)
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)

    def shutdown(self) -> None:
        if self._client is not None and self._manager is not None:
            self._client.stop_channels()
            self._manager.shutdown_kernel(now=True)
        self._client = self._manager = None

    def execute(self, code: str, *, history: bool = True) -> tuple[list[NotebookNode], int]:
        assert self._client is not None
        outputs: list[NotebookNode] = []

        def take(message: dict[str, Any]) -> None:
            if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
                _append(outputs, output_from_msg(message))

        hook: Callable[[dict[str, Any]], None] = take
        reply = self._client.execute_interactive(
            code, store_history=history, output_hook=hook, timeout=TIMEOUT, allow_stdin=False
        )
        return outputs, reply["content"]["execution_count"]

    async def run(
        self, template: Template, parameters: dict[str, Any], answers: Sequence[str] = ()
    ) -> NotebookRun:
        """All steps of the template, from an empty kernel; the notebook is saved under the root."""
        given = template.parameters.model_validate(parameters)
        path = getattr(given, "notebook", None) or template.notebook
        file = self.root / path
        self.start(file.parent)
        run = NotebookRun(self, given, path, answers=list(answers))
        for step in template.steps(given):
            await step.act(run)
            # Facts survive a restart of the server as JSON.
            run.facts = json.loads(json.dumps(run.facts, allow_nan=False))
        nbformat.validate(run.document)
        nbformat.write(run.document, file)
        return run


def run_again(file: Path) -> NotebookNode:
    """The notebook run from scratch by nbclient, from its file, in its folder."""
    document = nbformat.read(file, as_version=4)
    for cell in document.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        document, timeout=TIMEOUT, resources={"metadata": {"path": str(file.parent)}}
    )
    client.execute(env=os.environ | ONE_THREAD)
    return document


def _append(outputs: list[NotebookNode], output: NotebookNode) -> None:
    """Pieces of one stream are one output, as Jupyter keeps them."""
    last = outputs[-1] if outputs else None
    one = last is not None and last.output_type == output.output_type == "stream"
    if one and last.name == output.name:
        last.text += output.text
    else:
        outputs.append(output)

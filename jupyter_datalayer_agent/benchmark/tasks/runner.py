"""Runs a task: its notebook in a folder of its own, the agent on it, and the check."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import nbformat

from ..item import Item, Result
from .checks import NoValue, code_of
from .task import NOTEBOOK, Done, Task

GROUP = "tasks"


class TaskEnded(Exception):
    """The agent did not come to its end: the message says why."""


@dataclass(frozen=True)
class Used:
    """What a task used of the model. ``cost`` in US dollars, None where no price is known."""

    calls: int = 0
    tokens: int = 0
    cost: float | None = None


class Agent(Protocol):
    """The agent on a task's notebook, with a server and a kernel."""

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        """Call a tool as the user's own act; a tool that fails is none of ours."""

    def ask(self, message: str) -> str:
        """Carry out the message to its end: the last answer. Raises ``TaskEnded``."""

    def used(self) -> Used:
        """What has been used so far."""


Start = Callable[[Path], AbstractContextManager[Agent]]
"""Starts the agent on the folder of a task; leaving ends its server and its kernels."""


def run_task(task: Task, start: Start) -> Result:
    """Run it once. Nothing of it stays: the folder goes, with all that was written there."""
    result = Result(service=GROUP, subcommand=task.id)
    with tempfile.TemporaryDirectory(prefix="datalayer-agent-task-") as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        task.write(folder)
        with start(folder) as agent:
            _prepare(task, agent)
            before = _read(folder)
            began = time.perf_counter()
            try:
                result.answer = agent.ask(task.message)
            except TaskEnded as ended:
                result.problems = [str(ended)]
                return result
            finally:
                result.seconds = time.perf_counter() - began
            used = agent.used()
            result.calls, result.tokens, result.cost = used.calls, used.tokens, used.cost
            value = partial(_value, agent, folder.parent / "value.json")
            problem = task.problem(Done(before, _read(folder), result.answer, folder, value))
            result.problems = [problem] if problem else []
    return result


def _prepare(task: Task, agent: Agent) -> None:
    """What the user did before."""
    if task.ran:
        agent.call("runNotebookCells", {"path": NOTEBOOK, "all": True})
    for cell_id, content in task.edited.items():
        agent.call("updateNotebookCell", {"path": NOTEBOOK, "cellId": cell_id, "content": content})


def _read(folder: Path) -> Any:
    return nbformat.read(folder / NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]


def _value(agent: Agent, file: Path, expression: str) -> Any:
    file.unlink(missing_ok=True)
    agent.call("executeCode", {"path": NOTEBOOK, "code": code_of(expression, file)})
    if not file.exists():
        raise NoValue("the kernel does not answer")
    found = json.loads(file.read_text(encoding="utf-8"))
    if "problem" in found:
        raise NoValue(found["problem"])
    return found["value"]


def items_of(tasks: Sequence[Task], start: Start) -> list[Item]:
    """The tasks as the benchmark runs them."""

    def item(task: Task) -> Item:
        run = partial(asyncio.to_thread, run_task, task, start)
        return Item(GROUP, task.id, task.kind, task.message, "as its check says", run)

    return [item(each) for each in tasks]

"""A scripted model that carries out the solutions of the tasks, whichever it is asked for, and
that says rightly what each of the benchmark's sentences asks for.

``python -m tests.benchmark.scripted --port 4010 [--wrong | --claim]`` is one for the command.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_datalayer_agent.benchmark.cases import sentence_cases
from jupyter_datalayer_agent.benchmark.tasks.catalogue import TASKS
from tests.benchmark.solutions import RIGHT, Add, Change, Run, Solution
from tests.benchmark.solutions import Step as SolutionStep
from tests.benchmark.wrong_solutions import WRONG
from tests.support.model_request import RecordedRequest
from tests.support.model_script import Call, Say, Step
from tests.support.model_server import ScriptedModelServer

CLAIM = Solution([], "Done: all is as you asked for.")


def solving(solutions: Mapping[str, Solution]) -> Callable[[RecordedRequest], Step]:
    """A default step: the next one of the task that the request is about, then its answer."""

    def step(request: RecordedRequest) -> Step:
        task = next(each for each in TASKS if each.message in request.text)
        solution = solutions[task.id]
        done = len(request.tool_outputs)
        if done < len(solution.steps):
            return call_of(solution.steps[done])
        if done == 0 and "{out}" in solution.answer:
            return Call("getNotebookCells", {"includeOutputs": True})
        said = shown(json.loads(request.last_output)) if done else ""
        return Say(solution.answer.replace("{out}", said))

    return step


def choosing(otherwise: Callable[[RecordedRequest], Step]) -> Callable[[RecordedRequest], Step]:
    """A default step for a request about a sentence: what it asks for is proposed, without
    parameters; one that asks for nothing of a service is answered. Any other request is for
    ``otherwise``."""
    sentences = sorted(sentence_cases(), key=lambda case: -len(case.message))

    def step(request: RecordedRequest) -> Step:
        case = next((each for each in sentences if each.message in request.text), None)
        if case is None:
            return otherwise(request)
        wanted = case.expect
        if wanted.service is None:
            return Say("Well.")
        return Call("proposeAction", {"service": wanted.service, "action": wanted.subcommand})

    return step


def call_of(step: SolutionStep) -> Call:
    if isinstance(step, Add):
        return Call("addNotebookCell", {"type": "code", "content": step.source, "run": True})
    if isinstance(step, Change):
        given = {"cellId": step.cell_id, "content": step.source, "run": True}
        return Call("updateNotebookCell", given)
    if isinstance(step, Run):
        return Call("runNotebookCells", {"cellIds": [step.cell_id]})
    given = {"type": "markdown", "content": step.source, "position": "start"}
    return Call("addNotebookCell", given)


def shown(output: Any) -> str:
    """The last text of a cell's outputs in a tool's output."""
    if isinstance(output, dict):
        own = output.get("outputs")
        texts = [own] if isinstance(own, str) else []
        texts += [text for each in output.values() if (text := shown(each))]
        return texts[-1].strip() if texts else ""
    if isinstance(output, list):
        return next(filter(None, map(shown, reversed(output))), "")
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--wrong", action="store_true", help="carry out the wrong solutions")
    parser.add_argument("--claim", action="store_true", help="do nothing and say that it is done")
    options = parser.parse_args()
    solutions = dict.fromkeys(RIGHT, CLAIM) if options.claim else RIGHT
    if options.wrong:
        solutions = {name: each[0] for name, each in WRONG.items()}
    with ScriptedModelServer(default=choosing(solving(solutions)), port=options.port) as server:
        print(server.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()

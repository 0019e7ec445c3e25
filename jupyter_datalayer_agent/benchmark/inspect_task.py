"""Cases or tasks as a task of Inspect AI, which runs them, logs each run and shows the logs.

https://inspect.aisi.org.uk/ (the extra ``benchmark``). What a run does is ours (``runner``,
``tasks.runner``): Inspect's own model is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .item import Item, Result


def run_all(
    items: Sequence[Item], *, name: str, runs: int, log_dir: Path, at_once: int = 4
) -> tuple[list[tuple[str, str, str, Result]], str | None]:
    """Run each item ``runs`` times: group, id, kind and result of each, and the log's path.
    ``name`` is that of the log.

    Raises ``ImportError`` where Inspect is not installed.
    """
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
    from inspect_ai.solver import solver

    results: list[tuple[str, str, str, Result]] = []
    known = {f"{item.group}/{item.id}": item for item in items}

    @solver(name="understand")  # type: ignore[untyped-decorator]
    def understand() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            item = known[str(state.sample_id)]
            result = await item.run()
            results.append((item.group, item.id, item.kind, result))
            state.metadata["problems"] = result.problems
            state.output = ModelOutput.from_content("datalayer-agent", result.answer)
            return state

        return solve

    @scorer(metrics=[accuracy(), stderr()], name="as_expected")  # type: ignore[untyped-decorator]
    def as_expected() -> Any:
        async def score(state: Any, target: Any) -> Any:
            problems = state.metadata["problems"]
            return Score(
                value=INCORRECT if problems else CORRECT,
                answer=state.output.completion,
                explanation="; ".join(problems),
            )

        return score

    samples = [
        Sample(
            id=key,
            input=item.message,
            target=item.target,
            metadata={"kind": item.kind, "service": item.group},
        )
        for key, item in known.items()
    ]
    task = Task(
        dataset=MemoryDataset(samples),
        solver=understand(),
        scorer=as_expected(),
        name=name,
    )
    logs = eval(
        task,
        model="mockllm/model",
        epochs=runs,
        log_dir=str(log_dir),
        display="none",
        max_samples=at_once,
    )
    failed = next((log for log in logs if log.status != "success"), None)
    if failed is not None:
        raise RuntimeError(f"The benchmark did not end: {failed.error}")
    return results, logs[0].location if logs else None

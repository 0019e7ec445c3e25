"""The cases as a task of Inspect AI, which runs them, logs each run and shows the logs.

https://inspect.aisi.org.uk/ (the extra ``benchmark``). What a run does is ours (``runner``):
Inspect's own model is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..models.types import Model
from ..services.benchmarks import Case
from ..services.routing import Router
from ..settings.turn import Settings
from .runner import Result, run_case


def run_all(
    cases: Sequence[tuple[str, Case]],
    router: Router,
    *,
    runs: int,
    log_dir: Path,
    model: Model | None = None,
    settings: Settings | None = None,
) -> tuple[list[tuple[str, str, str, Result]], str | None]:
    """Run each case ``runs`` times: service, case, kind and result of each, and the log's path.

    Raises ``ImportError`` where Inspect is not installed.
    """
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
    from inspect_ai.solver import solver

    results: list[tuple[str, str, str, Result]] = []
    known = {f"{service}/{case.id}": (service, case) for service, case in cases}

    @solver(name="understand")  # type: ignore[untyped-decorator]
    def understand() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            service, case = known[str(state.sample_id)]
            result = await run_case(case, router, model, settings)
            results.append((service, case.id, case.kind, result))
            state.metadata["problems"] = result.problems
            text = f"{result.service or 'ordinary'}.{result.subcommand or ''}"
            state.output = ModelOutput.from_content("datalayer-agent", text)
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
            id=name,
            input=case.message,
            target=f"{case.expect.service or 'ordinary'}.{case.expect.subcommand or ''}",
            metadata={"kind": case.kind, "service": service},
        )
        for name, (service, case) in known.items()
    ]
    task = Task(
        dataset=MemoryDataset(samples),
        solver=understand(),
        scorer=as_expected(),
        name="services",
    )
    logs = eval(
        task,
        model="mockllm/model",
        epochs=runs,
        log_dir=str(log_dir),
        display="none",
        max_samples=4,
    )
    failed = next((log for log in logs if log.status != "success"), None)
    if failed is not None:
        raise RuntimeError(f"The benchmark did not end: {failed.error}")
    return results, logs[0].location if logs else None

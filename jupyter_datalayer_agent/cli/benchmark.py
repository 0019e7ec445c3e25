"""``benchmark``: how often the agent understands a message, or carries out a task, rightly."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path
from typing import Any

from .._version import __version__
from .failure import CommandFailed

EXTRA = "The benchmark needs Inspect AI: pip install 'jupyter-datalayer-agent[benchmark]'"


def benchmark(given: argparse.Namespace) -> int:
    """Run the cases or the tasks; 1 where fewer were right than ``--min-success``."""
    if given.compare:
        return _compare(*given.compare)
    from ..benchmark.inspect_task import run_all
    from ..benchmark.report import markdown, report

    if given.runs is not None and given.runs < 1:
        raise CommandFailed("--runs must be at least 1.")
    model, settings = _model(given)
    problems: list[str] = []
    if given.tasks is not None:
        from .benchmark_tasks import tasks

        what, items, runs, at_once = "tasks", tasks(given), given.runs or 1, 1
    else:
        items, problems = _cases(given, model, settings)
        # Without a model each run is the same.
        what, runs, at_once = "cases", (given.runs or 10) if model is not None else 1, 4
    try:
        results, log = run_all(
            items, name=what, runs=runs, log_dir=Path(given.log_dir), at_once=at_once
        )
    except ImportError as error:
        raise CommandFailed(EXTRA) from error
    found = report(results, model=given.model, version=__version__, what=what)
    print(json.dumps(found, indent=2) if given.json else markdown(found))
    for problem in problems:
        print(f"Not included: {problem}", file=sys.stderr)
    print(f"Log: {log} (shown by: inspect view --log-dir {given.log_dir})", file=sys.stderr)
    return 0 if found["total"]["success"] >= given.min_success else 1


def _cases(given: argparse.Namespace, model: Any, settings: Any) -> tuple[list[Any], list[str]]:
    """The cases that were asked for, and which services could not be asked for theirs."""
    from ..benchmark.cases import all_cases
    from ..benchmark.runner import items_of, select
    from ..services.builtin import builtin_services
    from ..services.routing import Router

    registry = builtin_services()
    registry.add_entry_points()
    cases = select(all_cases(registry), given.service)
    if not cases:
        names = ", ".join(each.id for each in registry)
        raise CommandFailed(f"There are no cases of {given.service!r}. There are: {names}.")
    return items_of(cases, Router(registry), model, settings), registry.problems


def _model(given: argparse.Namespace) -> tuple[Any, Any]:
    if given.model is None:
        return None, None
    from ..models.catalogue import readiness
    from ..models.litellm_model import LitellmModel
    from ..models.local.added_models import added_models
    from ..models.local.servers import LocalServers
    from ..models.with_local_models import with_local_models
    from ..settings.turn_settings import Settings

    state = readiness(given.model, given.api_base)
    if not state.ready:
        raise CommandFailed(f"{state.reason} {state.what_to_do}".strip())
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    # A process that serves a model ends with this one.
    model = with_local_models(LitellmModel(), LocalServers(added_models))
    return model, Settings.model_validate({"model": given.model, "api_base": given.api_base})


def _compare(before: str, after: str) -> int:
    from ..benchmark.report import comparison

    reports = []
    for name in (before, after):
        try:
            reports.append(json.loads(Path(name).read_text(encoding="utf-8")))
            reports[-1]["cases"], reports[-1]["services"], reports[-1]["total"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CommandFailed(f"{name} is no report of --json: {error}") from error
    print(comparison(*reports))
    return 0

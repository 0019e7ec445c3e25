"""``benchmark``: how often the agent understands a message rightly."""

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
    """Run the cases; 1 where fewer were right than ``--min-success``."""
    if given.compare:
        return _compare(*given.compare)
    from ..benchmark.cases import all_cases
    from ..benchmark.inspect_task import run_all
    from ..benchmark.report import markdown, report
    from ..benchmark.runner import select
    from ..services.builtin import builtin_services
    from ..services.routing import Router

    registry = builtin_services()
    registry.add_entry_points()
    cases = select(all_cases(registry), given.service)
    if not cases:
        names = ", ".join(each.id for each in registry)
        raise CommandFailed(f"There are no cases of {given.service!r}. There are: {names}.")
    if given.runs < 1:
        raise CommandFailed("--runs must be at least 1.")
    model, settings = _model(given)
    # Without a model each run is the same.
    runs = given.runs if model is not None else 1
    try:
        results, log = run_all(
            cases,
            Router(registry),
            runs=runs,
            log_dir=Path(given.log_dir),
            model=model,
            settings=settings,
        )
    except ImportError as error:
        raise CommandFailed(EXTRA) from error
    found = report(results, model=given.model, version=__version__)
    print(json.dumps(found, indent=2) if given.json else markdown(found))
    for problem in registry.problems:
        print(f"Not included: {problem}", file=sys.stderr)
    print(f"Log: {log} (shown by: inspect view --log-dir {given.log_dir})", file=sys.stderr)
    return 0 if found["total"]["success"] >= given.min_success else 1


def _model(given: argparse.Namespace) -> tuple[Any, Any]:
    if given.model is None:
        return None, None
    from ..models.catalogue import readiness
    from ..models.litellm_model import LitellmModel
    from ..settings.turn import Settings

    state = readiness(given.model, given.api_base)
    if not state.ready:
        raise CommandFailed(f"{state.reason} {state.what_to_do}".strip())
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return LitellmModel(), Settings.model_validate(
        {"model": given.model, "api_base": given.api_base}
    )


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

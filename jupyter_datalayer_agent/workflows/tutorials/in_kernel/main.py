"""The two requests to the kernel: before the cell runs, and after it."""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from typing import Any

from .errors import explain
from .figures import drawn_figures, watch_figures
from .looking import CheckFailed, Inspection


def prepare(learner: dict[str, Any], request: dict[str, Any], mark: str) -> None:
    """Tell which of the names that a lesson builds on are missing; watch for figures if wanted."""
    if request["figures"]:
        watch_figures()
    missing = [name for name in request["names"] if learner.get(name, ...) is ...]
    print(mark + json.dumps({"missing": missing}))


def report(learner: dict[str, Any], request: dict[str, Any], mark: str) -> None:
    """Print what the check says: ``{passed, feedback}``."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = judge(learner, request)
    print("\n" + mark + json.dumps(answer))


def judge(learner: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Run the check; whatever the learner's objects do, it gives an answer."""
    try:
        shown = learner.get("_oh", {}).get(request["count"])
        look = Inspection(dict(learner), request["source"], shown)
        assigned = look.assigns() or set()
        look.figures = drawn_figures({name: learner[name] for name in assigned if name in learner})
        if request["error"] is not None:
            raise CheckFailed(explain(look, *request["error"]))
        return {"passed": True, "feedback": globals()[request["check"]](look)}
    except CheckFailed as wrong:
        return {"passed": False, "feedback": str(wrong)}
    except Exception as error:  # noqa: BLE001 - the learner's objects may raise anything
        return {
            "passed": False,
            "confused": True,
            "feedback": "The check cannot make sense of what the cell made. Compare the kinds of "
            f"your values with those that the task asks for. ({type(error).__name__}: {error})",
        }

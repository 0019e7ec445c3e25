"""The registry of error fixes: which of them could repair a cell that failed?

A built-in fix is one file in ``builtin/`` that ends in a ``Fix``, and is in the list below.
Third parties declare theirs (a ``Fix``, or a list of them) under the entry point group
``jupyter_datalayer_agent.fixes``.
"""

from __future__ import annotations

import asyncio
import logging
import re
from functools import cache

from ...entry_points import entry_points_of, load
from ...notebook.dataflow.dependencies import is_python
from ...notebook.files.kinds import noun
from ...protocol.workflows import FixInfo
from ..fix import CellFailure, Fix, FixProbe
from . import missing_column, missing_file, missing_kernel, missing_module, syntax, undefined_name

log = logging.getLogger(__name__)

FIND_SECONDS = 60.0

BUILTIN_FIXES: list[Fix] = [
    missing_kernel.FIX,
    missing_module.FIX,
    undefined_name.FIX,
    missing_file.FIX,
    missing_column.FIX,
    syntax.FIX,
]


@cache
def third_party_fixes() -> list[Fix]:
    """What entry points declare; one that cannot be loaded is logged, once."""
    found: list[Fix] = []
    for point in entry_points_of("fixes"):
        try:
            loaded = load(point)
            for each in loaded if isinstance(loaded, list | tuple) else [loaded]:
                if not isinstance(each, Fix):
                    raise TypeError(f"{each!r} is no Fix")
                found.append(each)
        except Exception:
            log.exception("The fix %s (%s) could not be loaded", point.name, point.value)
    return found


async def find_fixes(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """Fixes for a failed cell, the likeliest first.

    A fix that raises is logged with its traceback and skipped.
    """
    found: list[FixInfo] = []
    for fix in [*BUILTIN_FIXES, *third_party_fixes()]:
        if not _fits(fix, failure):
            continue
        try:
            found += await asyncio.wait_for(fix.find(failure, probe), FIND_SECONDS)
        except Exception:
            log.exception("The fix %s failed to look at %s", fix.id, failure.cell.id)
    # In order; safe ones before those that need a question.
    part = noun(failure.path)
    return [described(each, part) for each in sorted(found, key=lambda each: not each.safe)]


_PAST = {
    "add": "added",
    "close": "closed",
    "import": "imported",
    "install": "installed",
    "read": "read",
    "replace": "replaced",
    "run": "ran",
    "take": "took",
    "use": "used",
    "write": "wrote",
}


_RUNS = ("runNotebookCells", "runBlock")


def described(fix: FixInfo, part: str = "cell") -> FixInfo:
    """The fix with default texts for its button and its result."""
    runs = any(call.name in _RUNS or call.arguments.get("run") for call in fix.calls)
    names_run = re.search(r"\brun\b", fix.title, re.IGNORECASE)
    label = f"{fix.title} and run the {part} again" if runs and not names_run else fix.title
    done = re.sub(
        r"(^|\band )(\w+)",
        lambda found: found[1] + _PAST.get(found[2].lower(), found[2]),
        fix.title,
    )
    return fix.model_copy(update={"label": fix.label or label, "done": fix.done or done})


def _fits(fix: Fix, failure: CellFailure) -> bool:
    if fix.no_kernel != failure.no_kernel:
        return False
    if fix.language is not None and not _speaks(fix.language, failure.language):
        return False
    if failure.error is None:
        return fix.no_kernel
    return not fix.errors or failure.error.ename in fix.errors


def _speaks(wanted: str, language: str | None) -> bool:
    if language is None:
        return False
    if wanted == "python":
        return is_python(language)
    return wanted.lower() == language.lower()

"""The part of the tutorials that runs in the learner's kernel.

The modules here and a tutorial's ``checks.py`` are sent there as source, joined into one, and run
in a namespace of their own: the learner's names are read, never changed, and what the learner did
to names such as ``print`` or ``list`` has no effect on them. They need nothing but what the
tutorial's lessons need.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

MODULES = ("formatting", "looking", "errors", "tables", "figures", "main")
MARK = "datalayer-agent-lesson:"

# ``import`` finds the real builtins whatever the learner's cells assigned.
_BOOTSTRAP = """\
import builtins as _datalayer_agent_builtins
_datalayer_agent_builtins.exec(
    _datalayer_agent_builtins.compile({source!r}, "<datalayer-agent>", "exec"),
    {{
        "__name__": "datalayer_agent_lesson",
        "learner": _datalayer_agent_builtins.globals(),
        "request": {request!r},
    }},
)
del _datalayer_agent_builtins
"""


def prepare_code(names: tuple[str, ...], *, figures: bool) -> str:
    """Code that prints which of ``names`` are not defined, and watches for figures if wanted."""
    return _code(_joined(MODULES), "prepare", {"names": list(names), "figures": figures})


def check_code(tutorial: str, check: str, request: Mapping[str, Any]) -> str:
    """Code that runs the check ``check`` of the tutorial's package and prints what it found."""
    source = f"{_joined(MODULES)}\n\n{_source(tutorial, 'checks')}"
    return _code(source, "report", {**request, "check": check})


def answer_in(printed: str) -> Any:
    """What the code printed for us among all that was printed; None where there is nothing."""
    lines = [line for line in printed.splitlines() if line.startswith(MARK)]
    try:
        return json.loads(lines[-1][len(MARK) :]) if lines else None
    except json.JSONDecodeError:
        return None


def _code(source: str, function: str, request: Mapping[str, Any]) -> str:
    call = f"{function}(learner, json.loads(request), {MARK!r})"
    whole = f"from __future__ import annotations\n\nimport json\n\n{source}\n\n\n{call}\n"
    return _BOOTSTRAP.format(source=whole, request=json.dumps(request))


def _joined(modules: tuple[str, ...]) -> str:
    return "\n\n".join(_source("in_kernel", module) for module in modules)


@cache
def _source(folder: str, module: str) -> str:
    """A module's text without its imports of our own modules, all of which are beside it."""
    place = files("jupyter_datalayer_agent.workflows.tutorials") / folder / f"{module}.py"
    text = place.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.parse(text).body:
        ours = isinstance(node, ast.ImportFrom) and (node.level or node.module == "__future__")
        if ours:
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = ""
    return "\n".join(lines)

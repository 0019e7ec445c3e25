"""Our code that runs in a user's kernel, to load a data set into a variable.

It is sent as source and runs in its own namespace: only the requested variable changes.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

MARK = "datalayer-agent-dataset:"
_RUNNER = """\
def _datalayer_agent_load(source, arguments):
    import json
    import warnings

    space = {{"__name__": "datalayer_agent_dataset"}}
    exec(compile(source, "<datalayer-agent>", "exec"), space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = space["load"](globals(), **arguments)
    print({mark!r} + json.dumps(answer))


try:
    _datalayer_agent_load(
        r'''{source}''',
        {arguments!r},
    )
finally:
    del _datalayer_agent_load
"""


def loading(**arguments: Any) -> str:
    """Code that calls ``load`` (see ``load.py``) and prints what it returns."""
    source = _source()
    # As plain text, so that a user can read it in an approval request.
    assert "'''" not in source
    return _RUNNER.format(source=source, arguments=arguments, mark=MARK)


def answer_in(printed: str) -> dict[str, Any] | None:
    """The result of ``load``, from what the code printed."""
    for line in printed.splitlines():
        if line.startswith(MARK):
            answer: dict[str, Any] = json.loads(line[len(MARK) :])
            return answer
    return None


@cache
def _source() -> str:
    return (files(__package__) / "load.py").read_text(encoding="utf-8")

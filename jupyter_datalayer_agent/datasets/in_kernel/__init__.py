"""Our code that runs in a user's kernel: loads a data set into a variable, writes a table.

It is sent as source and runs in its own namespace: only a variable that is loaded changes.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

MARK = "datalayer-agent-dataset:"
_RUNNER = """\
def _datalayer_agent_{call}(source, arguments):
    import json
    import warnings

    space = {{"__name__": "datalayer_agent_dataset"}}
    exec(compile(source, "<datalayer-agent>", "exec"), space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = space["{call}"](globals(), **arguments)
    print({mark!r} + json.dumps(answer))


try:
    _datalayer_agent_{call}(
        r'''{source}''',
        {arguments!r},
    )
finally:
    del _datalayer_agent_{call}
"""


def loading(**arguments: Any) -> str:
    """Code that calls ``load`` (see ``load.py``) and prints what it returns."""
    return _code("load", arguments)


def writing(**arguments: Any) -> str:
    """Code that calls ``write`` (see ``write.py``) and prints what it returns."""
    return _code("write", arguments)


def answer_in(printed: str) -> dict[str, Any] | None:
    """The result of ``load`` or ``write``, from what the code printed."""
    for line in printed.splitlines():
        if line.startswith(MARK):
            answer: dict[str, Any] = json.loads(line[len(MARK) :])
            return answer
    return None


def _code(call: str, arguments: dict[str, Any]) -> str:
    source = _source(call)
    # As plain text, so that a user can read it in an approval request.
    assert "'''" not in source
    return _RUNNER.format(call=call, source=source, arguments=arguments, mark=MARK)


@cache
def _source(name: str) -> str:
    return (files(__package__) / f"{name}.py").read_text(encoding="utf-8")

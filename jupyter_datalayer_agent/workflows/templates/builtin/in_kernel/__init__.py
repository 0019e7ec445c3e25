"""Our code that runs in the notebook's kernel, through ``TemplateRun.compute``.

The modules here, and those that find out how a data file is written (``datasets/dialect``), are
sent as source and run in their own namespace, so that the user's names are not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from .....datasets.dialect import SOURCES, source_of

RUNNER = """\
def _datalayer_agent_run(source, arguments, names):
    import json
    import math
    import sys
    import types
    import warnings

    def plain(value):
        if isinstance(value, dict):
            return {{str(key): plain(each) for key, each in value.items()}}
        if isinstance(value, (list, tuple)):
            return [plain(each) for each in value]
        if hasattr(value, "item"):
            value = value.item()
        return None if isinstance(value, float) and not math.isfinite(value) else value

    module = types.ModuleType("datalayer_agent_workflow")
    vars(module).update(names)
    sys.modules[module.__name__] = module  # dataclasses look for it there
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "<datalayer-agent>", "exec"), vars(module))
            answer = module.answer(**arguments)
    finally:
        del sys.modules[module.__name__]
    print(json.dumps(plain(answer)))


_datalayer_agent_run(
    r'''{source}''',
    {arguments!r},
    {{name: globals()[name] for name in {names!r}}},
)
del _datalayer_agent_run
"""


def call(*modules: str, answer: str, names: Sequence[str] = (), **arguments: Any) -> str:
    """Code that runs the modules, then ``answer`` (which defines a function of that name), and
    prints what it returns as JSON. It can read ``names`` of the notebook.
    """
    future = "from __future__ import annotations\n"
    source = "\n\n".join([future, *(_source(module) for module in modules), answer])
    # As plain text, so that a user can read it in an approval request.
    assert "'''" not in source
    return RUNNER.format(source=source, arguments=arguments, names=list(names))


@cache
def _source(module: str) -> str:
    if module in SOURCES:
        text = source_of(module)
    else:
        text = (files(__package__) / f"{module}.py").read_text(encoding="utf-8")
    # The modules share one namespace, and a future import must be the very first line.
    dropped = ("from __future__ import", "from .")
    return "\n".join(line for line in text.splitlines() if not line.startswith(dropped))

"""The code that workflows send to a kernel."""

from __future__ import annotations

import ast
from collections import Counter

from jupyter_datalayer_agent.datasets.dialect import SOURCES
from jupyter_datalayer_agent.workflows.templates.builtin import in_kernel


def test_modules_that_share_a_namespace_define_no_name_twice() -> None:
    names: Counter[str] = Counter()
    for module in (*SOURCES, "profile", "loaded", "study", "survey"):
        code = ast.parse(in_kernel.call(module, answer="").split("r'''")[1].split("'''")[0])
        defined = {n.name for n in code.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        assigned = {
            target.id
            for statement in code.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        names.update(defined | assigned)
    assert [name for name, count in names.items() if count > 1] == []

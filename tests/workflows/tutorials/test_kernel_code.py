"""What is sent to the kernel: modules that become one, and that older kernels can read."""

from __future__ import annotations

import ast
from collections import Counter
from importlib.resources import files

import pytest

from jupyter_datalayer_agent.workflows.tutorials.catalogue import TUTORIALS
from jupyter_datalayer_agent.workflows.tutorials.in_kernel import MODULES, answer_in, check_code
from jupyter_datalayer_agent.workflows.tutorials.lesson import TutorialContent
from jupyter_datalayer_agent.workflows.tutorials.starting import data_text

PLACE = files("jupyter_datalayer_agent.workflows.tutorials")
BY_ID = pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda each: each.id)


def parsed(*path: str) -> ast.Module:
    text = PLACE.joinpath(*path).read_text(encoding="utf-8")
    return ast.parse(text, feature_version=(3, 9))


def defined(tree: ast.Module) -> list[str]:
    names = [each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)]
    for each in tree.body:
        if isinstance(each, ast.Assign):
            names += [target.id for target in each.targets if isinstance(target, ast.Name)]
    return names


@BY_ID
def test_no_name_hides_another_one_when_the_modules_are_joined(tutorial: TutorialContent) -> None:
    trees = [parsed("in_kernel", f"{each}.py") for each in MODULES]
    trees.append(parsed(tutorial.package, "checks.py"))
    names = Counter(name for tree in trees for name in defined(tree))
    assert [name for name, count in names.items() if count > 1] == []


@BY_ID
def test_every_lesson_has_a_check_and_every_data_file_is_there(tutorial: TutorialContent) -> None:
    functions = defined(parsed(tutorial.package, "checks.py"))
    assert [each.check for each in tutorial.lessons if each.check not in functions] == []
    for name in tutorial.data:
        assert len(data_text(name).splitlines()) > 3
        assert f"`{name}`" in (PLACE / "data" / "README.md").read_text(encoding="utf-8")
    for each in tutorial.lessons:
        ast.parse(each.starter_code)
        ast.parse(check_code(tutorial.package, each.check, {}))


def test_only_our_own_line_is_the_answer() -> None:
    assert answer_in("") is None
    assert answer_in('{"passed": true}\n') is None
    assert answer_in('noise\ndatalayer-agent-lesson:{"passed": false}\n') == {"passed": False}
    assert answer_in("datalayer-agent-lesson:{broken") is None

"""The registry of fixes: built-ins, third parties', and what happens when one is broken."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.cells import CellRunError, PageCell
from jupyter_datalayer_agent.protocol.workflows import FixCall, FixInfo
from jupyter_datalayer_agent.workflows.fix import CellFailure, Fix, FixProbe
from jupyter_datalayer_agent.workflows.fixes import registry as fix_registry
from jupyter_datalayer_agent.workflows.fixes.registry import find_fixes


class EmptyProbe:
    """Nothing is known: no kernel, no files, no kernels to start."""

    async def compute(self, code: str) -> Any:
        return None

    async def files(self) -> list[str]:
        return []

    async def kernel_specs(self) -> list[dict[str, Any]]:
        return []


def failure(source: str, ename: str, evalue: str, language: str = "python") -> CellFailure:
    cell = PageCell(id="a", index=0, type="code", source=source, hash="0")
    return CellFailure("a.ipynb", cell, [cell], CellRunError(ename=ename, evalue=evalue), language)


def info(name: str, *, safe: bool = False) -> FixInfo:
    call = FixCall(name="runNotebookCells", arguments={"cellIds": ["a"]})
    return FixInfo(id=name, title=name, explanation="", safe=safe, calls=[call])


class Point:
    """An entry point."""

    def __init__(self, loaded: object) -> None:
        self.name, self.value, self._loaded = "theirs", "theirs:FIX", loaded

    def load(self) -> object:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


def declare(monkeypatch: pytest.MonkeyPatch, *loaded: object) -> None:
    points = [Point(each) for each in loaded]
    monkeypatch.setattr(fix_registry, "entry_points_of", lambda group: points)
    fix_registry.third_party_fixes.cache_clear()


@pytest.fixture(autouse=True)
def entry_points_are_read_again() -> Any:
    fix_registry.third_party_fixes.cache_clear()
    yield
    fix_registry.third_party_fixes.cache_clear()


async def find_theirs(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    return [info("maybe"), info("surely", safe=True)]


async def break_down(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    raise RuntimeError("broken")


async def test_third_parties_add_fixes_safe_ones_first(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, [Fix("theirs", ("ValueError",), find_theirs)])
    found = await find_fixes(failure("x", "ValueError", "no"), EmptyProbe())
    assert [fix.id for fix in found] == ["surely", "maybe"]
    assert await find_fixes(failure("x", "OSError", "no"), EmptyProbe()) == []


async def test_a_broken_fix_harms_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Fix("broken", (), break_down)
    declare(monkeypatch, ImportError("gone"), "no fix", broken, Fix("theirs", (), find_theirs))
    with caplog.at_level(logging.ERROR):
        found = await find_fixes(failure("x", "ValueError", "no"), EmptyProbe())
    assert [fix.id for fix in found] == ["surely", "maybe"]
    assert "gone" in caplog.text
    assert "The fix broken failed" in caplog.text


@pytest.mark.parametrize("language", ["R", "julia", "bash"])
async def test_python_fixes_are_for_python(language: str) -> None:
    for source, ename, evalue in [
        ("print(x", "SyntaxError", "incomplete input"),
        ("pritn(1)", "NameError", "name 'pritn' is not defined"),
        ("import yaml", "ModuleNotFoundError", "No module named 'yaml'"),
    ]:
        assert await find_fixes(failure(source, ename, evalue, language), EmptyProbe()) == []
        assert await find_fixes(failure(source, ename, evalue), EmptyProbe())


@pytest.mark.parametrize("ename", ["ModuleNotFoundError", "NameError", "FileNotFoundError",
                                   "KeyError", "SyntaxError", "ImportError"])  # fmt: skip
async def test_odd_errors_and_sources_break_no_fix(
    ename: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        for evalue in ["", "'", "None", "[Errno 2]", "name '' is not", "\x1b[31m"]:
            for source in ["", "%%bash\nls", "x = (", "import *", "'''", "\x00"]:
                await find_fixes(failure(source, ename, evalue), EmptyProbe())
    assert caplog.text == ""

"""``docs/approvals.md`` says what the tests say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[3]


def test_the_tables_of_the_page_are_those_of_the_tests() -> None:
    script = _script(ROOT / "scripts" / "approvals_table.py")
    text = script.PAGE.read_text(encoding="utf-8")
    assert text == script.page(text), "run 'make generate'"


def _script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

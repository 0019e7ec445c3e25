"""The check of expressions over what people write: what it finds."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECK = runpy.run_path(str(ROOT / "scripts/check_prose.py"))


def package(folder: Path, *but: str, **others: str) -> list[str]:
    """What is found where the listed modules are as listed, but for these, beside others."""
    texts = dict.fromkeys(CHECK["GRAMMAR"], "import re\n")
    texts |= dict.fromkeys(but, "import json\n")
    texts |= {f"services/{name}.py": text for name, text in others.items()}
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    found: list[str] = CHECK["find"](folder)
    return [line.partition(":")[0] for line in found]


def test_listed_modules_pass(tmp_path: Path) -> None:
    assert package(tmp_path) == []


def test_another_module_fails_however_it_imports_expressions(tmp_path: Path) -> None:
    others = {
        "a": "import json, re\n",
        "b": "def f():\n    from re import compile\n",
        "c": "import re2 as re\n",
        "d": "from .re import x\n",
        "e": "text = 'import re'\n",
    }
    assert package(tmp_path, **others) == ["services/a.py", "services/b.py", "services/c.py"]


def test_a_listed_module_without_expressions_is_to_be_taken_off(tmp_path: Path) -> None:
    assert package(tmp_path, "services/matcher.py") == ["services/matcher.py"]

"""The check that every test configuration lists a test: what it finds, and what it leaves alone."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHECK = runpy.run_path(str(ROOT / "scripts/check_tests.py"))

SPEC = "import { test } from '@playwright/test';\ntest('it is', () => undefined);\n"
BASE = "export default { testDir: '.', projects: [{ name: 'a', testMatch: 'a/*.spec.ts' }] };\n"
HEIR = "import base from '../playwright.config';\nexport default { ...base, testDir: '.'%s };\n"
JEST = "module.exports = { testRegex: '/src/.*\\\\.spec\\\\.ts$' };\n"


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A repository with these files, and the test programs of the labextension."""
    for name, text in {"page/package.json": "{}", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "page/node_modules").symlink_to(ROOT / "labextension/node_modules")
    (folder / ".gitignore").write_text("node_modules\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.mark.parametrize("own", ["", ", projects: undefined"])
def test_a_configuration_whose_inherited_projects_match_nothing_fails(
    tmp_path: Path, own: str
) -> None:
    files = {
        "page/ui-tests/playwright.config.ts": BASE,
        "page/ui-tests/a/one.spec.ts": SPEC,
        "page/ui-tests/b/playwright.config.ts": HEIR % own,
        "page/ui-tests/b/two.spec.ts": SPEC,
    }
    missing = [
        "page/ui-tests/b/playwright.config.ts lists no test.",
        "page/ui-tests/b/two.spec.ts is in no configuration: nothing runs it.",
    ]
    assert list(CHECK["problems"](repository(tmp_path, files))) == ([] if own else missing)


def test_a_test_of_the_page_outside_of_jests_pattern_fails(tmp_path: Path) -> None:
    files = {
        "page/jest.config.js": JEST,
        "page/src/a.spec.ts": "test('it is', () => undefined);\n",
        "page/src/b.spec.tsx": "test('it is', () => undefined);\n",
    }
    assert list(CHECK["problems"](repository(tmp_path, files))) == [
        "page/src/b.spec.tsx is in no configuration: nothing runs it."
    ]


def test_a_command_of_pytest_whose_path_has_no_test_fails(tmp_path: Path) -> None:
    files = {
        "Makefile": "test:\n\tpython -m pytest\nfew:\n\tpython -m pytest -q tests/models \\\n"
        "\t  tests/gone || exit 1\n",
        "scripts/more": '"$home/bin/python" -m pytest tests/models/test_a.py tests/empty "$@"\n',
        "tests/models/test_a.py": "def test_it() -> None:\n    pass\n",
        "tests/empty/test_b.py": "def helper() -> None:\n    pass\n",
    }
    assert list(CHECK["problems"](repository(tmp_path, files))) == [
        "Makefile runs tests/gone, which has no test.",
        "scripts/more runs tests/empty, which has no test.",
    ]


def test_the_check_fails_where_it_finds_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository(tmp_path, {"Makefile": "all:\n\tpytest tests/none\n"})
    assert CHECK["main"](tmp_path) == 1
    assert capsys.readouterr().out == "Makefile runs tests/none, which has no test.\n"
    (tmp_path / "Makefile").write_text("all:\n\ttrue\n")
    assert CHECK["main"](tmp_path) == 0

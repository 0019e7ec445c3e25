"""The check of retired words: what it finds, and what it leaves alone."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHECK = runpy.run_path(str(ROOT / "scripts/check_words.py"))

PYTHON = '''
class InlineDesk:
    """What the person is told."""  # told by the desk

    def __init__(self):
        self._was_told = {"told": f"told {1}"}
'''
TSX = """
import { toldBy as heard } from './desk';
/* told */ const text = `told ${personOf('told')} told`; // told
export class Outbox { #desk = /told/; }
export const view = <p title="told">told the person {lackOf(heard)}</p>;
"""


def found_in(folder: Path, **files: str) -> list[tuple[str, str]]:
    for name, text in files.items():
        (folder / name).write_text(text)
    return [(found.where, found.name) for found in CHECK["find"](folder, list(files))]


def test_names_are_found_and_strings_and_comments_are_not(tmp_path: Path) -> None:
    assert found_in(tmp_path, **{"a.py": PYTHON, "b.tsx": TSX}) == [
        ("a.py:2", "InlineDesk"),
        ("a.py:6", "_was_told"),
        ("b.tsx:2", "toldBy"),
        ("b.tsx:3", "personOf"),
        ("b.tsx:4", "Outbox"),
        ("b.tsx:4", "#desk"),
        ("b.tsx:5", "lackOf"),
    ]


def test_files_are_found_by_their_own_names(tmp_path: Path) -> None:
    files = {"words.py": "", "desk.spec.ts": "", "swords.py": ""}
    assert found_in(tmp_path, **files) == [
        ("words.py", "words.py"),
        ("desk.spec.ts", "desk.spec.ts"),
    ]


@pytest.mark.parametrize(
    ("name", "is_retired"),
    [
        ("ITold", True),
        ("newDesk", True),
        ("PlanWords", True),
        ("split_words", False),
        ("WORDS", False),
        ("take_up", True),
        ("taken", False),
        ("clipboard", False),
        ("personal", False),
    ],
)
def test_a_name_is_judged_by_its_whole_words(name: str, is_retired: bool) -> None:
    assert (CHECK["instead_of"](name) is not None) == is_retired


def test_the_check_fails_where_it_finds_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.py"
    source.write_text("told = 1\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    assert CHECK["main"]([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("a.py:1: told: use emitted")
    source.write_text("emitted = 1\n")
    assert CHECK["main"]([str(tmp_path)]) == 0

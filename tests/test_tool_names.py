"""Prompts, hints, other texts, docs and tests name no tool that is not in the registry."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_datalayer_agent.tools.builtin import builtin_registry

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "jupyter_datalayer_agent"
PAGE = ROOT / "labextension"
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
REGISTRY = builtin_registry()

# What a tool of an agent does, and with what. A word made of the two is taken for a tool's name.
_VERBS = """
    add append apply ask call change check choose clear close copy create delete describe download
    duplicate edit execute explain export fetch find fix get glob go grep import insert inspect
    install interrupt list load look make merge modify move open patch plot query read remove
    rename replace reset restart reveal rewrite run save search select set show split start stop
    undo update upload use view write
"""
_NOUNS = """
    active block blocks cell cells chat code command commands content contents context dataset
    datasets directory directories document documents file files folder folders full history kernel
    kernels lexical memory notebook notebooks output outputs package packages page path paths plan
    provenance shell terminal turn turns user variable variables web workspace
"""
_CAMEL = r"[a-z]+(?:[A-Z][a-z]+)+"
_SNAKE = r"[a-z]+(?:_[a-z]+)+"
_WORD = re.compile(rf"(?<![\w.$/-])(?:{_CAMEL}|{_SNAKE})(?![\w/])")
# In lists of Python's functions and in code nearly every word looks like a tool in snake_case.
_SENTENCE = re.compile(r"^[`'\"]?[A-Za-z]\w*[`'\"]? .*[.:]$|[a-z`][.:] [A-Z]", re.S)

# Words that look like names of tools, and are known to be none.
NO_TOOLS = {
    "getNotebokCells": "what a model calls that misspells a name",
    "add_dataset": "a method of an action's context",
    "listCommandCompletions": "a method of what completes commands in @jupyter/chat",
    "load_dataset": "a function of the package datasets, which docs/approvals.md lists",
}


def tool_like(text: str) -> list[str]:
    """The words of a text that read like names of tools."""
    verbs, nouns = _VERBS.split(), _NOUNS.split()
    found = []
    for word in _WORD.findall(text):
        verb, *rest = re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", word).split("_")
        is_name = "_" not in word or _SENTENCE.search(text)
        if is_name and verb in verbs and any(each in nouns for each in rest):
            found.append(word)
    return found


def unknown(text: str) -> list[str]:
    """Those that are neither a tool nor an alias."""
    return [word for word in tool_like(text) if not REGISTRY.find(word) and word not in NO_TOOLS]


def in_python(source: str) -> Iterator[str]:
    """The strings of Python code, docstrings among them; what is put into one is part of it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


_TYPES = re.compile(r"\b(?:Pick|Omit)<[^>]*>|^(?:import|export)\b[^;]*?\bfrom [^;]*;", re.M)
_QUOTED = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`""", re.S)

_JSX_TEXT = re.compile(r">([^<>{}=;]+)</")


def in_typescript(source: str) -> Iterator[str]:
    """The strings of TypeScript code, but for those in types and imports, and the text of JSX."""
    code = _TYPES.sub("", source)
    for match in _QUOTED.finditer(code):
        yield match[1] or match[2] or match[3] or ""
    yield from _JSX_TEXT.findall(code)


def texts() -> Iterator[tuple[Path, str]]:
    """All that is said to models and users, what docs say, and what tests name."""
    for file in [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        if file != Path(__file__):
            yield from ((file, text) for text in in_python(file.read_text("utf-8")))
    for file in [*PACKAGE.rglob("*.md"), *PAGES]:
        yield from ((file, line) for line in file.read_text("utf-8").splitlines())
    for folder in ("src", "ui-tests"):
        for file in [*(PAGE / folder).rglob("*.ts"), *(PAGE / folder).rglob("*.tsx")]:
            yield from ((file, text) for text in in_typescript(file.read_text("utf-8")))


def test_every_name_of_a_tool_is_one_of_the_registry() -> None:
    named = {
        f"{file.relative_to(ROOT).as_posix()}: {word}"
        for file, text in texts()
        for word in unknown(text)
    }
    assert sorted(named) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("findFiles shows what is there.", ["findFiles"]),
        ("Give a path inside the root, as findFiles shows it.", ["findFiles"]),
        ("#findFiles", ["findFiles"]),
        ("call `open_file` first. Then `patch_file`.", ["open_file", "patch_file"]),
        ("Use searchInFiles({path}), or grepFiles.", ["searchInFiles", "grepFiles"]),
        ("The tool mergeBlocks is for Lexical documents.", ["mergeBlocks"]),
        ("getNotebookCells, get_notebook_cells, runAllCells, python_repl.", []),
        ("cellIds, stopOnError and activeNotebook; model.cells.findFiles; finding files", []),
        ("read_file load_dataset open_dataset read_csv", []),
    ],
)
def test_names_of_tools_are_recognised(text: str, found: list[str]) -> None:
    assert unknown(text) == found


def test_they_are_found_in_every_kind_of_file() -> None:
    python = 'def f():\n    """Uses findFiles."""\n    raise E(f"no {x}", "openFile shows it.")\n'
    assert [w for text in in_python(python) for w in unknown(text)] == ["findFiles", "openFile"]
    typescript = (
        "import { a } from './findFiles';\ntype T = Pick<Client, 'deleteDataset' | 'getTurn'>;\n"
        "tool('findFiles', \"it's\");\nconst words = `See ${x} and openFile`;\n"
        "const row = (\n  <p>\n    Then patchFile\n  </p>\n);\n"
    )
    found = [word for text in in_typescript(typescript) for word in unknown(text)]
    assert found == ["findFiles", "openFile", "patchFile"]


def test_the_recogniser_would_know_the_tools_that_there_are() -> None:
    missed = [tool.name for tool in REGISTRY if tool_like(tool.name) != [tool.name]]
    assert missed == []

"""Fails where a module that sees what people write compiles regular expressions and is not listed
here with a reason, and where a module is listed that does so no longer.

    python scripts/check_prose.py [folder]

What people write in sentences is for a model to read. Grammar (a command, a mention, a file's name)
is for expressions.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "jupyter_datalayer_agent"
ROOMS = ("agent", "services", "tools/ranking.py", "workflows/templates")
"""Where messages and answers are read, in the package."""
ENGINES = {"re", "re2", "regex"}

GRAMMAR = {
    "agent/answers/answer.py": "marks of citations, outside code",
    "agent/answers/compare_turn.py": "tags that hold the answers in our own prompt",
    "agent/features/export.py": "fences of Markdown",
    "agent/features/next_cell.py": "fences of Markdown; names of variables",
    "agent/history.py": "names in code that changed or ran",
    "agent/plan/messages.py": "names of parameters, in camelCase",
    "agent/plan/template_plan.py": "the end of a word",
    "agent/model_calls/answer_reader.py": "numbers of list items, in text that repeats itself",
    "agent/request.py": "agent:, @file and #tool",
    "agent/intent.py": "whether a text has any letter; names of commands",
    "agent/session/turn_factory.py": "“continue”, the text of a button",
    "agent/tool_calls/written_call_policy.py": "names of tools; whitespace",
    "agent/tool_calls/written_calls.py": "tool calls written as text",
    "agent/features/strategist_turn.py": "links to turns",
    "agent/turn/ends.py": "fences of Markdown",
    "services/action.py": "ids of actions",
    "services/builtin/environment/service.py": "names of kernels",
    "services/builtin/environment/programs.py": "what programs report; credentials in addresses",
    "services/builtin/notebook/parts.py": "headings of Markdown",
    "services/builtin/notebook/script.py": "marks of percent scripts",
    "services/matcher.py": "quotes, name: value, names of files, numbers, what pip takes",
    "services/routing.py": "/command; names of files, numbers and marks between sentences",
    "services/service.py": "ids of services; paragraphs, headings and citation marks of its text",
    "tools/ranking.py": "words of a text, which are ranked and decide nothing",
    "workflows/templates/builtin/in_kernel/profile.py": "names and values of columns",
    "workflows/templates/builtin/parts/data.py": "names of columns; our templates",
}
"""What each of these reads by expressions: formats."""


def modules(package: Path) -> Iterator[str]:
    """The modules of the rooms that import an engine of expressions, by their paths."""
    for room in ROOMS:
        place = package / room
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            if file.exists() and imports_an_engine(file):
                yield file.relative_to(package).as_posix()


def imports_an_engine(file: Path) -> bool:
    """Whether a module imports one, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) and any(name.name in ENGINES for name in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in ENGINES:
            return True
    return False


def find(package: Path) -> list[str]:
    """What is wrong, a line each."""
    listed = set(GRAMMAR)
    there = set(modules(package))
    return [
        *(
            f"{path}: uses regular expressions. Let a model read sentences; for a format, list it"
            for path in sorted(there - listed)
        ),
        *(f"{path}: is listed, and uses no expressions" for path in sorted(listed - there)),
    ]


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else ROOT
    found = find(folder / PACKAGE)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

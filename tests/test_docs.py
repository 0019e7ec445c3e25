"""What README and docs name exists: routes, commands, files, options of the command line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from jupyter_datalayer_agent.cli import parser

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
# Code that is shown as an example names anything.
_EXAMPLE = re.compile(r"<code>.*?</code>|^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)

pages = pytest.mark.parametrize("name", TEXTS)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pages
def test_links_lead_to_files_and_headings_that_are_there(name: str) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", _EXAMPLE.sub("", TEXTS[name])):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (ROOT / name).parent / path if path else ROOT / name
        headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.M) if file.is_file() else []
        if not file.exists() or (anchor and anchor not in map(_anchor, headings)):
            broken.append(target)
    assert broken == []


@pages
def test_routes_are_those_of_the_description(name: str) -> None:
    paths = json.loads((ROOT / "openapi.json").read_text(encoding="utf-8"))["paths"]
    known = {
        f"{method.upper()} {re.sub(r'{.*?}', '{}', path.strip('/'))}"
        for path, methods in paths.items()
        for method in methods
    }
    named = re.findall(
        r"\b(GET|POST|PATCH|PUT|DELETE) (?:datalayer-agent/)?([a-z][\w{}/-]*)(?!:)\b", TEXTS[name]
    )
    missing = []
    for method, path in named:
        pattern = re.escape(f"{method} {re.sub(r'{.*?}', '{}', path.strip('/'))}")
        # A placeholder of the description may be a value in the text.
        if not any(re.fullmatch(re.escape(each).replace(r"\{\}", "[^/ ]+"), f"{method} {path}")
                   or re.fullmatch(pattern, each) for each in known):  # fmt: skip
            missing.append(f"{method} {path}")
    assert missing == []


@pages
def test_commands_are_those_of_the_page(name: str) -> None:
    sources = (ROOT / "labextension" / "src").rglob("*.ts")
    known = {
        command
        for source in sources
        for command in re.findall(r"datalayer-agent:[a-z-]+", source.read_text(encoding="utf-8"))
    }
    assert set(re.findall(r"`(datalayer-agent:[a-z-]+)`", TEXTS[name])) - known == set()


def test_the_command_line_takes_what_the_readme_types() -> None:
    lines = re.findall(r"^jupyter datalayer-agent (.+)$", TEXTS["README.md"], re.M)
    assert len(lines) > 3
    for line in lines:
        command, _, comment = line.partition("#")
        given = parser().parse_args(shlex.split(command))
        options = re.findall(r"--([a-z]+)", comment)
        assert [each for each in options if not hasattr(given, each)] == []

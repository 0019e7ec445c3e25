#!/usr/bin/env python3
"""Writes the tables of docs/approvals.md from the cases of tests/tools/risky_code/cases.py.

A test holds the page equal to what this prints.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "approvals.md"
BEGIN, END = "<!-- made from the tests: make generate -->\n", "<!-- end -->\n"


def tables() -> str:
    """A table for each group of cases."""
    sys.path.insert(0, str(ROOT))
    from tests.tools.risky_code.cases import GROUPS

    parts = []
    for group in GROUPS:
        is_python = group.language == "python"
        rows = [
            (code, _cell(said.removesuffix(" (line 1)")) + _when(code, is_python))
            for code, said in group.recognised
        ]
        rows += [(code, "nothing") for code in group.passed]
        rows += [(code, "**not recognised**") for code in group.missed]
        lines = [f"| {_code(code)} | {said} |" for code, said in rows]
        parts.append(
            "\n".join(
                [f"### {group.title}", "", "| code | its text shows |", "| --- | --- |", *lines]
            )
        )
    return "\n\n".join(parts) + "\n"


def _when(code: str, is_python: bool) -> str:
    """Marks what asks before the run also where the guard watches it."""
    from jupyter_datalayer_agent.tools.risky_code import Place, actions_in

    acts = list(actions_in(code, Place()))
    return "" if not is_python or all(each.is_seen for each in acts) else " ◆"


def page(text: str) -> str:
    """The page with its tables as they are to be."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


def _cell(text: str) -> str:
    return text.replace("|", "&#124;").replace("*", "\\*").replace("<", "&lt;")


def _code(code: str) -> str:
    lines = (
        each.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;").replace("*", "&#42;")
        for each in code.replace("  ", "&nbsp; ").split("\n")
    )
    return f"<code>{'<br>'.join(each.replace('&amp;nbsp;', '&nbsp;') for each in lines)}</code>"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

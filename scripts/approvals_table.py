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
        rows = [(code, _cell(said.removesuffix(" (line 1)"))) for code, said in group.recognised]
        rows += [(code, "does not ask") for code in group.passed]
        rows += [(code, "does not ask: **not recognised**") for code in group.missed]
        lines = [f"| {_code(code)} | {said} |" for code, said in rows]
        parts.append(
            "\n".join([f"### {group.title}", "", "| code | asks |", "| --- | --- |", *lines])
        )
    return "\n\n".join(parts) + "\n"


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

"""The table in ``docs/models.md``, made of what the tests of the matrix showed.

With ``UPDATE_MATRIX=1`` the tests write the rows of what they ran; else they compare them. Rows of
servers that are too large for every run stay as they were written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "models.md"
BEGIN, END = "<!-- made by the tests: make matrix -->\n", "<!-- end -->\n"
COLUMNS = ("answer", "tool call", "streaming", "long answer", "reasoning")
UPDATE = "UPDATE_MATRIX"

NOT_TRIED = {
    "Google Vertex AI": "needs a sign-in to Google Cloud",
    "Amazon SageMaker, Databricks, IBM watsonx, Replicate": "not recorded",
    "GitHub Copilot": "needs a sign-in in a browser",
}


@dataclass
class Row:
    """One provider or server: how it was tried, and by column what the tests showed."""

    how: str
    cells: dict[str, str] = field(default_factory=dict)

    def line(self, title: str) -> str:
        cells = [self.cells.get(column, "–") for column in COLUMNS]
        return f"| {' | '.join([title, self.how, *cells])} |"


class Table:
    """What the collected tests show. ``collected`` are their names, ``test_answer[vLLM]``."""

    def __init__(self, collected: Iterable[str]) -> None:
        self._collected = frozenset(collected)
        self._shown: set[tuple[str, str]] = set()
        self._rows: dict[str, Row] = {}

    def begin(self, title: str, how: str, columns: Iterable[str]) -> None:
        """A row with tests for these columns; left out where not all of them run."""
        names = {column: f"test_{column.replace(' ', '_')}[{title}]" for column in columns}
        if self._collected.issuperset(names.values()):
            self._rows[title] = Row(how, dict.fromkeys(names, "no"))

    def shown(self, title: str, column: str) -> None:
        """The test has passed."""
        if title in self._rows:
            self._rows[title].cells[column] = "yes"

    def differences(self) -> list[str]:
        """The lines in which the page differs; none once it is written."""
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        table, _, after = rest.partition(END)
        lines = {_title(line): line for line in table.splitlines() if "|" in line}
        head = f"| | how | {' | '.join(COLUMNS)} |"
        made = {title: row.line(title) for title, row in self._rows.items()}
        untried = dict.fromkeys(COLUMNS, "")
        for title, why in NOT_TRIED.items():
            made[title] = Row(f"not tried: {why}", untried).line(title)
        if UPDATE in os.environ:
            kept = {title: line for title, line in lines.items() if title.strip("-")}
            rows = [line for _, line in sorted((kept | made).items(), key=_place)]
            whole = "\n".join(["", head, "| --- " * (len(COLUMNS) + 2) + "|", *rows, "", ""])
            PAGE.write_text(f"{before}{BEGIN}{whole}{END}{after}", encoding="utf-8")
            return []
        return [line for title, line in made.items() if lines.get(title) != line]


def _title(line: str) -> str:
    return line.split("|")[1].strip()


def _place(row: tuple[str, str]) -> tuple[int, str]:
    """What was run comes first, what was not tried last."""
    title, line = row
    how = line.split("|")[2]
    return (0 if " run" in how else 2 if " not tried" in how else 1, title.lower())

"""The quality report: each rule with its weight, and what must not be reported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.protocol.workflows import QualityReport
from jupyter_datalayer_agent.workflows.quality import analyse_notebook
from jupyter_datalayer_agent.workflows.quality import rules as linter
from jupyter_datalayer_agent.workflows.quality.rules import RULES, table

DOCS = Path(__file__).parents[3] / "docs" / "quality.md"
KEY = "AKIA" + "Z7Q2M4N8P1R3T5V9"


def md(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": f"m{hash(source)}", "metadata": {}, "source": source}


def code(source: str, count: int | None = 1, outputs: Sequence[Any] = ()) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"c{abs(hash((source, count)))}",
        "metadata": {},
        "source": source,
        "execution_count": count,
        "outputs": list(outputs),
    }


def shown(text: str, count: int | None = 1) -> dict[str, Any]:
    data = {"text/plain": text}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": count}


def book(*cells: dict[str, Any], language: str = "python") -> dict[str, Any]:
    metadata = {"language_info": {"name": language}}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


TITLE = md("# Cars")
ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}
LONG = "x = 1\n" + "# " + "y" * 500
PRINTS = "print(1)\nprint(2)\nprint(3)\n"

# What is wrong, the rules it breaks, and the score.
CASES: list[tuple[dict[str, Any], list[str], int]] = [
    (book(TITLE, code("x = 1\nx")), [], 100),
    (book(TITLE, *[code(f"x{n} = {n}", n) for n in range(1, 6)]), ["little-markdown"], 85),
    (book(TITLE, *[code(f"x{n} = {n}", n) for n in range(1, 5)]), [], 100),
    (book(TITLE, code(LONG)), ["long-cell"], 95),
    (book(TITLE, md("m"), code(LONG), code(LONG, 2)), ["long-cell"] * 2, 90),
    (book(TITLE, code("x = 1\n" + "#" * 494)), [], 100),
    (book(TITLE, code("from math import *\npi")), ["wildcard-import"], 95),
    (book(TITLE, code("from math import *\nfrom os import *\npi")), ["wildcard-import"] * 2, 90),
    (book(TITLE, code(PRINTS)), [], 100),
    (book(TITLE, code(PRINTS + "print(4)")), ["many-prints"], 97),
    (book(TITLE, code(PRINTS + "pprint(4)")), ["used-before-defined"], 90),
    (book(code("x = 1"), md("# Late")), ["no-title"], 95),
    (book(md("## Only a section"), code("x = 1")), ["no-title"], 95),
    (book(md("Cars\n====\n"), code("x = 1")), [], 100),
    (book(TITLE, code("1 / 0", 1, [ERROR])), ["error-output"], 90),
    (book(TITLE, code("x = 1", 2), code("y = 1", 1)), ["out-of-order"], 90),
    (book(TITLE, code("x = 1", None)), ["never-ran"], 97),
    (book(TITLE, code("", None)), [], 100),
    (book(TITLE, code("x = 1\nx", None, [shown("1")])), ["older-output"], 95),
    (book(TITLE, code("x = 1\nx", 5, [shown("1", 3)])), ["older-output"], 95),
    (
        book(TITLE, code("x = 1", 9), code("x", 4, [shown("1", 4)])),
        ["out-of-order", "older-output"],
        85,
    ),
    (book(TITLE, code("print(y)"), code("y = 1", 2)), ["used-before-defined"], 90),
    (book(TITLE, code("x = (")), ["syntax-error"], 90),
    (book(TITLE, code("import os")), ["unused-import"], 98),
    (book(TITLE, code("import os"), code("os.getcwd()", 2)), [], 100),
    (book(TITLE, code("try:\n    x = 1\nexcept:\n    pass")), ["likely-mistake"], 97),
    (book(TITLE, code("open('/home/ann/cars.csv')")), ["absolute-path"], 95),
    (book(TITLE, code(r"open('C:\\data\\cars.csv')")), ["absolute-path"], 95),
    (book(TITLE, code("open('data/cars.csv'); x = 'https://example.org/home/x'")), [], 100),
    (book(TITLE, code(f"key = '{KEY}'")), ["secret"], 75),
    (book(TITLE, code("key = 1\nkey", 1, [shown(KEY)])), ["secret"], 75),
    (book(TITLE, code("password = 'h7sK2pQ9x'")), ["secret"], 75),
    (book(TITLE, code("u = 'postgres://ann:h7sK2pQ9x@db/cars'")), ["secret"], 75),
    (book(TITLE, code("import os\nkey = os.environ['API_KEY']")), [], 100),
    (book(TITLE, code("api_key = 'your-api-key'; password = '<password>'")), [], 100),
    (book(TITLE, code("%matplotlib inline\n!ls\nx?")), [], 100),
    (book(TITLE, code("%%bash\nls $HOME")), [], 100),
    (book(TITLE, code("%%sql\nselect *")), [], 100),
    (book(), ["empty"], 50),
]


@pytest.mark.parametrize(("notebook", "rules", "score"), CASES)
def test_rule(notebook: dict[str, Any], rules: list[str], score: int) -> None:
    report = analyse_notebook(notebook)
    assert sorted(issue.rule for issue in report.issues) == sorted(rules), report
    assert report.score == score


def test_issues_name_their_cell_and_the_worst_comes_first() -> None:
    failing = code("1 / 0", 1, [ERROR])
    report = analyse_notebook(book(TITLE, code("import os", 2), failing))
    assert [issue.severity for issue in report.issues] == ["error", "warning", "info"]
    assert (report.issues[0].cell_id, report.issues[0].index) == (failing["id"], 2)
    assert report.issues[0].message == "The cell ended with ValueError."
    assert report.suggestions[0].startswith("Fix the cells")
    assert len(report.suggestions) == 3


def test_a_secret_is_never_repeated() -> None:
    secret = "h7sK2pQ9xLm4"
    outputs = [shown(f"token: '{secret}'"), {"output_type": "stream", "text": [KEY]}]
    report = analyse_notebook(book(TITLE, code(f"password = '{secret}'", 1, outputs)))
    said = report.model_dump_json()
    assert "secret" in said
    assert secret not in said
    assert KEY not in said


def test_the_score_is_never_below_0() -> None:
    cells = [code(f"from math import *\nkey{n} = '{KEY}'" + "#" * 500, n) for n in range(40)]
    assert analyse_notebook(book(*cells)).score == 0


@pytest.mark.parametrize(
    "notebook", [{}, {"cells": None}, {"cells": [1]}, {"cells": [{"source": ""}]},
                 {"cells": [{"cell_type": "code", "source": 7}]}, {"cells": [], "metadata": 3}],
)  # fmt: skip
def test_an_analysis_that_fails_is_a_score_of_0_with_the_reason(notebook: Any) -> None:
    report = analyse_notebook(notebook)
    assert report.score == 0
    assert [(issue.severity, issue.rule) for issue in report.issues] == [
        ("error", "analysis-failed")
    ]
    assert report.issues[0].message.startswith("The notebook could not be analysed: ")


def test_other_languages_get_the_rules_of_any_language() -> None:
    source = "from math import *\nx <- (\nprint(1) print(2) print(3) print(4)"
    report = analyse_notebook(book(TITLE, code(source, 2), code("y", 1), language="R"))
    assert [issue.rule for issue in report.issues] == ["out-of-order"]


def test_cells_that_are_known_to_be_stale_are_named() -> None:
    cell = code("x = 1")
    report = analyse_notebook(book(TITLE, cell), stale=[cell["id"]])
    assert [issue.rule for issue in report.issues] == ["older-output"]


def test_without_ruff_it_says_what_was_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linter, "ruff", lambda: None)
    report = analyse_notebook(book(TITLE, code("import os")))
    assert [issue.rule for issue in report.issues] == ["no-linter"]
    assert report.score == 100


def test_the_documentation_has_the_weights() -> None:
    assert table() in DOCS.read_text(encoding="utf-8")
    assert len({rule.id for rule in RULES}) == len(RULES)


TEXT = st.text(max_size=40)
CELLS = st.lists(
    st.builds(md, TEXT) | st.builds(code, TEXT, st.none() | st.integers(0, 9)), max_size=5
)


@given(CELLS)
def test_every_notebook_gets_a_score(cells: list[dict[str, Any]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linter, "ruff", lambda: None)
        report = analyse_notebook(json.loads(json.dumps(book(*cells))))
    assert 0 <= report.score <= 100
    assert not any(issue.rule == "analysis-failed" for issue in report.issues)
    assert QualityReport.model_validate(report.to_wire()) == report

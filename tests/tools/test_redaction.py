"""What of a result is private, and what is taken for rows of data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.tools import ShareKind
from jupyter_datalayer_agent.tools import redaction as private
from jupyter_datalayer_agent.tools.data_rows import is_table, looks_like_rows
from jupyter_datalayer_agent.tools.limits import cut
from jupyter_datalayer_agent.tools.outputs import OUTPUTS, failure_text, render_outputs
from jupyter_datalayer_agent.tools.redaction import Part, redact
from jupyter_datalayer_agent.tools.registry import ToolOutcome
from jupyter_datalayer_agent.tools.result import ResultBuilder

NEVER: private.Refused = {"outputs": "by the setting"}


def test_a_private_text_is_a_text_like_any_other_but_for_the_model() -> None:
    said = private.text("Cell 4 failed: ", failure_text("KeyError", "'Anna'"), ".")
    assert said == "Cell 4 failed: KeyError: 'Anna'."
    assert json.dumps({"error": said}) == '{"error": "Cell 4 failed: KeyError: \'Anna\'."}'
    assert redact({"error": [said]}, {}) == {"error": [str(said)]}
    withheld = "Cell 4 failed: KeyError: [its message withheld by the setting]."
    assert redact({"error": [said]}, NEVER) == {"error": [withheld]}


def test_a_piece_of_a_private_text_is_as_private() -> None:
    said = private.text("open ", Part("secret", OUTPUTS, "word"), " open")
    assert said.cut(3, 8) == "n sec"
    assert redact(said.cut(3, 8), NEVER) == "n [word withheld by the setting]"
    assert redact(said.cut(0, 5), NEVER) == "open "


def test_what_is_private_for_two_reasons_needs_both_to_be_allowed() -> None:
    table = {"data": {"text/html": "<table><tr><td>Anna</td></tr></table>", "text/plain": "Anna"}}
    shown, _ = render_outputs([{"output_type": "execute_result", **table}])
    for refused in (NEVER, {"row_data": "by the user"}):
        assert "Anna" not in redact(shown, refused)  # type: ignore[arg-type]
    assert redact(shown, {}) == "Anna"


def test_an_error_keeps_its_name_and_line() -> None:
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "bad: Anna",
        "traceback": [
            "----> 1 f()",
            "Cell In[3], line 7, in f()\n----> 7 raise ValueError(x)",
            "ValueError: bad: Anna",
        ],
    }
    shown, _ = render_outputs([error])
    assert redact(shown, NEVER) == (
        "[ValueError in line 1, its message and traceback withheld by the setting]"
    )


async def test_a_text_is_searched_once_and_only_where_somebody_decides() -> None:
    searched: list[str] = []

    def find() -> Part:
        searched.append("Anna")
        return Part("Anna", OUTPUTS, "name")

    marked = private.PrivateText.marked_later("Anna", find)
    draft = ResultBuilder.of_outcome("readFile", ToolOutcome({"content": marked}, "Read."))
    call = private.CallRef("", "readFile", {}, "this readFile")
    assert (await draft.shared(None, call)).for_model.output == {"content": "Anna"}
    assert (json.dumps(marked), searched) == ('"Anna"', [])
    done = await draft.shared(Never(), call)
    assert done.for_model.output == {"content": "[name withheld by the setting]"}
    assert done.result.output == {"content": "Anna"}
    assert searched == ["Anna"]


class Never:
    """Nothing private may be sent."""

    async def refused(
        self,
        parts: Sequence[frozenset[ShareKind]],
        call: private.CallRef,
        question: private.Question,
    ) -> private.Refused:
        return private.EVERYTHING


def test_any_value_may_be_private() -> None:
    rows = private.value([{"name": "Anna"}], "row_data", "1 sample row")
    output = {"name": "people", "sample": rows}
    assert redact(output, {}) == {"name": "people", "sample": [{"name": "Anna"}]}
    refused: private.Refused = {"row_data": "by the user"}
    assert redact(output, refused)["sample"] == "[1 sample row withheld by the user]"
    assert private.private_parts(output) == [frozenset(["row_data"])]


@pytest.mark.parametrize(
    "shown",
    [
        "    name  age\n0   Anna   31",
        "     name  age\n0    Anna   31\n1     Bob   33\n\n[2 rows x 2 columns]",
        "0    Anna\n1     Bob\nName: name, dtype: object",
        "shape: (2, 2)\n┌──────┬─────┐\n│ name ┆ age │",
        "┌─────────┐\n│  name   │\n",
        "+------+-----+\n| name | age |\n+------+-----+",
        "name,age\nAnna,31\nBob,33",
        "name;age;town\nAnna;31;Basel\nBob;33;Bern",
        "name\tage\nAnna\t31\nBob\t33",
        "| name | age |\n|------|-----|\n| Anna | 31 |",
        "[{'name': 'Anna'}, {'name': 'Bob'}]",
        "[('Anna', 31), ('Bob', 33)]",
        "{'name': ['Anna', 'Bob'], 'age': [31, 33]}",
        "array([[31, 5],\n       [33, 6]])",
        "[[31  5]\n [33  6]]",
        '{"name": "Anna", "age": 31}\n{"name": "Bob", "age": 33}\n{"name": "C", "age": 1}',
        "('Anna', 31)\n('Bob', 33)\n('Cleo', 35)",
        "[ 1.5 -2.  nan]\n[ 1e-5 3.  4. ]",
        "working\n" * 50_000 + "Anna,31\nBob,33\n" * 1_000,
        "working\n" * 50_000 + "Anna,31\nBob,33\n" * 4_000 + "working\n" * 50_000,
    ],
)
def test_what_looks_like_rows_is_taken_for_rows(shown: str) -> None:
    assert looks_like_rows(shown)


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "42",
        "(406, 9)",
        "The mean is 105.08.",
        "Accuracy: 0.93\nLoss: 0.21",
        "Loaded 406 rows, 9 columns, in 0.2 s",
        "{'USA': 119.05, 'Europe': 80.56}",
        "Index(['name', 'age'], dtype='object')"[:20],
        "Epoch 1 of 3\nEpoch 2 of 3\nEpoch 3 of 3",
        "Epoch 1 of 3\n" * 50_000,
        "a line that says in words what is done\n" * 5_000,
        "<module 'pandas' from '/usr/lib/pandas/__init__.py'>",
    ],
)
def test_ordinary_output_is_not_taken_for_rows(shown: str) -> None:
    assert not looks_like_rows(shown)


@pytest.mark.parametrize(
    "data",
    [
        {"text/html": ["<div>\n", "<TABLE border=1>"], "text/plain": "x"},
        {"text/latex": r"\begin{tabular}{l}", "text/plain": "x"},
        {"application/vnd.dataresource+json": {"data": []}},
        {"application/json": [{"name": "Anna"}]},
        {"text/csv": "a"},
    ],
)
def test_tables_are_known_by_their_mime_types(data: dict[str, Any]) -> None:
    assert is_table(data)


def test_a_page_without_a_table_is_none() -> None:
    assert not is_table({"text/html": "<b>42</b>", "text/plain": "42"})
    assert not is_table({"application/json": {"mean": 3}})


@pytest.mark.parametrize("before", [14_000, 440_000, 476_000])
def test_a_few_rows_are_found_wherever_what_is_sent_has_them(before: int) -> None:
    lines = ["working\n"] * 62_500
    lines[before // 8 : before // 8] = ["Anna,31,London\n", "Bob,33,Paris\n", "Cy,35,Rome\n"]
    shown, _ = render_outputs([{"output_type": "stream", "name": "stdout", "text": "".join(lines)}])
    for sent in (
        cut(redact(shown, {"row_data": "by the setting"}))[0],
        redact(shown.cut(before - 10_000, before + 10_000), {"row_data": "by the setting"}),
    ):
        assert "Anna" not in sent

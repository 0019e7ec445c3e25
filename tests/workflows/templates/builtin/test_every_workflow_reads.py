"""Data files as programs in other countries write them, in every workflow that reads a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_datalayer_agent.workflows.template import StepFailed
from jupyter_datalayer_agent.workflows.templates.catalogue import builtin_catalogue
from tests.support.template_run import KernelForTemplates, NotebookRun

ROWS = 60
WORKFLOWS = [template.id for template in builtin_catalogue()]


def lines(head: str, row: str) -> str:
    values = ({"i": i, "k": i % 90 + 10, "z": i % 10, "g": i % 3 + 1} for i in range(ROWS))
    return "".join([head + "\n", *(row.format(**each) + "\n" for each in values)])


# The last column makes a model possible.
CASES: dict[str, tuple[bytes, list[Any]]] = {
    name: (lines(head, row).encode(encoding), first)
    for name, head, row, encoding, first in [
        ("semicolons", "Name;Preis;g", "Ware {i};{i},99;{g}", "utf-8", ["Ware 1", 1.99, 2]),
        ("tabs", "Name\tPreis\tg", "Ware {i}\t{i},99\t{g}", "utf-8", ["Ware 1", 1.99, 2]),
        ("marks", "N;Umsatz;Lat", "a{i};1.00{z},50;52.{k}", "utf-8", ["a1", 1001.5, 52.11]),
        ("years", "code,2019,2020", "L{i},{i}.5,{g}.1", "utf-8", ["L1", 1.5, 2.1]),
        ("percent", "name,5%,95%", "x{i},{k},{g}", "utf-8", ["x1", 11, 2]),
        ("trailing", "a,b,c", "n{i},{k},{g},", "utf-8", ["n1", 11, 2]),
        ("cp1251", "Москва,n,g", "Москва{i},{k},{g}", "cp1251", ["Москва1", 11, 2]),
        ("gbk", "北京,n,g", "北京{i},{k},{g}", "gbk", ["北京1", 11, 2]),
        ("cp932", "東京,n,g", "東京{i},{k},{g}", "cp932", ["東京1", 11, 2]),
        ("euc_kr", "서울,n,g", "서울{i},{k},{g}", "euc_kr", ["서울1", 11, 2]),
    ]
}
TARGETS = {"marks.csv": "Lat", "years.csv": "2020", "percent.csv": "95%", "trailing.csv": "c"}
WRITTEN_BY_OTHERS = ("gbk", "cp932", "euc_kr")
"""Few words in these encodings are certain."""


async def load(kernel: KernelForTemplates, workflow: str, data: str, *answers: str) -> NotebookRun:
    """The steps of a workflow as far as the table is loaded."""
    template = builtin_catalogue().find(workflow)
    assert template is not None
    parameters = {"data": data, "notebook": "x.ipynb"}
    if workflow == "machine-learning-pipeline":
        parameters["target"] = TARGETS.get(data, "g")
    given = template.parameters.model_validate(parameters)
    kernel.start(kernel.root)
    run = NotebookRun(kernel, given, "x.ipynb", answers=list(answers))
    for step in template.steps(given):
        await step.act(run)
        if any(cell.source.startswith("df = ") for cell in run.document.cells):
            return run
    raise AssertionError("no step loads the data")


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize("workflow", WORKFLOWS)
async def test_the_table_has_the_values_of_the_file(
    kernel: KernelForTemplates, workflow: str, case: str
) -> None:
    content, first = CASES[case]
    data = f"{case}.csv"
    (kernel.root / data).write_bytes(content)
    answers: list[str] = []
    if case in WRITTEN_BY_OTHERS:
        with pytest.raises(StepFailed, match="is not certain") as failed:
            await load(kernel, workflow, data)
        choices = failed.value.message.partition("The choices are: ")[2].rstrip(".").split("; ")
        answers = [each for each in choices if first[0].removesuffix("1") in each][:1]
    run = await load(kernel, workflow, data, *answers)
    outputs, _ = kernel.execute("print(len(df), df.to_json(orient='values', force_ascii=False))")
    rows, _, values = outputs[0].text.partition(" ")
    assert (int(rows), json.loads(values)[1]) == (ROWS, first)
    title = run.document.cells[0].source
    assert "How the file was read: values separated by" in title
    assert content.isascii() or first[0].removesuffix("1") in title

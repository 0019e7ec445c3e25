"""What matching finds in a message, without a model."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.services.matcher import Matcher
from jupyter_datalayer_agent.services.questions import Question
from tests.services.context import FakeContext

FILES = ["cars.csv", "cars.parquet", "big/cars.csv", "a.ipynb"]


def question(name: str, kind: str, *suffixes: str) -> Question:
    return Question(name=name, prompt=name, kind=kind, suffixes=suffixes)


@pytest.mark.parametrize(
    ("message", "data", "target"),
    [
        ("convert cars.csv to parquet as cars.parquet", "cars.csv", "cars.parquet"),
        ("convert cars.parquet into cars.csv", "cars.parquet", "cars.csv"),
        ("write cars.csv as new.xlsx", "cars.csv", "new.xlsx"),
        ("save cars.csv in a new file, out.parquet", "cars.csv", "out.parquet"),
        ("wandle cars.csv um nach cars.parquet", "cars.csv", "cars.parquet"),
        ("convertis cars.csv vers cars.parquet", "cars.csv", "cars.parquet"),
        ("a sample of cars.csv called few.csv", "cars.csv", "few.csv"),
        # Only one file is named, and it is there.
        ("what is in cars.parquet", "cars.parquet", None),
        ("go to cars.csv and profile it", "cars.csv", None),
    ],
)
async def test_the_file_to_read_is_not_the_one_to_write(
    message: str, data: str, target: str | None
) -> None:
    matcher = Matcher(FakeContext(FILES))
    found = await matcher.fill(
        [question("data", "data"), question("target", "new-path")], message, {}
    )
    assert found["data"].value == data
    assert (found["target"].value if "target" in found else None) == target


@pytest.mark.parametrize(
    ("message", "notebook"),
    [
        ("charts of cars.csv into charts.ipynb", "charts.ipynb"),
        ("draw charts of cars.csv in a new notebook charts.ipynb", "charts.ipynb"),
        ("make a report of cars.csv, name it report.ipynb", "report.ipynb"),
        ("a report of cars.csv: report.ipynb", "report.ipynb"),
        # It is there: not to be written, unless the message says so.
        ("charts of the data in a.ipynb", None),
        ("do not write report.ipynb but only cars.csv", None),
    ],
)
async def test_the_name_of_a_new_notebook_is_found(message: str, notebook: str | None) -> None:
    matcher = Matcher(FakeContext(FILES))
    found = await matcher.fill([question("notebook", "new-path", ".ipynb")], message, {})
    assert (found["notebook"].value if "notebook" in found else None) == notebook


@pytest.mark.parametrize("message", ["do not install polars", "don't install polars, please"])
async def test_what_is_not_to_be_installed_is_no_package(message: str) -> None:
    matcher = Matcher(FakeContext())
    assert await matcher.fill([question("packages", "packages")], message, {}) == {}

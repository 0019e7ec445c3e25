"""What matching finds in a message: what it has exactly, in any language; never what it means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jupyter_datalayer_agent.services.matcher import Matcher
from jupyter_datalayer_agent.services.questions import Question, options_of
from tests.services.context import FakeContext

FILES = ["cars.csv", "cars.parquet", "big/cars.csv", "a.ipynb", "data/sales 2024.csv"]
CONTAINER = Question("container", "Container", also_called=("conteneur", "contenedor"))
NEW = Question("container", "Name", kind="name")
BLOB = Question("blob", "Blob", kind="remote-path")
FORMAT = Question("format", "Format", "one", options_of(["html", "pdf", "python"]))
TARGET = Question("target", "Target column", "one", options_of(["mpg", "unit price"]), "column")
DATE = Question("date_column", "Date column", "one", options_of(["day", "mpg"]), "date-column")
PACKAGES = Question("packages", "Packages", "many", kind="packages")
ROWS = Question("rows", "Rows", "number", schema={"type": "integer"})


def question(name: str, kind: str, *suffixes: str) -> Question:
    return Question(name=name, prompt=name, kind=kind, suffixes=suffixes)


async def found_in(message: str, *questions: Question, **options: Any) -> dict[str, object]:
    matcher = Matcher(FakeContext(FILES), **options)
    found = await matcher.fill(questions, message, {})
    for answer in found.values():
        # It says where in the message it is from.
        assert answer.source is not None
        assert all(part in message for part in answer.source.split(", "))
    return {name: answer.value for name, answer in found.items()}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("convert cars.csv to new.parquet", {"data": "cars.csv", "target": "new.parquet"}),
        ("wandle cars.csv um nach neu.parquet", {"data": "cars.csv", "target": "neu.parquet"}),
        ("convertis cars.csv vers été.xlsx", {"data": "cars.csv", "target": "été.xlsx"}),
        ("data/sales 2024.csv を out.csv に", {"data": "data/sales 2024.csv", "target": "out.csv"}),
        ("Target: new.xlsx, data: big/cars.csv", {"data": "big/cars.csv", "target": "new.xlsx"}),
        ("what is in cars.parquet", {"data": "cars.parquet"}),
        # Both are there: which is read and which written, only the sentence says.
        ("convert cars.parquet into cars.csv", {}),
        # Nobody knows whether it is to be read or written.
        ("convert carrs.csv", {}),
        ("convert one.csv to two.csv", {}),
        ("the cars, please", {}),
        ("", {}),
    ],
)
async def test_a_file_that_is_there_is_read_and_a_new_one_written(
    message: str, found: dict[str, str]
) -> None:
    questions = question("data", "data"), question("target", "new-path")
    assert await found_in(message, *questions) == found


@pytest.mark.parametrize(
    ("message", "notebook"),
    [
        ("charts of cars.csv into charts.ipynb", "charts.ipynb"),
        ("un rapport de cars.csv : rapport.ipynb", "rapport.ipynb"),
        # It is there: not to be written.
        ("charts of the data in a.ipynb", None),
        ("x.ipynb or y.ipynb", None),
    ],
)
async def test_the_name_of_a_new_notebook_is_found(message: str, notebook: str | None) -> None:
    found = await found_in(message, question("notebook", "new-path", ".ipynb"))
    assert found.get("notebook") == notebook


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("container: reports", "reports"),
        ("upload cars.csv, Container=sales-2024, and list it", "sales-2024"),
        ('delete the container "old"', "old"),
        ("delete the “old” container", "old"),
        ("lösche den Container „alt“", "alt"),
        ("supprime le conteneur « été »", "été"),
        ('contenedor: "mis informes"', "mis informes"),
        # A word that stands there may be anything.
        ("upload cars.csv to the container reports", None),
        ("list the containers", None),
        ("den Container öffnen", None),
        ("container: a, container: b", None),
        ("the containerization: x", None),
    ],
)
async def test_a_value_is_given_by_the_name_of_its_parameter(
    message: str, value: str | None
) -> None:
    assert (await found_in(message, CONTAINER)).get("container") == value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ('create "reports"', "reports"),
        ("crée « rapports »", "rapports"),
        ("create reports", None),
        ('not "a" but "b"', None),
        ("don't change what's there", None),
    ],
)
async def test_what_is_in_quotes_is_the_name(message: str, value: str | None) -> None:
    assert (await found_in(message, NEW)).get("container") == value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("download sales.csv from there", "sales.csv"),
        ('download "2024/q 1.csv"', "2024/q 1.csv"),
        ("download the blob 2024/q 1.csv", None),
        ("compare sales.csv with old.csv", None),
        ("download a blob", None),
    ],
)
async def test_a_file_that_is_elsewhere(message: str, value: str | None) -> None:
    assert (await found_in(message, BLOB)).get("blob") == value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("als HTML exportieren", "html"),
        ("as HTML, not PDF", None),
        ("format: pdf, I have enough html", "pdf"),
        ("as Word", None),
    ],
)
async def test_a_choice_is_found_where_only_one_is_named(message: str, value: str | None) -> None:
    assert (await found_in(message, FORMAT)).get("format") == value


async def test_a_column_is_for_one_question() -> None:
    assert await found_in("sage mpg voraus", TARGET, DATE) == {"target": "mpg"}
    assert await found_in("predict unit_price", TARGET, DATE) == {"target": "unit price"}
    both = await found_in("date column: day, target: mpg", TARGET, DATE)
    assert both == {"date_column": "day", "target": "mpg"}
    # A column that is not there is none.
    assert await found_in("target: weight", TARGET, DATE) == {}


@pytest.mark.parametrize(
    ("message", "is_arguments", "packages"),
    [
        ("polars", True, ["polars"]),
        ("polars, seaborn>=0.13", True, ["polars", "seaborn>=0.13"]),
        ("the newest numpy", True, None),
        ("polars", False, None),
        ("do not install polars", False, None),
        ("installiere numpy>=2 und `polars`", False, ["polars", "numpy>=2"]),
    ],
)
async def test_packages(message: str, is_arguments: bool, packages: list[str] | None) -> None:
    found = await found_in(message, PACKAGES, is_arguments=is_arguments)
    assert found.get("packages") == packages


async def test_a_number_is_found_beside_its_word() -> None:
    assert await found_in("the first 1,500 rows", ROWS) == {"rows": 1500}
    assert await found_in("rows: 20, columns: 3", ROWS) == {"rows": 20}
    assert await found_in("the first 20", ROWS) == {}


class Notebook(FakeContext):
    """With a notebook that reads files."""

    def __init__(self, files: list[str], notebook: str, *sources: str) -> None:
        super().__init__(files, notebook)
        self._sources = [("code", each) for each in sources]

    async def sources(self) -> list[tuple[str, str]]:
        return self._sources


@pytest.mark.parametrize(
    ("context", "data"),
    [
        (FakeContext(["only.csv", "b.txt"]), "only.csv"),
        (FakeContext(["a.csv", "b.csv"]), None),
        (Notebook(["a.csv", "x/b.csv"], "x/n.ipynb"), "x/b.csv"),
        (Notebook(["a.csv", "x/b.csv"], "x/n.ipynb", "pd.read_csv('../a.csv')"), "a.csv"),
        (Notebook(["a.csv", "b.csv"], "n.ipynb", "open('a.csv'); open('b.csv')"), None),
    ],
)
async def test_where_no_data_is_named_the_notebooks_is_taken(
    context: FakeContext, data: str | None
) -> None:
    options = options_of([each for each in await context.files() if each.endswith(".csv")])
    asked = replace(question("data", "data"), options=options)
    found = await Matcher(context).fill([asked], "erkunde die Daten", {})
    assert (found["data"].value if "data" in found else None) == data
    # What is named and not there is not replaced by what is.
    named = await Matcher(context).fill([asked], "explore gone.csv", {})
    assert named == {}

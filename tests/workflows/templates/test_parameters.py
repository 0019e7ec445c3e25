"""Which parameters the user is asked for, and which are guessed from the task and the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.datasets.files.columns import columns_of
from jupyter_datalayer_agent.workflows.template import Template
from jupyter_datalayer_agent.workflows.templates.catalogue import builtin_catalogue
from jupyter_datalayer_agent.workflows.templates.parameters import (
    data_files_read,
    guessed_parameters,
    likely_data_files,
    missing_parameters,
    sure_data_file,
)

FILES = ["cars.csv", "data/sales 2024.csv", "data/house_prices.parquet", "a.ipynb", "notes.md"]


def template(template_id: str) -> Template:
    found = builtin_catalogue().find(template_id)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("task", "data"),
    [
        ("explore cars.csv", "cars.csv"),
        ("explore data/sales 2024.csv", "data/sales 2024.csv"),
        ("explore the cars", "cars.csv"),
        ("what do house prices depend on?", "data/house_prices.parquet"),
        ("explore this data", None),
        ("explore scars.csv", None),
    ],
)
def test_the_file_that_the_task_names_is_the_data(task: str, data: str | None) -> None:
    guesses = guessed_parameters(template("exploratory-data-analysis"), FILES, task)
    assert guesses.get("data") == data


def test_the_only_data_file_is_the_data() -> None:
    files = ["x/only.csv.gz", "b.txt", ".hidden/c.csv"]
    task = "create a complete data analysis notebook"
    assert guessed_parameters(template("data-analysis-notebook"), files, task) == {
        "data": "x/only.csv.gz"
    }


def test_the_data_that_the_notebook_reads_is_taken_then_the_one_beside_it() -> None:
    files = ["cars.csv", "data.csv", "tutorials/cars.csv", "tutorials/rain.csv"]
    task = "create a complete data analysis notebook"
    assert sure_data_file(files, task) is None
    assert sure_data_file(files, task, ["cars.csv"], "") == "cars.csv"
    assert sure_data_file(files, task, ["cars.csv", "data.csv"], "") is None
    assert sure_data_file(files[1:], task, [], "") == "data.csv"
    # What the task names comes before what the notebook reads.
    assert sure_data_file(files, "analyse the rain", ["cars.csv"], "") == "tutorials/rain.csv"
    assert sure_data_file(files, "analyse the cars", ["tutorials/cars.csv"], "tutorials") == (
        "tutorials/cars.csv"
    )


def test_the_data_files_that_code_reads_are_found_beside_the_notebook() -> None:
    files = ["a/cars.csv", "rain.parquet", "a/out.csv", "a/gone.csv"]
    sources = [
        "%matplotlib inline\npath = 'cars.csv'\ndf = pd.read_csv(path)",
        "rain = pd.read_parquet('../rain.parquet'); df.to_csv('out.csv')",
        "open('gone.csv', 'w'); pd.read_csv('../../cars.csv'); pd.read_csv('nowhere.csv')",
        "%%bash\ncat 'gone.csv'",
        "not Python (",
    ]
    assert data_files_read(sources, "a", files) == ["a/cars.csv", "rain.parquet"]


def test_what_is_missing_is_requested_with_the_likeliest_first() -> None:
    flow = template("machine-learning-pipeline")
    [missing] = missing_parameters(flow, {"target": "price"}, FILES, "with the sales, or cars")
    assert missing.name == "data"
    assert missing.options == ["cars.csv", "data/house_prices.parquet", "data/sales 2024.csv"]
    assert missing_parameters(flow, {"data": "cars.csv"}) == []
    assert missing_parameters(template("data-analysis-notebook"), {}) == []


def test_target_task_and_notebook_are_read_from_the_words() -> None:
    columns = ["Price", "price_per_night", "Survived", "kind"]
    flow = template("machine-learning-pipeline")
    task = "Train a classifier that predicts survived from cars.csv, write it to models/s.ipynb"
    assert guessed_parameters(flow, FILES, task, columns) == {
        "data": "cars.csv",
        "target": "Survived",
        "task": "classification",
        "notebook": "models/s.ipynb",
    }
    night = guessed_parameters(flow, [], "predict the price per night", columns)
    assert night == {"target": "price_per_night"}
    assert guessed_parameters(flow, [], "logistic regression", columns) == {
        "task": "classification"
    }
    assert guessed_parameters(flow, [], "predict the weather", columns) == {}


def test_the_columns_of_a_file_are_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes('\ufeffname;"unit; price"\nx;1\n'.encode())
    assert columns_of(tmp_path / "a.csv") == ["name", "unit; price"]
    assert columns_of(tmp_path / "nowhere.csv") == []
    assert likely_data_files(["b/z.csv", "y.tsv", "x.py"], "") == ["y.tsv", "b/z.csv"]

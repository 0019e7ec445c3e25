"""Five real data sets of different shape, from packages that the tests pin; nothing is fetched.

cancer (wide, 569 × 31), gapminder (long, a panel of countries and years, with missing values),
weather (dates, five classes), titanic (few columns, much of one missing), movies (free text, lists
in text, dates, mostly empty columns).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pandas
from vega_datasets import data

# A part of the larger ones is enough to test with, and quicker.
COUNTRIES, FILMS, DAYS = 20, 400, 731


@dataclass(frozen=True)
class DataSet:
    """A file under the root; ``target`` is predicted, by classification or regression."""

    file: str
    target: str
    task: str


CANCER = DataSet("cancer.csv", "diagnosis", "classification")
GAPMINDER = DataSet("gapminder.parquet", "life_expectancy", "regression")
WEATHER = DataSet("weather.csv", "weather", "classification")
TITANIC = DataSet("data/titanic.parquet", "survived", "classification")
MOVIES = DataSet("data/movies.csv", "Meter", "regression")
DATASETS = [CANCER, GAPMINDER, WEATHER, TITANIC, MOVIES]


def write_datasets(root: Path) -> None:
    """All five as files under the root."""
    from sklearn.datasets import load_breast_cancer  # a second for each process that collects tests

    (root / "data").mkdir(parents=True, exist_ok=True)
    bunch = load_breast_cancer(as_frame=True)
    cancer = bunch.frame.drop(columns="target")
    cancer["diagnosis"] = bunch.target.map({0: "malignant", 1: "benign"})
    cancer.to_csv(root / CANCER.file, index=False)
    countries = pandas.read_csv(_bokeh("gapminder.csv.gz"))
    some = countries["country"].unique()[::12][:COUNTRIES]
    countries[countries["country"].isin(some)].to_parquet(root / GAPMINDER.file, index=False)
    weather = Path(data.seattle_weather.filepath).read_text().splitlines(keepends=True)
    (root / WEATHER.file).write_text("".join(weather[: DAYS + 1]))
    pandas.read_csv(_bokeh("titanic_all.csv")).to_parquet(root / TITANIC.file, index=False)
    _movies().to_csv(root / MOVIES.file, index=False)


def _movies() -> pandas.DataFrame:
    query = (
        "select o.Title, o.Year, o.Rating as rated, o.Runtime, o.Genre, o.Director, o.Cast, "
        "o.Language, o.Country, o.Released, o.Oscars, t.Meter, t.Reviews, t.BoxOffice "
        "from omdb o join tomatoes t on o.ID = t.ID where t.Meter is not null"
    )
    connection = sqlite3.connect(_bokeh("movies.db"))
    try:
        return pandas.read_sql(query, connection).sample(FILMS, random_state=0)
    finally:
        connection.close()


def _bokeh(name: str) -> Path:
    spec = find_spec("bokeh_sampledata")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "_data" / name

"""The data of the tasks: real sets that packages carry. Nothing is downloaded.

vega_datasets (its local sets) and scikit-learn, both of the extra ``benchmark``.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


def _vega(name: str) -> bytes:
    from vega_datasets import local_data

    raw = Path(getattr(local_data, name).filepath).read_bytes()
    if not raw.lstrip().startswith(b"["):
        return raw
    import json

    import pandas as pd

    frame = pd.DataFrame(json.loads(raw))
    return bytes(frame.to_csv(index=False), "utf-8")


def _sklearn(name: str) -> bytes:
    from sklearn import datasets

    return bytes(getattr(datasets, name)(as_frame=True).frame.to_csv(index=False), "utf-8")


FILES: dict[str, Callable[[], bytes]] = {
    "airports.csv": lambda: _vega("airports"),
    "anscombe.csv": lambda: _vega("anscombe"),
    "barley.csv": lambda: _vega("barley"),
    "cars.csv": lambda: _vega("cars"),
    "electricity.csv": lambda: _vega("iowa_electricity"),
    "employment.csv": lambda: _vega("us_employment"),
    "iris.csv": lambda: _vega("iris"),
    "seattle.csv": lambda: _vega("seattle_temps"),
    "san-francisco.csv": lambda: _vega("sf_temps"),
    "stocks.csv": lambda: _vega("stocks"),
    "weather.csv": lambda: _vega("seattle_weather"),
    "diabetes.csv": lambda: _sklearn("load_diabetes"),
    "wine.csv": lambda: _sklearn("load_wine"),
    "heavy.csv": lambda: b"Name,Weight_in_lbs\nkept by the user,1\n",
}
"""What a task's folder can have, by name."""


@cache
def content(name: str) -> bytes:
    """The file's bytes. Raises ``ImportError`` where its package is not installed."""
    return FILES[name]()


def read(name: str) -> Any:
    """The file as pandas reads it: a new data frame each time."""
    import pandas as pd

    return pd.read_csv(io.BytesIO(content(name)))

"""Tasks on notebooks in which something is wrong: errors, a stale variable, a wrong result."""

from __future__ import annotations

from .checks import no_errors, same_cells, says, unchanged, value_is
from .task import Done, Task, read

_CARS = "import pandas as pd\n\ncars = pd.read_csv('cars.csv')"
_WEATHER = "import pandas as pd\n\nweather = pd.read_csv('weather.csv')"


def _name(done: Done) -> str | None:
    means = read("cars.csv").groupby("Origin")["Horsepower"].mean()
    return (
        same_cells(done)
        or unchanged(done, "cell-1")
        or no_errors(done)
        or value_is(done, "means", means)
    )


def _dates(done: Done) -> str | None:
    import pandas as pd

    weather = read("weather.csv")
    wind = weather.groupby(pd.to_datetime(weather["date"]).dt.year)["wind"].mean()
    return no_errors(done) or value_is(done, "wind", wind)


def _stale(done: Done) -> str | None:
    count = int((read("cars.csv")["Miles_per_Gallon"] > 30).sum())
    return (
        unchanged(done, "cell-2") or value_is(done, "int(economical)", count) or says(done, count)
    )


def _share(done: Done) -> str | None:
    share = float((read("weather.csv")["weather"] == "rain").mean())
    return same_cells(done) or value_is(done, "float(share)", share) or says(done, share, 3)


TASKS = [
    Task(
        "fix-name",
        "fix",
        "Cell 2 fails. Correct it and run it again; add no cell.",
        _name,
        ["cars.csv"],
        cells=[_CARS, "means = cars.groupby('Origin')['Horsepowr'].mean()\nmeans"],
        ran=True,
    ),
    Task(
        "fix-dates",
        "fix",
        "This notebook stops with an error. Make it run from its first to its last cell.",
        _dates,
        ["weather.csv"],
        cells=[_WEATHER, "wind = weather.groupby(weather['date'].dt.year)['wind'].mean()\nwind"],
        ran=True,
    ),
    Task(
        "fix-result",
        "fix",
        "The share of rainy days in cell 2 cannot be right, it is above 1. Correct that cell, run "
        "it, and tell me the share with three decimals. Add no cell.",
        _share,
        ["weather.csv"],
        cells=[
            _WEATHER,
            "rainy = (weather['weather'] == 'rain').sum()\n"
            "share = rainy / weather['weather'].nunique()\nshare",
        ],
        ran=True,
    ),
    Task(
        "stale-limit",
        "stale",
        "I have changed the limit in cell 2. How many cars are economical now? Leave cell 2 as it "
        "is.",
        _stale,
        ["cars.csv"],
        cells=[
            _CARS,
            "limit = 20",
            "economical = int((cars['Miles_per_Gallon'] > limit).sum())\neconomical",
        ],
        ran=True,
        edited={"cell-2": "limit = 30"},
    ),
]

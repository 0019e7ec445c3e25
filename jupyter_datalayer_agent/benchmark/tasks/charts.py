"""Tasks whose result is a chart: it is shown, and what is drawn is the data."""

from __future__ import annotations

from .checks import shows_image, value_is
from .data import read
from .task import Done, Task


def _scatter(done: Done) -> str | None:
    both = read("cars.csv")[["Horsepower", "Miles_per_Gallon"]].dropna()
    # What is missing is drawn nowhere: it may be dropped, masked or not a number.
    drawn = (
        "sorted(point for point in ax.collections[0].get_offsets().tolist() "
        "if all(each is not None and each == each for each in point))"
    )
    return (
        shows_image(done)
        or value_is(done, drawn, sorted(both.to_numpy().tolist()))
        or value_is(done, "[bool(ax.get_xlabel()), bool(ax.get_ylabel())]", [True, True])
    )


def _bars(done: Done) -> str | None:
    days = sorted(read("weather.csv")["weather"].value_counts().tolist())
    heights = "sorted(int(max(b.get_height(), b.get_width())) for b in ax.patches)"
    return shows_image(done) or value_is(done, heights, days)


def _line(done: Done) -> str | None:
    rows = read("electricity.csv")
    renewables = rows[rows["source"] == "Renewables"].sort_values("year")["net_generation"]
    drawn = "[float(y) for y in ax.lines[0].get_ydata()]"
    return shows_image(done) or value_is(done, drawn, renewables.astype(float).tolist())


TASKS = [
    Task(
        "chart-scatter",
        "chart",
        "Draw a scatter plot of Miles_per_Gallon (y) against Horsepower (x) of cars.csv with "
        "matplotlib, with labels on both axes. Call the axes ax.",
        _scatter,
        ["cars.csv"],
    ),
    Task(
        "chart-bars",
        "chart",
        "Draw a bar chart of how many days of each kind of weather there are in weather.csv. Use "
        "matplotlib or pandas, and call the axes ax.",
        _bars,
        ["weather.csv"],
        cells=["# Weather", "import pandas as pd\n\nweather = pd.read_csv('weather.csv')"],
        ran=True,
    ),
    Task(
        "chart-line",
        "chart",
        "Draw the net generation of Renewables in electricity.csv over the years as one line with "
        "matplotlib. Call the axes ax.",
        _line,
        ["electricity.csv"],
    ),
]

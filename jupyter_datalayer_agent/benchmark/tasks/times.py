"""Tasks about dates."""

from __future__ import annotations

from .checks import says, value_is
from .data import read
from .task import Done, Task


def _rain(done: Done) -> str | None:
    import pandas as pd

    weather = read("weather.csv")
    dates = pd.to_datetime(weather["date"])
    rain = weather[dates.dt.year == 2015].groupby(dates.dt.month)["precipitation"].sum()
    return value_is(done, "rain", rain) or says(done, rain.max(), 1)


def _google(done: Done) -> str | None:
    import pandas as pd

    stocks = read("stocks.csv")
    google = stocks[stocks["symbol"] == "GOOG"]
    means = google.groupby(pd.to_datetime(google["date"], format="%b %d %Y").dt.year)[
        "price"
    ].mean()
    return value_is(done, "google", means) or says(done, means[2009], 1)


def _fall(done: Done) -> str | None:
    employment = read("employment.csv")
    change = employment["nonfarm"].diff()
    month = employment["month"][change.idxmin()][:7]
    fall = float(abs(change.min()))
    said = says(done, fall) and says(done, -fall)
    return value_is(done, "str(worst)[:7]", month) or said


TASKS = [
    Task(
        "dates-month",
        "dates",
        "Which month of 2015 had the most precipitation in weather.csv? Keep the sums of that year "
        "as a dict rain (month from 1 to 12), and tell me the sum of that month with one decimal.",
        _rain,
        ["weather.csv"],
    ),
    Task(
        "dates-year",
        "dates",
        "Give me the mean price of GOOG by year from stocks.csv, as a dict google (the year as an "
        "int), and tell me that of 2009 with one decimal.",
        _google,
        ["stocks.csv"],
    ),
    Task(
        "dates-change",
        "dates",
        "In which month of employment.csv did nonfarm fall most against the month before, and by "
        "how much? Keep the month as worst, written as 2006-01.",
        _fall,
        ["employment.csv"],
    ),
]

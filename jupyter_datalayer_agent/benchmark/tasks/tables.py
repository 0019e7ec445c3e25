"""Tasks about tables: missing values, groups, joins, cleaning, files that are written."""

from __future__ import annotations

from typing import Any

from .checks import says, says_words, value_is
from .data import read
from .task import Done, Task


def _missing(done: Done) -> str | None:
    counts = read("cars.csv").isna().sum()
    return value_is(done, "missing", counts) or says_words(done, counts.idxmax())


def _filled(done: Done) -> str | None:
    cars = read("cars.csv")
    medians = cars.groupby("Origin")["Horsepower"].transform("median")
    others = ["Miles_per_Gallon", "Weight_in_lbs"]
    return value_is(
        done, "cars['Horsepower'].tolist()", cars["Horsepower"].fillna(medians).tolist()
    ) or value_is(done, f"cars[{others}].isna().sum()", cars[others].isna().sum())


def _means(done: Done) -> str | None:
    means = read("cars.csv").groupby("Origin")["Horsepower"].mean()
    return value_is(done, "mean_hp", means) or says(done, means["USA"], 2)


def _sites(done: Done) -> str | None:
    totals = read("barley.csv").pivot_table("yield", "site", "year", aggfunc="sum")
    better = totals.index[totals[1932] > totals[1931]]
    worse = [each for each in totals.index if each not in better]
    wrongly = [each for each in worse if each.lower() in done.answer.lower()]
    return (
        value_is(done, "totals.to_dict()", totals.to_dict())
        or says_words(done, *better)
        or (f"the answer names {', '.join(wrongly)} too" if wrongly else None)
    )


def _states(done: Done) -> str | None:
    most = read("airports.csv")["state"].value_counts().head(5)
    return value_is(done, "list(top_states)", list(most.index)) or says(done, most.iloc[0])


def _warmer(done: Done) -> str | None:
    seattle, other = read("seattle.csv"), read("san-francisco.csv")
    for each in (seattle, other):
        each["date"] = each["date"].str[:16]
    both = seattle.merge(other, on="date", suffixes=("_seattle", "_sf"))
    hours = int((both["temp_sf"] > both["temp_seattle"]).sum())
    return value_is(done, "int(hours)", hours) or says(done, hours)


def _months(stocks: Any, symbol: str) -> set[str]:
    return set(stocks.loc[stocks["symbol"] == symbol, "date"])


def _unmatched(done: Done) -> str | None:
    stocks = read("stocks.csv")
    only = len(_months(stocks, "MSFT") - _months(stocks, "GOOG"))
    return value_is(done, "int(only_msft)", only) or says(done, only)


MAKERS = {
    "chevroelt": "chevrolet",
    "chevy": "chevrolet",
    "maxda": "mazda",
    "toyouta": "toyota",
    "vokswagen": "volkswagen",
    "vw": "volkswagen",
}


def _makers(done: Done) -> str | None:
    makers = read("cars.csv")["Name"].str.split().str[0].replace(MAKERS)
    return value_is(done, "cars['maker'].tolist()", makers.tolist()) or value_is(
        done, "int(makers)", makers.nunique()
    )


def _written(done: Done) -> str | None:
    import pandas as pd

    file = done.folder / "means.csv"
    if not file.is_file():
        return "there is no file means.csv"
    means = read("iris.csv").groupby("species").mean()
    try:
        found = pd.read_csv(file).set_index("species")[list(means.columns)]
    except (ValueError, KeyError) as error:
        return f"means.csv cannot be read: {error}"
    close = (
        found.index.tolist() == means.index.tolist() and (found - means).abs().max().max() < 0.01
    )
    return None if close else "means.csv has other values"


TASKS = [
    Task(
        "missing-counts",
        "missing",
        "How many values are missing in each column of cars.csv? Put the counts of all columns "
        "into a dict called missing, and tell me which column has the most.",
        _missing,
        ["cars.csv"],
    ),
    Task(
        "missing-filled",
        "missing",
        "Load cars.csv as cars. Fill each missing Horsepower with the median Horsepower of the "
        "cars of the same Origin, and leave the other columns as they are.",
        _filled,
        ["cars.csv"],
    ),
    Task(
        "group-means",
        "groups",
        "What is the mean horsepower by origin in cars.csv? Keep it as a dict mean_hp, and tell me "
        "the one of the USA, rounded to two decimals.",
        _means,
        ["cars.csv"],
        cells=["# Cars", "import pandas as pd\n\ncars = pd.read_csv('cars.csv')"],
    ),
    Task(
        "group-two-keys",
        "groups",
        "Sum the yield in barley.csv by site and year, into a data frame totals with the sites as "
        "its index and the years as its columns. Which site, and no other, had more in 1932 than "
        "in 1931? Name only that one.",
        _sites,
        ["barley.csv"],
    ),
    Task(
        "group-most",
        "groups",
        "Which five states have the most airports in airports.csv? Put them into a list, "
        "top_states, the one with the most first, and tell me how many the first one has.",
        _states,
        ["airports.csv"],
    ),
    Task(
        "join-hours",
        "joins",
        "seattle.csv and san-francisco.csv have the temperature of each hour of a year. Their "
        "dates are not written alike. Join them by the hour: in how many hours was it warmer in "
        "San Francisco than in Seattle? Keep the number as hours.",
        _warmer,
        ["seattle.csv", "san-francisco.csv"],
    ),
    Task(
        "join-unmatched",
        "joins",
        "For how many months does stocks.csv have a price of MSFT but none of GOOG? Keep the "
        "number as only_msft.",
        _unmatched,
        ["stocks.csv"],
    ),
    Task(
        "clean-makers",
        "clean",
        "Add a column maker to cars: the first word of Name, with the misspelt and short ones put "
        "right: "
        + ", ".join(f"{wrong} is {right}" for wrong, right in MAKERS.items())
        + ". Keep the number of different makers as makers.",
        _makers,
        ["cars.csv"],
        cells=["import pandas as pd\n\ncars = pd.read_csv('cars.csv')"],
        ran=True,
    ),
    Task(
        "file-written",
        "files",
        "Write the means of the four measures in iris.csv by species to means.csv, rounded to two "
        "decimals, with a column species first, sorted by it.",
        _written,
        ["iris.csv"],
    ),
]

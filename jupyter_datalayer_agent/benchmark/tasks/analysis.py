"""Tasks whose result is a chart: it is shown, and what is drawn is the data."""

from __future__ import annotations

from typing import Any

from .checks import says, says_words, shows_image, value_is
from .task import Done, Task, read

# Tasks about tables: missing values, groups, joins, cleaning, files that are written.


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


# Tasks about dates.


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


TIMES_TASKS = [
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


# Tasks about correlations and models, whose splits are fixed.


def _strongest(done: Done) -> str | None:
    r = read("diabetes.csv").corr()["target"].drop("target")
    best = r.abs().idxmax()
    return (
        value_is(done, "str(best)", best)
        or value_is(done, "float(r)", r[best])
        or says_words(done, best)
    )


def _anscombe(done: Done) -> str | None:
    groups = read("anscombe.csv").groupby("Series")
    r = {name: each["X"].corr(each["Y"]) for name, each in groups}
    return value_is(done, "dict(r)", r) or says(done, r["I"], 2)


def _wine(done: Done) -> str | None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    wine = read("wine.csv")
    train, test, to_train, to_test = train_test_split(
        wine.drop(columns="target"), wine["target"],
        test_size=0.3, random_state=7, stratify=wine["target"],
    )  # fmt: skip
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    accuracy = float(model.fit(train, to_train).score(test, to_test))
    return value_is(done, "float(accuracy)", accuracy) or value_is(
        done, "len(y_test)", len(to_test)
    )


def _diabetes(done: Done) -> str | None:
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    rows = read("diabetes.csv")
    train, test, to_train, to_test = train_test_split(
        rows.drop(columns="target"), rows["target"], test_size=0.25, random_state=42
    )
    r2 = float(LinearRegression().fit(train, to_train).score(test, to_test))
    return value_is(done, "float(r2)", r2) or says(done, r2, 3)


def _neighbours(done: Done) -> str | None:
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    iris = read("iris.csv")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(
        KNeighborsClassifier(5), iris.drop(columns="species"), iris["species"], cv=folds
    )
    return value_is(done, "float(cv)", float(scores.mean())) or says(done, scores.mean(), 3)


MODELS_TASKS = [
    Task(
        "correlation-strongest",
        "correlation",
        "Which column of diabetes.csv has the strongest linear correlation with target, by its "
        "absolute value? Keep its name as best and the coefficient as r.",
        _strongest,
        ["diabetes.csv"],
    ),
    Task(
        "correlation-groups",
        "correlation",
        "Compute the Pearson correlation of X and Y in anscombe.csv for each Series, as a dict r. "
        "What is it in Series I, with two decimals?",
        _anscombe,
        ["anscombe.csv"],
    ),
    Task(
        "model-classes",
        "model",
        "Classify target in wine.csv with a logistic regression (max_iter=1000) after a "
        "StandardScaler, both in one pipeline. Use train_test_split with test_size=0.3, "
        "random_state=7 and stratify by the target; call the test part of the target y_test. Keep "
        "the accuracy on the test part as accuracy.",
        _wine,
        ["wine.csv"],
    ),
    Task(
        "model-regression",
        "model",
        "Fit a LinearRegression of target on all other columns of diabetes.csv, with "
        "train_test_split(test_size=0.25, random_state=42). Keep R² on the test part as r2, and "
        "tell me it with three decimals.",
        _diabetes,
        ["diabetes.csv"],
    ),
    Task(
        "model-folds",
        "model",
        "How accurate is a KNeighborsClassifier with 5 neighbours for species in iris.csv? Use "
        "StratifiedKFold(5, shuffle=True, random_state=0); keep the mean accuracy as cv, and tell "
        "me it with three decimals.",
        _neighbours,
        ["iris.csv"],
    ),
]


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


CHARTS_TASKS = [
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

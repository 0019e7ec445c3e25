"""What a right agent does for each task.

A step adds a cell and runs it,
changes one and runs it, runs some, or puts Markdown at the top. ``{out}`` in an answer is what the
last cell that was run printed or shows, else the last output that is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Add:
    source: str


@dataclass(frozen=True)
class Change:
    cell_id: str
    source: str


@dataclass(frozen=True)
class Run:
    cell_id: str


@dataclass(frozen=True)
class Top:
    source: str


Step = Add | Change | Run | Top


@dataclass(frozen=True)
class Solution:
    steps: list[Step] = field(default_factory=list)
    answer: str = "{out}"


def code(*lines: str, answer: str = "{out}") -> Solution:
    return Solution([Add("\n".join(lines))], answer)


PD = "import pandas as pd"
PLOT = "import pandas as pd\nimport matplotlib.pyplot as plt"
CARS = f"{PD}\ncars = pd.read_csv('cars.csv')"
WEATHER = f"{PD}\nweather = pd.read_csv('weather.csv')"
IRIS = f"{PD}\niris = pd.read_csv('iris.csv')"
STOCKS = f"{PD}\nstocks = pd.read_csv('stocks.csv')"
TEMPS = (
    f"{PD}\na = pd.read_csv('seattle.csv')\nb = pd.read_csv('san-francisco.csv')\n"
    "a['date'] = pd.to_datetime(a['date'])\nb['date'] = pd.to_datetime(b['date'])\n"
    "both = a.merge(b, on='date', suffixes=('_s', '_f'))"
)
MAKERS = (
    "cars['maker'] = cars['Name'].str.split().str[0].replace({'chevroelt': 'chevrolet', "
    "'chevy': 'chevrolet', 'maxda': 'mazda', 'toyouta': 'toyota', 'vokswagen': 'volkswagen', "
    "'vw': 'volkswagen'})\nmakers = cars['maker'].nunique()"
)
WINE = (
    f"{PD}\nfrom sklearn.linear_model import LogisticRegression\n"
    "from sklearn.model_selection import train_test_split\n"
    "from sklearn.pipeline import make_pipeline\n"
    "from sklearn.preprocessing import StandardScaler\n"
    "wine = pd.read_csv('wine.csv')\nX, y = wine.drop(columns='target'), wine['target']\n"
    "X_train, X_test, y_train, y_test = train_test_split(\n"
    "    X, y, test_size=0.3, random_state=7, stratify=y)\n"
    "model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))\n"
    "model.fit(X_train, y_train)"
)
DIABETES = (
    f"{PD}\nfrom sklearn.linear_model import LinearRegression\n"
    "from sklearn.model_selection import train_test_split\n"
    "rows = pd.read_csv('diabetes.csv')\n"
    "X_train, X_test, y_train, y_test = train_test_split(\n"
    "    rows.drop(columns='target'), rows['target'], test_size=0.25, random_state=42)\n"
    "fitted = LinearRegression().fit(X_train, y_train)"
)
FOLDS = (
    f"{IRIS}\nfrom sklearn.model_selection import StratifiedKFold, cross_val_score\n"
    "from sklearn.neighbors import KNeighborsClassifier\n"
    "X, y = iris.drop(columns='species'), iris['species']"
)

RIGHT: dict[str, Solution] = {
    "missing-counts": code(
        CARS, "missing = cars.isna().sum().to_dict()", "max(missing, key=missing.get)"
    ),
    "missing-filled": code(
        CARS,
        "median = cars.groupby('Origin')['Horsepower'].transform('median')",
        "cars['Horsepower'] = cars['Horsepower'].fillna(median)",
        answer="Filled.",
    ),
    "group-means": Solution(
        [
            Run("cell-2"),
            Add(
                "mean_hp = cars.groupby('Origin')['Horsepower'].mean().to_dict()\n"
                "print(round(mean_hp['USA'], 2))"
            ),
        ]
    ),
    "group-two-keys": code(
        f"{PD}\nbarley = pd.read_csv('barley.csv')",
        "totals = barley.pivot_table(index='site', columns='year', values='yield', aggfunc='sum')",
        "print(*totals.index[totals[1932] > totals[1931]])",
    ),
    "group-most": code(
        f"{PD}\ncounts = pd.read_csv('airports.csv')['state'].value_counts()",
        "top_states = counts.index[:5].tolist()",
        "print(f'{top_states[0]} has {counts.iloc[0]}')",
    ),
    "join-hours": code(TEMPS, "hours = int((both['temp_f'] > both['temp_s']).sum())\nhours"),
    "join-unmatched": code(
        STOCKS,
        "months = stocks.groupby('symbol')['date'].agg(set)",
        "only_msft = len(months['MSFT'] - months['GOOG'])\nonly_msft",
    ),
    "clean-makers": code(MAKERS, "makers"),
    "file-written": code(
        IRIS, "iris.groupby('species').mean().round(2).to_csv('means.csv')", answer="Written."
    ),
    "dates-month": code(
        WEATHER,
        "weather['date'] = pd.to_datetime(weather['date'])",
        "year = weather[weather['date'].dt.year == 2015]",
        "rain = year.groupby(year['date'].dt.month)['precipitation'].sum().to_dict()",
        "month = max(rain, key=rain.get)\nprint(f'Month {month}: {rain[month]:.1f} mm')",
    ),
    "dates-year": code(
        STOCKS,
        "goog = stocks[stocks['symbol'] == 'GOOG'].copy()",
        "goog['year'] = pd.to_datetime(goog['date'], format='%b %d %Y').dt.year",
        "google = goog.groupby('year')['price'].mean().to_dict()\nprint(round(google[2009], 1))",
    ),
    "dates-change": code(
        f"{PD}\nrows = pd.read_csv('employment.csv').set_index('month')",
        "change = rows['nonfarm'].diff()\nworst = change.idxmin()[:7]",
        "print(f'In {worst} it fell by {-change.min():,.0f}')",
    ),
    "correlation-strongest": code(
        f"{PD}\nall_r = pd.read_csv('diabetes.csv').corr()['target'].drop('target')",
        "best = all_r.abs().idxmax()\nr = all_r[best]\nprint(best, r)",
    ),
    "correlation-groups": code(
        f"{PD}\nrows = pd.read_csv('anscombe.csv')",
        "r = {n: g['X'].corr(g['Y']) for n, g in rows.groupby('Series')}\nprint(f\"{r['I']:.2f}\")",
    ),
    "model-classes": code(WINE, "accuracy = model.score(X_test, y_test)\naccuracy"),
    "model-regression": code(DIABETES, "r2 = fitted.score(X_test, y_test)\nprint(f'{r2:.3f}')"),
    "model-folds": code(
        FOLDS,
        "folds = StratifiedKFold(5, shuffle=True, random_state=0)",
        "cv = cross_val_score(KNeighborsClassifier(5), X, y, cv=folds).mean()\nprint(f'{cv:.3f}')",
    ),
    "chart-scatter": code(
        PLOT,
        "cars = pd.read_csv('cars.csv')\nfig, ax = plt.subplots(figsize=(2, 2))",
        "ax.scatter(cars['Horsepower'], cars['Miles_per_Gallon'])",
        "ax.set(xlabel='Horsepower', ylabel='Miles per gallon')\nplt.show()",
        answer="Drawn.",
    ),
    "chart-bars": code(
        PLOT,
        "fig, ax = plt.subplots(figsize=(2, 2))",
        "weather['weather'].value_counts().plot.bar(ax=ax)\nplt.show()",
        answer="Drawn.",
    ),
    "chart-line": code(
        PLOT,
        "rows = pd.read_csv('electricity.csv', parse_dates=['year'])",
        "rows = rows[rows['source'] == 'Renewables']\nfig, ax = plt.subplots(figsize=(2, 2))",
        "ax.plot(rows['year'], rows['net_generation'])\nplt.show()",
        answer="Drawn.",
    ),
    "fix-name": Solution(
        [Change("cell-2", "means = cars.groupby('Origin')['Horsepower'].mean()\nmeans")], "Fixed."
    ),
    "fix-dates": Solution(
        [
            Change("cell-1", f"{PD}\n\nweather = pd.read_csv('weather.csv', parse_dates=['date'])"),
            Run("cell-2"),
        ],
        "It runs.",
    ),
    "fix-result": Solution(
        [Change("cell-2", "share = (weather['weather'] == 'rain').mean()\nprint(f'{share:.3f}')")]
    ),
    "stale-limit": Solution([Run("cell-2"), Run("cell-3")]),
    "question-answered": Solution(),
    "question-columns": Solution([], "It uses Horsepower and Cylinders."),
    "question-absent": Solution([], "NOT AVAILABLE"),
    "keep-cell": code("best = cars['litres'].min()\nbest"),
    "keep-file": code(
        CARS,
        "cars.nlargest(3, 'Weight_in_lbs').to_csv('heavy-2.csv', index=False)",
        answer="heavy.csv is there already, so I wrote heavy-2.csv.",
    ),
    "keep-others": Solution(
        [Top("# Airports\n\nairports.csv has 3,376 rows.")], "Added the heading."
    ),
    "german": code(
        CARS,
        "anzahl = int(((cars['Origin'] == 'Japan') & (cars['Horsepower'] > 90)).sum())\nanzahl",
    ),
    "french": code(
        WEATHER,
        "moyennes = weather.groupby('weather')['temp_max'].mean().to_dict()",
        "print(f\"{moyennes['sun']:.1f}\".replace('.', ','))",
    ),
    "spanish": code(
        IRIS,
        "medianas = iris.groupby('species')['petalLength'].median().to_dict()",
        "print(max(medianas, key=medianas.get))",
    ),
}

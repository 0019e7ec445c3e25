"""What an agent does for a task that is wrong in a way that happens: one or more for each."""

from __future__ import annotations

from tests.benchmark.solutions import (
    CARS,
    DIABETES,
    FOLDS,
    IRIS,
    PD,
    PLOT,
    STOCKS,
    WEATHER,
    WINE,
    Change,
    Run,
    Solution,
    Top,
    code,
)

WRONG: dict[str, list[Solution]] = {
    # Of the columns that lack something only.
    "missing-counts": [
        code(CARS, "missing = cars.isna().sum()\nmissing = missing[missing > 0]\nmissing.idxmax()")
    ],
    # The median of all, not of the origin.
    "missing-filled": [
        code(CARS, "cars['Horsepower'] = cars['Horsepower'].fillna(cars['Horsepower'].median())"),
        code(
            CARS,
            "cars = cars.fillna(cars.groupby('Origin').transform('median', numeric_only=True))",
        ),
    ],
    "group-means": [
        code(
            CARS, "mean_hp = cars.groupby('Origin')['Horsepower'].median()\nprint(mean_hp['USA'])"
        ),
        code(CARS, "mean_hp = cars.groupby('Origin')['Horsepower'].mean()", answer="It is 98.40."),
    ],
    # Means for sums; and an answer that names them all.
    "group-two-keys": [
        code(
            f"{PD}\nbarley = pd.read_csv('barley.csv')",
            "totals = barley.pivot_table(index='site', columns='year', values='yield')",
            "print(*totals.index[totals[1932] > totals[1931]])",
        ),
        code(
            f"{PD}\nbarley = pd.read_csv('barley.csv')",
            "totals = barley.groupby(['site', 'year'])['yield'].sum().unstack()",
            "print(*totals.index)",
        ),
    ],
    # By the name, not by how many.
    "group-most": [
        code(
            f"{PD}\ncounts = pd.read_csv('airports.csv')['state'].value_counts().sort_index()",
            "top_states = counts.index[:5].tolist()\nprint(counts.max())",
        )
    ],
    # Joined by the text: only what is written alike is found.
    "join-hours": [
        code(
            f"{PD}\na = pd.read_csv('seattle.csv')\nb = pd.read_csv('san-francisco.csv')",
            "both = a.merge(b, on='date', suffixes=('_s', '_f'))",
            "hours = int((both['temp_f'] > both['temp_s']).sum())\nhours",
        )
    ],
    # The other way round.
    "join-unmatched": [
        code(
            STOCKS,
            "months = stocks.groupby('symbol')['date'].agg(set)",
            "only_msft = len(months['GOOG'] - months['MSFT'])\nonly_msft",
        )
    ],
    "clean-makers": [
        code("cars['maker'] = cars['Name'].str.split().str[0]\nmakers = cars['maker'].nunique()")
    ],
    "file-written": [
        code(IRIS, "iris.groupby('species').median().round(2).to_csv('means.csv')"),
        code(IRIS, "iris.drop(columns='species').mean().to_csv('means.csv')"),
    ],
    # Of all years.
    "dates-month": [
        code(
            WEATHER,
            "month = pd.to_datetime(weather['date']).dt.month",
            "rain = weather.groupby(month)['precipitation'].sum().to_dict()",
            "print(max(rain.values()))",
        )
    ],
    # The last price of a year.
    "dates-year": [
        code(
            STOCKS,
            "goog = stocks[stocks['symbol'] == 'GOOG']",
            "google = goog.groupby(goog['date'].str[-4:].astype(int))['price'].last().to_dict()",
            "print(google[2009])",
        )
    ],
    # The largest rise.
    "dates-change": [
        code(
            f"{PD}\nrows = pd.read_csv('employment.csv').set_index('month')",
            "change = rows['nonfarm'].diff()\nworst = change.idxmax()[:7]\nprint(change.max())",
        )
    ],
    # The largest one, with its sign.
    "correlation-strongest": [
        code(
            f"{PD}\nall_r = pd.read_csv('diabetes.csv').corr()['target'].drop('target')",
            "best = all_r.idxmin()\nr = all_r[best]\nprint(best, r)",
        )
    ],
    "correlation-groups": [
        code(
            f"{PD}\nrows = pd.read_csv('anscombe.csv')",
            "r = {n: g['X'].corr(g['Y'], method='spearman') for n, g in rows.groupby('Series')}",
            "print(r['I'])",
        )
    ],
    # Scored where it was fitted.
    "model-classes": [code(WINE, "accuracy = model.score(X_train, y_train)\naccuracy")],
    "model-regression": [
        code(DIABETES, "r2 = fitted.score(X_train, y_train)\nprint(f'{r2:.3f}')"),
        code(DIABETES, "r2 = fitted.score(X_test, y_test)", answer="R² is about 0.9."),
    ],
    # Not shuffled.
    "model-folds": [
        code(FOLDS, "cv = cross_val_score(KNeighborsClassifier(5), X, y, cv=5).mean()\nprint(cv)")
    ],
    # The axes changed round; and one that is drawn but not shown.
    "chart-scatter": [
        code(
            PLOT,
            "cars = pd.read_csv('cars.csv')\nfig, ax = plt.subplots(figsize=(2, 2))",
            "ax.scatter(cars['Miles_per_Gallon'], cars['Horsepower'])",
            "ax.set(xlabel='Horsepower', ylabel='Miles per gallon')\nplt.show()",
        ),
        code(
            PLOT,
            "cars = pd.read_csv('cars.csv')\nfig, ax = plt.subplots(figsize=(2, 2))",
            "ax.scatter(cars['Horsepower'], cars['Miles_per_Gallon'])",
            "ax.set(xlabel='Horsepower', ylabel='Miles per gallon')\nplt.close(fig)",
            answer="Here is the chart.",
        ),
    ],
    "chart-bars": [
        code(
            PLOT,
            "fig, ax = plt.subplots(figsize=(2, 2))",
            "weather.groupby('weather')['temp_max'].mean().plot.bar(ax=ax)\nplt.show()",
        )
    ],
    # All sources.
    "chart-line": [
        code(
            PLOT,
            "rows = pd.read_csv('electricity.csv')\nfig, ax = plt.subplots(figsize=(2, 2))",
            "ax.plot(rows['net_generation'])\nplt.show()",
        )
    ],
    # Right, in a new cell, with the error left where it is; and another column.
    "fix-name": [
        code("means = cars.groupby('Origin')['Horsepower'].mean()\nmeans"),
        Solution([Change("cell-2", "means = cars.groupby('Origin')['Cylinders'].mean()\nmeans")]),
    ],
    # The error is hidden.
    "fix-dates": [
        Solution([Change("cell-2", "try:\n    wind\nexcept NameError:\n    print('no dates')")])
    ],
    "fix-result": [
        Solution([Change("cell-2", "share = min(1.0, share)\nshare")]),
        Solution([], "The share is 43.9 %."),
    ],
    # What the notebook still shows; and the limit written again.
    "stale-limit": [
        Solution(),
        Solution([Change("cell-2", "limit = 25"), Run("cell-3")]),
    ],
    # Computed again in a new cell, though nothing was to be changed; and the mean.
    "question-answered": [
        code("cars['Acceleration'].median()"),
        Solution([], "The mean is 15.52."),
    ],
    "question-columns": [
        Solution([Run("cell-1"), Run("cell-2")], "It uses Horsepower and Cylinders."),
        Solution([], "It uses Horsepower."),
    ],
    "question-absent": [
        Solution([], "The mean torque is 162.3."),
        code(CARS, "cars.columns", answer="NOT AVAILABLE"),
    ],
    "keep-cell": [
        Solution(
            [
                Change(
                    "cell-2",
                    "cars['litres'] = 235.215 / cars['Miles_per_Gallon']\n"
                    "best = cars['litres'].min()\nbest",
                )
            ]
        )
    ],
    # Over the user's file; and the lightest.
    "keep-file": [
        code(CARS, "cars.nlargest(3, 'Weight_in_lbs').to_csv('heavy.csv', index=False)"),
        code(CARS, "cars.nsmallest(3, 'Weight_in_lbs').to_csv('heavy-2.csv', index=False)"),
    ],
    "keep-others": [
        Solution([Top("# Airports\n\nairports.csv has 3,300 rows.")]),
        Solution([Top("# Airports\n\nairports.csv has 3,376 rows."), Change("cell-1", "3376")]),
    ],
    "german": [
        code(CARS, "anzahl = int((cars['Origin'] == 'Japan').sum())\nanzahl"),
    ],
    "french": [
        code(WEATHER, "moyennes = weather.groupby('weather')['temp_min'].mean()\nmoyennes['sun']")
    ],
    "spanish": [
        code(
            IRIS,
            "medianas = iris.groupby('species')['sepalLength'].median().to_dict()",
            "print(max(medianas, key=medianas.get))",
        )
    ],
}

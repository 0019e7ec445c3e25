"""Matplotlib: from one line to a figure that explains itself, with the weather of Seattle."""

from __future__ import annotations

from ..lesson import LessonContent, TutorialContent

IMPORTS = "import matplotlib.pyplot as plt\nimport pandas as pd\n\n"
WEATHER = 'weather = pd.read_csv("seattle_weather.csv", parse_dates=["month"])\n'

MATPLOTLIB_VISUALIZATION = TutorialContent(
    id="matplotlib-visualization",
    package="matplotlib_visualization",
    title="Visualization with matplotlib",
    description="Draw a line, say what it shows, arrange several plots, and show distributions.",
    data=("seattle_weather.csv", "penguins.csv"),
    figures=True,
    lessons=(
        LessonContent(
            title="Line plot",
            explanation=(
                "`fig, ax = plt.subplots()` makes a figure and one pair of axes on it. "
                "`ax.plot(x, y)` draws a line through the points; both are columns of the same "
                "length. The notebook shows the figure when the cell ends.\n\n"
                "The file `seattle_weather.csv` has a row for each month of four years: `month`, "
                "`temp_max` and `temp_min` (the mean of the daily extremes, in °C) and "
                "`precipitation` (rain and snow, in mm)."
            ),
            starter_code=(
                IMPORTS + WEATHER + "\nfig, ax = plt.subplots()\n# Draw the line on ax here.\n"
            ),
            task="Draw `temp_max` over `month` as a line.",
            expected_output="One wave a year: four peaks in summer, around 25 to 29 °C.",
            hint='`ax.plot(weather["month"], weather["temp_max"])`',
            check="line_plot",
        ),
        LessonContent(
            title="Labels and styles",
            explanation=(
                "A figure should be understood without its code. `ax.set_title(...)`, "
                "`ax.set_xlabel(...)` and `ax.set_ylabel(...)` write on it; units belong in the "
                "label of the axis.\n\n"
                'Several lines go on the same axes. `ax.plot` takes their style: `color="red"`, '
                '`linestyle="--"` (dashed), `linewidth=2`. With `label="..."` a line gets a '
                "name, and `ax.legend()` shows the names."
            ),
            starter_code=(
                IMPORTS
                + WEATHER
                + "\nfig, ax = plt.subplots()\n"
                + 'ax.plot(weather["month"], weather["temp_max"])\n'
                + "# Add the second line, the styles, the labels and the legend here.\n"
            ),
            task=(
                "Draw `temp_max` and `temp_min` over `month` in two colours, `temp_min` dashed. "
                "Add "
                "a title, a label for the y axis that names the unit °C, and a legend that names "
                "both lines."
            ),
            expected_output="Two lines with the same waves, one dashed, a title, °C, and a legend.",
            hint=(
                '`ax.plot(weather["month"], weather["temp_min"], color="tab:blue", linestyle="--", '
                'label="lowest")`, and at the end `ax.legend()`.'
            ),
            check="labels_and_styles",
        ),
        LessonContent(
            title="Subplots",
            explanation=(
                "`fig, axes = plt.subplots(2, 1)` makes two plots in one figure: 2 rows, 1 column. "
                "`axes[0]` is the upper one, `axes[1]` the lower one. `sharex=True` gives both the "
                "same x axis, so that points above each other belong together.\n\n"
                "`ax.bar(x, height)` draws bars. Over dates their `width` is in days. "
                "`figsize=(8, 6)` is the size in inches, and `fig.tight_layout()` keeps labels "
                "from "
                "overlapping."
            ),
            starter_code=(
                IMPORTS + WEATHER + "\nfig, axes = plt.subplots()\n# Draw on axes[0] and axes[1].\n"
            ),
            task=(
                "Make one figure with two plots, one above the other, that share the x axis: above "
                "`temp_max` as a line, below `precipitation` as bars, both over `month`. Give each "
                "plot a title."
            ),
            expected_output="Waves above, bars below: it rains most when it is cold.",
            hint=(
                "`fig, axes = plt.subplots(2, 1, sharex=True)`, then `axes[0].plot(...)`, "
                "`axes[1].bar(..., width=25)` and `axes[0].set_title(...)`."
            ),
            check="subplots",
        ),
        LessonContent(
            title="Statistical plots",
            explanation=(
                "A **histogram** shows how values are distributed: it cuts their range into bins "
                "and counts the values in each. `ax.hist(values, bins=10)` draws one.\n\n"
                "A **box plot** compares groups: the line in a box is the median, the box holds "
                "the "
                'middle half of the values. `ax.boxplot([a, b], tick_labels=["a", "b"])` draws a '
                "box for each of a list of columns (before matplotlib 3.9, `labels=`). It cannot "
                "deal with missing values: `.dropna()` takes them out."
            ),
            starter_code=(
                IMPORTS
                + 'penguins = pd.read_csv("penguins.csv")\n'
                + "\nfig, axes = plt.subplots(1, 2, figsize=(10, 4))\n"
                + "# The histogram goes on axes[0], the box plot on axes[1].\n"
            ),
            task=(
                "Left: a histogram of `body_mass_g` of all penguins with 20 bins. Right: a box "
                "plot "
                "of `flipper_length_mm` with a box for each species, and the species' names below."
            ),
            expected_output=(
                "The masses crowd around 3700 g and reach 6300 g. The flippers of Gentoo penguins "
                "are the longest: their box lies highest."
            ),
            hint=(
                'For each species: `penguins.loc[penguins["species"] == name, '
                '"flipper_length_mm"].dropna()`. Or `penguins.boxplot(column="flipper_length_mm", '
                'by="species", ax=axes[1])`.'
            ),
            check="statistical_plots",
        ),
    ),
)

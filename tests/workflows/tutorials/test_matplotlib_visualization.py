"""Figures are looked at without a display: what is drawn where, whatever way it was drawn."""

# ruff: noqa: E501 - a table of answers, a line each

from __future__ import annotations

from pathlib import Path

import pytest

from .classroom import Try, classroom, untouched

START = (
    "import matplotlib.pyplot as plt\nimport pandas as pd\n\n"
    'weather = pd.read_csv("seattle_weather.csv", parse_dates=["month"])\n'
)
PENGUINS = (
    "import matplotlib.pyplot as plt\nimport pandas as pd\n\n"
    'penguins = pd.read_csv("penguins.csv")\n'
)
AXES = START + "fig, ax = plt.subplots()\n"
HIGH = 'ax.plot(weather["month"], weather["temp_max"], color="tab:red", label="highest")\n'
LOW = 'ax.plot(weather["month"], weather["temp_min"], "--", color="tab:blue", label="lowest")\n'
TEXTS = 'ax.set_title("Seattle")\nax.set_ylabel("Temperature in °C")\n'
STACKED = START + "fig, axes = plt.subplots(2, 1, sharex=True)\n"
ABOVE = 'axes[0].plot(weather.month, weather.temp_max)\naxes[0].set_title("Warm")\n'
BELOW = 'axes[1].bar(weather.month, weather.precipitation, width=25)\naxes[1].set_title("Wet")\n'
BESIDE = PENGUINS + "fig, axes = plt.subplots(1, 2)\n"
HIST = 'axes[0].hist(penguins["body_mass_g"], bins=20)\n'
GROUPS = "names = sorted(penguins.species.unique())\ngroups = [penguins.flipper_length_mm[penguins.species == n].dropna() for n in names]\n"
BOXES = "axes[1].boxplot(groups)\naxes[1].set_xticks([1, 2, 3], labels=names)\n"

COARSE = (
    "from matplotlib_inline.config import InlineBackend\n"
    "InlineBackend.instance().print_figure_kwargs = {'bbox_inches': None, 'dpi': 10}\n"
)

SOLUTIONS = [
    Try(1, AXES + 'ax.plot(weather["month"], weather["temp_max"])'),
    Try(2, AXES + HIGH + LOW + TEXTS + "ax.legend()"),
    Try(3, STACKED + ABOVE + BELOW),
    Try(4, BESIDE + HIST + GROUPS + BOXES),
]
OTHER_WAYS = [
    Try(1, START + "plt.plot(weather.month, weather.temp_max, 'o-')\nplt.show()"),
    Try(1, START + "weather.plot(x='month', y='temp_max')"),
    Try(1, START + "plt.style.use('default')\nfig = plt.figure()\nfig.add_subplot().plot('month', 'temp_max', data=weather);"),
    Try(2, START + "ax = weather.plot(x='month', y=['temp_max', 'temp_min'], style=['-', '--'], title='Seattle', ylabel='°C')"),
    Try(2, START + "plt.figure()\nplt.plot(weather.month, weather.temp_max, label='a')\nplt.plot(weather.month, weather.temp_min, ls='dashed', label='b')\nplt.suptitle('x')\nplt.ylabel('degrees Celsius')\nplt.figlegend()"),
    Try(3, START + "plt.figure()\nfirst = plt.subplot(2, 1, 1)\nplt.plot(weather.month, weather.temp_max)\nplt.title('a')\nplt.subplot(2, 1, 2, sharex=first)\nplt.bar(weather.month, weather.precipitation)\nplt.title('b')"),
    Try(4, BESIDE + "penguins.body_mass_g.plot.hist(bins=20, ax=axes[0])\npenguins.boxplot(column='flipper_length_mm', by='species', ax=axes[1])"),
    Try(4, BESIDE + "import seaborn as sns\nsns.histplot(penguins, x='body_mass_g', bins=20, ax=axes[0])\nsns.boxplot(penguins, x='species', y='flipper_length_mm', ax=axes[1])"),
]  # fmt: skip
MISTAKES = [
    Try(1, START, "drew no figure"),
    Try(1, AXES + 'ax.plot(weather["temp_max"])', "counts rows from 0"),
    Try(1, AXES + 'ax.plot(weather["temp_max"], weather["month"])', "x and y are exchanged"),
    Try(1, AXES + 'ax.plot(weather["month"], weather["temp_min"])', "shows `temp_min`"),
    Try(1, AXES + 'ax.scatter(weather["month"], weather["temp_max"])', "separate points and no line"),
    Try(1, AXES + 'ax.plot(weather["month"], weather["temp_max"], "o")', "not joined"),
    Try(1, AXES + 'ax.plot("month", "temp_max")', "names alone are no data"),
    Try(1, AXES + HIGH + LOW, "There are 2 lines"),
    Try(1, AXES + 'ax.plot(weather["month"][:12], weather["temp_max"][:12])', "has 12 points"),
    Try(1, AXES + 'ax.plot(weather["month"], weather["temp_max"][:12])', "different lengths"),
    Try(1, AXES + 'ax.plot(weather["month"], weather["tempmax"])', 'Did you mean "temp_max"'),
    Try(2, AXES + HIGH + TEXTS, "none of `temp_min`"),
    Try(2, AXES + HIGH + LOW.replace("blue", "red") + TEXTS, "the same colour"),
    Try(2, AXES + HIGH + LOW.replace('"--", ', "") + TEXTS, "not dashed"),
    Try(2, AXES + HIGH + LOW, "no title"),
    Try(2, AXES + HIGH + LOW + TEXTS.replace(" in °C", ""), "does not name the unit"),
    Try(2, AXES + HIGH + LOW + TEXTS, "call `ax.legend()`"),
    Try(2, AXES + HIGH + "ax.legend()\n" + LOW + TEXTS, "after both were drawn"),
    Try(2, AXES + HIGH + LOW.replace(', label="lowest"', "") + TEXTS, "`temp_min` has none"),
    Try(3, START + "fig, axes = plt.subplots(1, 2, sharex=True)\n" + ABOVE + BELOW, "side by side"),
    Try(3, STACKED + ABOVE, "Nothing is drawn on axes[1]"),
    Try(3, STACKED + ABOVE + BELOW.replace("[1]", "[0]"), "Nothing is drawn on axes[1]"),
    Try(3, START + "fig, axes = plt.subplots(2, 1)\n" + ABOVE + BELOW, "do not share their x axis"),
    Try(3, STACKED + ABOVE + "axes[1].plot(weather.month, weather.precipitation)", "better as bars"),
    Try(3, STACKED + ABOVE.replace("[0]", "[1]") + BELOW.replace("[1]", "[0]"), "are exchanged"),
    Try(3, STACKED + ABOVE + BELOW.replace("precipitation", "temp_min"), "show `temp_min`"),
    Try(3, STACKED + ABOVE + BELOW.split("\n")[0], "axes[1] has no title"),
    Try(3, START + "plt.plot(weather.month, weather.temp_max)\nplt.figure()\nplt.bar(weather.month, weather.precipitation)", "drew 2 figures"),
    Try(4, BESIDE + HIST.replace(", bins=20", "") + GROUPS + BOXES, "has 10 bins"),
    Try(4, BESIDE + HIST.replace("body_mass_g", "bill_length_mm") + GROUPS + BOXES, "other values"),
    Try(4, BESIDE + HIST + GROUPS.replace(".dropna()", "") + BOXES, "is empty"),
    Try(4, BESIDE + HIST + "axes[1].boxplot(penguins.flipper_length_mm.dropna())", "one box for all"),
    Try(4, BESIDE + HIST + GROUPS + "axes[1].boxplot(groups)", "do not say which species"),
    Try(4, BESIDE + HIST, "Nothing is drawn on axes[1]"),
]  # fmt: skip


@pytest.mark.timeout(240)
async def test_right_figures_pass_and_mistakes_are_named(tmp_path: Path) -> None:
    async with classroom(tmp_path, "matplotlib-visualization") as room:
        # Nobody looks at the pictures here, and a coarse one is drawn in a fraction of the time.
        await room.code(COARSE)
        verdicts = await untouched(room)
        says = {
            1: "nothing is drawn",
            2: "none of `temp_min`",
            3: "nothing is drawn",
            4: "nothing is drawn",
        }
        for number, said in says.items():
            assert not verdicts[number].passed
            assert "still holds the starter code" in verdicts[number].feedback
            assert said in verdicts[number].feedback
        assert await room.try_all([*SOLUTIONS, *OTHER_WAYS, *MISTAKES]) == []
        assert await room.changed_by_checks(SOLUTIONS) == []

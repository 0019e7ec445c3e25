"""The checks of the matplotlib lessons. They run in the learner's kernel."""

from __future__ import annotations

from typing import Any

from ..in_kernel.figures import (
    colour_of,
    is_joined,
    is_row_numbers,
    legend_of,
    line_through,
    lines_of,
    one_figure,
    panels_of,
    same_numbers,
    title_of,
    xdata,
    ydata,
)
from ..in_kernel.formatting import counted, listed
from ..in_kernel.looking import CheckFailed, Inspection
from ..in_kernel.tables import read_data

SPECIES = ("Adelie", "Chinstrap", "Gentoo")


def _weather() -> Any:
    return read_data("seattle_weather.csv", parse_dates=["month"])


def line_plot(look: Inspection) -> str:
    """Lesson 1."""
    data = _weather()
    [ax] = panels_of(one_figure(look.figures), 1)
    _line(ax, data, "temp_max")
    if len(lines_of(ax)) > 1:
        raise CheckFailed(
            f"There are {len(lines_of(ax))} lines; the task asks for `temp_max` only."
        )
    return f"Right. The line goes through all {len(data)} months."


def _line(ax: Any, data: Any, column: str) -> Any:
    """The line of the column over the months; ``CheckFailed`` names what was plotted instead."""
    line = line_through(ax, data[column])
    if line is None:
        raise CheckFailed(_no_line(ax, data, column))
    if not is_joined(line):
        raise CheckFailed(
            f"The points of `{column}` are not joined. For a line, leave the marker alone."
        )
    if is_row_numbers(xdata(line)):
        raise CheckFailed(
            "The x axis counts rows from 0. Give the months first: "
            f'`ax.plot(weather["month"], weather["{column}"])`.'
        )
    return line


def _no_line(ax: Any, data: Any, column: str) -> str:
    lines = lines_of(ax)
    if any(same_numbers(xdata(line), data[column]) for line in lines):
        return f"x and y are exchanged: `{column}` lies on the x axis. Give `month` first."
    for other in ("temp_max", "temp_min", "precipitation"):
        if len(lines) == 1 and line_through(ax, data[other]) is not None:
            return f"The line shows `{other}`; there is none of `{column}`."
    if not lines and (ax.collections or ax.patches):
        drawn = "bars" if ax.patches else "separate points"
        return f"There are {drawn} and no line. `ax.plot(x, y)` draws a line."
    if not lines:
        return "Nothing is drawn on the axes yet. `ax.plot(x, y)` draws a line."
    points = len(ydata(lines[0]))
    if points != len(data):
        return f"The line has {points} points; `{column}` has {len(data)} values, one a month."
    return f"None of the lines shows `{column}` in the order of the months."


def labels_and_styles(look: Inspection) -> str:
    """Lesson 2."""
    data = _weather()
    [ax] = panels_of(one_figure(look.figures), 1)
    high, low = _line(ax, data, "temp_max"), _line(ax, data, "temp_min")
    if colour_of(high) == colour_of(low):
        raise CheckFailed("Both lines have the same colour. Give one of them another `color=`.")
    if low.get_linestyle() not in ("--", "dashed"):
        if high.get_linestyle() in ("--", "dashed"):
            raise CheckFailed("`temp_max` is dashed; the task asks for `temp_min` to be.")
        raise CheckFailed('The line of `temp_min` is not dashed: `linestyle="--"`.')
    if not title_of(ax):
        raise CheckFailed("The plot has no title: `ax.set_title(...)`.")
    label = ax.get_ylabel().strip()
    if not label:
        raise CheckFailed("The y axis has no label: `ax.set_ylabel(...)`.")
    if not any(unit in label for unit in ("°C", "℃", "º C", "° C", "ºC", "elsius")):
        raise CheckFailed(f'The label of the y axis, "{label}", does not name the unit °C.')
    _legend(ax, high, low)
    return "Right. The figure says by itself what it shows."


def _legend(ax: Any, high: Any, low: Any) -> None:
    texts = legend_of(ax)
    unnamed = [
        name
        for name, line in (("temp_max", high), ("temp_min", low))
        if str(line.get_label()).startswith("_")
    ]
    if texts is None and unnamed:
        raise CheckFailed(
            f"Give each line a `label=` ({listed(unnamed)} has none), then call ax.legend()."
        )
    if texts is None:
        raise CheckFailed("The lines have labels, but no legend shows them: call `ax.legend()`.")
    if len(texts) < 2:
        missing = f" {listed(unnamed)} has no `label=`." if unnamed else ""
        raise CheckFailed(
            f"The legend has {counted(len(texts), 'entry') if len(texts) == 1 else 'no entries'}; "
            f"there are two lines.{missing} Call ax.legend() after both were drawn."
        )
    if len(set(texts)) < len(texts):
        raise CheckFailed(f'Both entries of the legend read "{texts[0]}".')


def subplots(look: Inspection) -> str:
    """Lesson 3."""
    data = _weather()
    figure = one_figure(look.figures, 2)
    upper, lower = panels_of(figure, 2)
    above, below = upper.get_position(), lower.get_position()
    if abs(above.y0 - below.y0) < 0.01:
        raise CheckFailed(
            "The plots are side by side. One above the other is 2 rows and 1 column: "
            "`plt.subplots(2, 1)`."
        )
    if line_through(lower, data["temp_max"]) is not None and _bars(upper):
        raise CheckFailed("The plots are exchanged: the temperature belongs above, the rain below.")
    _line(upper, data, "temp_max")
    heights = _bars(lower)
    if not heights and line_through(lower, data["precipitation"]) is not None:
        raise CheckFailed(
            "Below is a line. Sums of rain are better as bars: `axes[1].bar(x, height)`."
        )
    if not heights:
        raise CheckFailed(
            "There are no bars in the lower plot: `axes[1].bar(x, height, width=25)`."
        )
    if not same_numbers(heights, data["precipitation"]):
        wrong = next((c for c in ("temp_max", "temp_min") if same_numbers(heights, data[c])), None)
        shown = f"show `{wrong}`" if wrong else "do not show `precipitation` month by month"
        raise CheckFailed(f"The bars {shown}; the task asks for `precipitation`.")
    if lower not in upper.get_shared_x_axes().get_siblings(upper):
        raise CheckFailed("The plots do not share their x axis: `plt.subplots(2, 1, sharex=True)`.")
    untitled = [str(place) for place, ax in enumerate((upper, lower)) if not title_of(ax)]
    if untitled:
        raise CheckFailed(
            f"axes[{untitled[0]}] has no title: `axes[{untitled[0]}].set_title(...)`."
        )
    return "Right. Both plots share their months, so that they can be compared."


def _bars(ax: Any) -> list[float]:
    """The heights of the bars, from left to right; what is not known is no bar."""
    bars = [patch for patch in ax.patches if hasattr(patch, "get_height")]
    return [float(bar.get_height()) for bar in sorted(bars, key=lambda bar: bar.get_x())]


def statistical_plots(look: Inspection) -> str:
    """Lesson 4."""
    data = read_data("penguins.csv")
    left, right = panels_of(one_figure(look.figures, 2), 2)
    if _medians(left) and _bars(right) and not _bars(left):
        raise CheckFailed("The plots are exchanged: the histogram belongs to the left.")
    _histogram(left, data["body_mass_g"].dropna())
    _boxes(right, data)
    return "Right. Body mass has one long tail; flippers tell the species apart."


def _histogram(ax: Any, masses: Any) -> None:
    heights = _bars(ax)
    if not heights:
        raise CheckFailed("There is no histogram on the left: `axes[0].hist(values, bins=20)`.")
    edges = [bar.get_x() for bar in ax.patches if hasattr(bar, "get_x")]
    if max(edges) < masses.min() or min(edges) > masses.max():
        raise CheckFailed("The histogram on the left shows other values than `body_mass_g`.")
    if len(heights) != 20:
        default = " 10 is what you get without saying: `bins=20`." if len(heights) == 10 else ""
        raise CheckFailed(f"The histogram has {len(heights)} bins; the task asks for 20.{default}")
    if abs(min(edges) - masses.min()) > 50:
        raise CheckFailed("The histogram on the left shows other values than `body_mass_g`.")
    if abs(sum(heights) - len(masses)) > 0.5:
        raise CheckFailed(
            f"The bars count {sum(heights):.6g} penguins; {len(masses)} have a mass. Take all of "
            "them, as numbers and not as shares."
        )


def _boxes(ax: Any, data: Any) -> None:
    flippers = data["flipper_length_mm"]
    wanted = {name: flippers[data["species"] == name].median() for name in SPECIES}
    found = _medians(ax)
    if not found and _bars(ax):
        raise CheckFailed("On the right are bars. `axes[1].boxplot(...)` draws boxes.")
    lacking = [name for name, median in wanted.items() if not _any_near(found, median)]
    if lacking and _any_near(found, flippers.median()):
        raise CheckFailed(
            "There is one box for all penguins. Give `boxplot` a list: one column a species."
        )
    if lacking and _empty_boxes(ax):
        raise CheckFailed(
            f"The box of {listed(lacking)} is empty: one missing value is enough for that. Take "
            "them out with .dropna()."
        )
    if lacking and found:
        raise CheckFailed(
            f"No box has the median flipper of {listed(lacking)}, {wanted[lacking[0]]:g} mm."
        )
    if lacking:
        raise CheckFailed("There are no boxes on the right: `axes[1].boxplot(...)`.")
    names = {text.get_text() for text in [*ax.get_xticklabels(), *ax.get_yticklabels()]}
    names |= set(legend_of(ax) or [])
    unnamed = [name for name in SPECIES if not any(name in text for text in names)]
    if unnamed:
        raise CheckFailed(
            f"The boxes do not say which species they are ({listed(unnamed)} is missing): "
            "`tick_labels=[...]` in boxplot, or `axes[1].set_xticks([1, 2, 3], labels=[...])`."
        )


def _medians(ax: Any) -> list[float]:
    """The heights of level strokes on the axes, a median among them for each box."""
    return [
        float(line.get_ydata(orig=False)[0])
        for line in ax.lines
        if len(line.get_ydata(orig=False)) == 2
        and line.get_ydata(orig=False)[0] == line.get_ydata(orig=False)[1]
    ]


def _empty_boxes(ax: Any) -> int:
    """How many strokes of two points have no height at all: those of boxes of missing values."""
    pairs = [line.get_ydata(orig=False) for line in ax.lines]
    return sum(1 for pair in pairs if len(pair) == 2 and pair[0] != pair[0])


def _any_near(values: list[float], wanted: float) -> bool:
    return any(abs(each - wanted) < 0.01 for each in values)

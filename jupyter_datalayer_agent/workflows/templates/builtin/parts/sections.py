"""Sections that several templates write: a heading, the findings, and the cells that show them."""

from __future__ import annotations

import posixpath
from typing import Any

from ....template import TemplateRun
from ..in_kernel import call as kernel_call
from . import plots, relation_plots
from .data import Column, Data
from .findings import (
    correlation_text,
    course_text,
    distribution_text,
    group_text,
    outlier_text,
    share_text,
)
from .formatting import codes, count, literal, names_list, paragraph, percent, source
from .loading import imports_cell, load_frame, loading_text, need_modules, probe, reading_text

SURVEY = "def answer(**options):\n    return survey(df, **options)\n"
MANY_COLUMNS = 100
HUES = 6


def introduction(data: Data, name: str) -> str:
    """On the file's contents, and what was assumed when it was read."""
    kinds = [
        count(len(columns), f"{kind} column")
        for kind, columns in (("numeric", data.numbers), ("categorical", data.categories))
        if columns
    ]
    date = data.date
    when = ""
    if date is not None and date.kind == "date":
        when = (
            f"Its dates, in {codes([date.name])}, run from {date.about['min'][:10]} to "
            f"{date.about['max'][:10]}."
        )
    cut = "These were found in its first million rows." if data.facts.get("cut") else ""
    contents = paragraph(
        f"{codes([name])} has {count(data.rows, 'row')} and {count(len(data.columns), 'column')}: "
        f"{' and '.join(kinds) or 'none'} of use for an analysis.",
        when,
        cut,
    )
    how = reading_text(data)
    return f"{contents}\n\n{how}" if how else contents


async def head(run: TemplateRun, title: str, text: str, *imports: str) -> Data:
    """Check the kernel's modules, probe the file, and write the title and the imports."""
    await need_modules(run, "pandas", "matplotlib", "seaborn")
    data = await probe(run)
    name = posixpath.basename(run.parameters.data)
    await run.markdown(f"# {title}: {name}\n\n{introduction(data, name)}\n\n{text}")
    more = [*imports]
    if len(data.numbers) >= 2 and data.rows > 2 and "numpy" in more:
        more.append("import numpy as np")
    await run.code(imports_cell(data, *(line for line in more if line != "numpy")))
    return data


async def load(run: TemplateRun) -> None:
    """Load the file, and compute the figures for the text."""
    data = Data(run.facts)
    await run.markdown(f"## Loading the data\n\n{loading_text(data, run.parameters.data)}")
    await load_frame(run, data)
    await survey(run)


async def survey(run: TemplateRun) -> Data:
    """Compute relations, outliers, groups and trends; kept in ``facts["survey"]``."""
    data = Data(run.facts)
    date = data.date
    run.facts["survey"] = await run.compute(
        kernel_call(
            "survey",
            answer=SURVEY,
            names=["df"],
            numbers=[column.name for column in data.numbers if column.missing < data.rows],
            categories=[column.name for column in data.categories],
            flags=[column.name for column in data.flags],
            date=None if date is None else date.name,
            target=data.facts.get("target"),
        )
    )
    return Data(run.facts)


async def shape(run: TemplateRun) -> None:
    """Rows, columns and types; uninformative columns are named."""
    data = Data(run.facts)
    notes = []
    for kind, note in (
        ("empty", "{names} {are} empty"),
        ("constant", "{names} {have} one value only"),
        ("id", "{names} {identify} rows and {are} not analysed as {numbers}"),
        ("mixed", "{names} {mix} values of several types"),
        ("nested", "{names} {hold} lists or dictionaries"),
    ):
        names = [column.name for column in data.of(kind)]
        if names:
            one = len(names) == 1
            verbs = {
                "are": ("is", "are"),
                "have": ("has", "have"),
                "mix": ("mixes", "mix"),
                "identify": ("identifies", "identify"),
                "hold": ("holds", "hold"),
                "numbers": ("a measurement", "measurements"),
            }
            fitted = {verb: pair[0 if one else 1] for verb, pair in verbs.items()}
            notes.append(note.format(names=codes(names), **fitted) + ".")
    if data.facts["duplicates"]:
        repeated = data.facts["duplicates"]
        notes.append(
            f"{count(repeated, 'row')} ({percent(data.share(repeated))}) "
            f"{'repeats an earlier one' if repeated == 1 else 'repeat earlier ones'}."
        )
    text = f"{count(data.rows, 'row')} and {count(len(data.columns), 'column')}."
    await run.markdown(f"## Shape and types\n\n{paragraph(text, *notes)}")
    await run.code("df.shape")
    wide = len(data.columns) > MANY_COLUMNS
    await run.code("df.dtypes.value_counts()" if wide else "df.info()")


async def preview(run: TemplateRun) -> None:
    """The first and the last rows; all of them where there are few."""
    data = Data(run.facts)
    if data.rows <= 10:
        await run.markdown("## All rows\n\nThe data are few enough to be shown whole.")
        await run.code("df")
        return
    await run.markdown("## First and last rows")
    await run.code("df.head()")
    await run.code("df.tail()")


async def missing(run: TemplateRun) -> None:
    """Missing values: a table and, where there are any, a plot."""
    data = Data(run.facts)
    incomplete = data.incomplete
    if not incomplete:
        await run.markdown("## Missing values\n\nNo value is missing.")
        await run.code("int(df.isna().sum().sum())")
        return
    worst = incomplete[0]
    complete = len(data.columns) - len(incomplete)
    text = paragraph(
        f"{len(incomplete)} of {count(len(data.columns), 'column')} "
        + ("has missing values:" if len(incomplete) == 1 else "have missing values, most of all")
        + f" {codes([worst.name])}, in {share_text(data, worst.missing)}.",
        f"The other {complete} are complete." if complete > 1 else "",
    )
    await run.markdown(f"## Missing values\n\n{text}")
    await run.code(
        source(
            """
            lacking = pd.DataFrame(
                {"missing": df.isna().sum(), "share (%)": df.isna().mean().mul(100).round(1)}
            )
            lacking[lacking["missing"] > 0].sort_values("missing", ascending=False)
            """
        )
    )
    if len(incomplete) > 1 and data.share(worst.missing) >= 0.01:
        await run.code(plots.missing_bars(data))


def summary_cells(data: Data) -> list[str]:
    """``describe`` of numbers and categories, and the spans of dates, if there are any."""
    cells = []
    numbers = [column.name for column in data.of("number")]
    all_numbers = [
        c.name
        for c in data.columns
        if c.kind in ("number", "id", "constant", "empty")
        and c.about["dtype"].startswith(("int", "float", "uint"))
    ]
    if numbers and numbers == all_numbers:
        cells.append('df.select_dtypes("number").describe().T')
    elif numbers:
        cells.append(_pick(numbers, ".describe().T"))
    named = [column.name for column in data.of("category", "boolean", "label", "text")]
    if named:
        cells.append(_pick(named[:30], ".describe().T"))
    dates = [column.name for column in data.of("date")]
    if dates:
        cells.append(_pick(dates, '.agg(["min", "max"]).T'))
    return cells


def _pick(names: list[str], rest: str) -> str:
    items = [literal(name) for name in names]
    line = f"df[[{', '.join(items)}]]{rest}"
    return line if len(line) <= 88 else names_list("columns = ", names) + f"\ndf[columns]{rest}"


async def summary(run: TemplateRun) -> None:
    """Summary statistics, by kind of column."""
    data = Data(run.facts)
    cells = summary_cells(data)
    if not cells:
        await run.markdown("## Summary statistics\n\nNo column holds values that can be summed up.")
        return
    wide = [c for c in data.numbers if c.about["skew"] > 2 and not c.is_discrete]
    text = paragraph(
        "Centre and spread of each column; for text the number of different values and the most "
        "frequent one."
        if len(cells) > 1
        else "Centre and spread of each column.",
        f"The mean of {codes(c.name for c in wide)} lies well above the median: a few large values "
        "draw it up."
        if wide and wide[0].about["mean"] > wide[0].about["median"]
        else "",
    )
    await run.markdown(f"## Summary statistics\n\n{text}")
    for cell in cells:
        await run.code(cell)


async def correlations(run: TemplateRun) -> None:
    """The heatmap, where there are at least two numbers that vary."""
    data = Data(run.facts)
    names = data.survey["heatmap"]
    if len(names) < 2:
        await run.markdown(
            "## Correlations\n\nFewer than two columns hold numbers that vary together, so there "
            "is nothing to correlate."
        )
        return
    columns = [data[name] for name in names]
    left = len(data.numbers) - len(columns)
    text = correlation_text(data)
    if left:
        text += (
            f" Shown are the {len(columns)} columns with the strongest relations of "
            f"{len(data.numbers)}."
        )
    await run.markdown(f"## Correlations\n\n{text}")
    await run.code(relation_plots.heatmap(columns))


async def distributions(run: TemplateRun) -> None:
    """Histograms of numbers and bars of groups."""
    data = Data(run.facts)
    shown = data.shown if data.rows > 1 else []
    groups = [c for c in data.categories if not c.is_even][:9]
    if not shown and not groups:
        await run.markdown("## Distributions\n\nNo column varies, so there is nothing to draw.")
        return
    await run.markdown(f"## Distributions\n\n{distribution_text(data, shown, groups)}")
    if shown:
        await run.code(plots.distributions(shown))
    if groups:
        await run.code(plots.bars(groups))


async def outliers(run: TemplateRun) -> None:
    """Tukey's rule as a table, and box plots."""
    data = Data(run.facts)
    candidates = {each["name"] for each in data.survey["outliers"]}
    columns = [c for c in data.shown if c.name in candidates and not c.is_discrete]
    if data.rows < 5 or not columns:
        await run.markdown(
            "## Outliers\n\nNo column holds enough different numbers to speak of outliers."
        )
        return
    await run.markdown(f"## Outliers\n\n{outlier_text(data)}")
    await run.code(
        source(
            """
            <<numbers>>
            low, high = df[numbers].quantile(0.25), df[numbers].quantile(0.75)
            reach = 1.5 * (high - low)
            outside = (df[numbers] < low - reach) | (df[numbers] > high + reach)
            pd.DataFrame(
                {
                    "lower limit": low - reach,
                    "upper limit": high + reach,
                    "outliers": outside.sum(),
                    "share (%)": outside.mean().mul(100).round(1),
                }
            ).sort_values("outliers", ascending=False)
            """,
            numbers=names_list("numbers = ", [column.name for column in columns]),
        )
    )
    await run.code(plots.boxes(columns))


async def over_time(run: TemplateRun) -> None:
    """The numbers that change most over time."""
    data = Data(run.facts)
    time = data.survey.get("time")
    if not time:
        return
    columns = moving(data, 3)
    await run.markdown(f"## The course of time\n\n{course_text(data, columns)}")
    await run.code(
        relation_plots.course(time, columns) if columns else relation_plots.rows_per_period(time)
    )


def moving(data: Data, limit: int) -> list[Column]:
    """The numbers with most movement over time, none the copy of another.

    Where the rows of each period are as many there is nothing else to show, so little will do.
    """
    time = data.survey.get("time") or {}
    even = time and time["busiest"][1] <= 1.1 * time["per_period"]
    least = 0.0 if even else 0.15
    kept: list[str] = []
    for each in time.get("courses", []):
        copy = any(_copies(data, each["name"], other) for other in kept)
        if each["moves"] > least and not copy and len(kept) < limit:
            kept.append(each["name"])
    return [data[name] for name in kept]


def _copies(data: Data, a: str, b: str) -> bool:
    return any({a, b} == {p["a"], p["b"]} and abs(p["r"]) > 0.95 for p in data.survey["pairs"])


async def place(run: TemplateRun) -> None:
    """The rows on a map, where they have coordinates."""
    data = Data(run.facts)
    if data.coordinates is None:
        return
    latitude, longitude = data.coordinates
    north, east = latitude.about, longitude.about
    await run.markdown(
        "## On the map\n\n"
        f"The rows lie between {north['min']:.1f}° and {north['max']:.1f}° of latitude and "
        f"{east['min']:.1f}° and {east['max']:.1f}° of longitude; half of them between "
        f"{north['q1']:.1f}° and {north['q3']:.1f}° of latitude."
    )
    group = next((c for c in data.categories if 2 <= c.unique <= HUES), None)
    await run.code(relation_plots.map_of_places(latitude, longitude, group, data.rows))


def hue(data: Data, a: Column, b: Column) -> Column | None:
    """A category of few groups that differ in one of the two numbers."""
    for best in data.survey["groups"]:
        category = data[best["category"]]
        if best["number"] in (a.name, b.name) and 2 <= category.unique <= HUES:
            return category if best["eta"] >= 0.05 else None
    return None


async def relations(run: TemplateRun) -> None:
    """Relations of the target column, or else the strongest relation."""
    data = Data(run.facts)
    best = next(iter(informative_groups(data)), None)
    if best is not None:
        await run.markdown(f"## Groups\n\n{group_text(best)}")
        await run.code(relation_plots.groups(data, best))


def informative_groups(data: Data) -> list[dict[str, Any]]:
    """Groups that differ, best first; those of the target's come before others."""
    target = data.facts.get("target")
    found = [each for each in data.survey["groups"] if each["eta"] >= 0.02]
    found.sort(key=lambda each: target not in (each["number"], each["category"]))
    return found

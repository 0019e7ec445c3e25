"""Sections that several templates write: a heading, the findings, and the cells that show them."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from .....protocol.base import Wire
from .....protocol.datasets import ReadingChoices
from ....template import TemplateRun
from ..in_kernel import call as kernel_call
from . import plots
from .data import (
    Column,
    Data,
    code,
    codes,
    count,
    listed,
    literal,
    names_list,
    number,
    paragraph,
    percent,
    source,
)
from .loading import imports_cell, load_frame, loading_text, need_modules, probe, reading_text

# Parameters that the built-in templates share, and what is wrong with a path.


def _inside_root(path: str) -> str:
    """A path relative to the server root, tidied. Raises ``ValueError`` for one that leads out."""
    tidy = posixpath.normpath(path.strip().replace("\\", "/").lstrip("/")) if path.strip() else ""
    if tidy in ("", ".") or tidy == ".." or tidy.startswith("../"):
        raise ValueError("give the path of a file under the server root")
    return tidy


def _notebook_name(path: str) -> str:
    tidy = _inside_root(path)
    return tidy if tidy.endswith(".ipynb") else f"{tidy}.ipynb"


DataPath = Annotated[str, AfterValidator(_inside_root)]
NotebookPath = Annotated[str, AfterValidator(_notebook_name)]


class NotebookParameters(Wire):
    """The file that is written."""

    notebook: NotebookPath | None = Field(
        default=None, description="The notebook to write, a path under the server root."
    )


class ReadingParameters(NotebookParameters, ReadingChoices):
    """The file that is written, and how the data file is, where that should not be detected."""


class DataParameters(ReadingParameters):
    """A data file, and what is optional about its columns."""

    data: DataPath = Field(description="The CSV or Parquet file, a path under the server root.")
    target: str | None = Field(
        default=None, description="The column of most interest. Left out, none is singled out."
    )
    date_column: str | None = Field(
        default=None, description="The column that holds the time. Left out, it is inferred."
    )


def title_of(what: str, parameters: Any) -> str:
    """``# Exploratory data analysis: cars.csv``"""
    name = posixpath.basename(getattr(parameters, "data", None) or "")
    return f"# {what}: {name}" if name else f"# {what}"


# Findings in sentences. Every number here was computed in the notebook's kernel.


STRONG, MODERATE = 0.7, 0.4


def share_text(data: Data, rows: int) -> str:
    """``557 of 1,313 rows (42%)``"""
    return f"{rows:,} of {count(data.rows, 'row')} ({percent(data.share(rows))})"


def correlation_text(data: Data) -> str:
    """The strongest pairs, and redundant pairs."""
    pairs = data.survey["pairs"]
    if not pairs:
        return "The numbers have too few common values for correlations."
    strong = [pair for pair in pairs if abs(pair["r"]) >= STRONG]
    best = strong[:3] or [pair for pair in pairs if abs(pair["r"]) >= MODERATE][:2]
    if not best:
        top = pairs[0]
        return (
            f"No two columns are strongly correlated; the strongest correlation is between "
            f"{code(top['a'])} and {code(top['b'])} (r = {top['r']:.2f})."
        )
    named = [f"{code(p['a'])} and {code(p['b'])} (r = {p['r']:.2f})" for p in best]
    text = f"{'Strongly' if strong else 'Moderately'} correlated: {listed(named)}."
    same = [pair for pair in pairs if abs(pair["r"]) > 0.98]
    return paragraph(
        text,
        f"{count(len(same), 'pair')} above |r| = 0.98 {'is' if len(same) == 1 else 'are'} nearly "
        "redundant; a model needs one column of each."
        if same
        else "",
        "Correlation does not imply causation.",
    )


def distribution_text(data: Data, shown: Sequence[Column], groups: Sequence[Column]) -> str:
    """Skewed numbers and uneven groups."""
    right = [c.name for c in shown if c.about["skew"] > 1.5 and not c.is_discrete]
    left = [c.name for c in shown if c.about["skew"] < -1.5 and not c.is_discrete]
    logs = [c.name for c in shown if c.is_skewed]
    sentences = []
    if right:
        sentences.append(f"{codes(right)} {_has(right)} a long tail of large values.")
    if left:
        sentences.append(f"{codes(left)} {_has(left)} a long tail of small values.")
    if logs:
        sentences.append(f"The axis of {codes(logs)} is logarithmic.")
    heavy = [c.name for c in shown if c.is_heavy]
    if heavy:
        sentences.append(f"The number of rows is drawn on a logarithmic axis for {codes(heavy)}.")
    if shown and not sentences:
        sentences.append("None of the numbers is strongly skewed.")
    hidden = len(data.numbers) - len(shown)
    if hidden > 0 and shown:
        sentences.append(
            f"Of {len(data.numbers)} numeric columns the {len(shown)} most informative are shown."
        )
    lopsided = [c for c in groups if c.top and c.top[0][1] > 0.75 * (data.rows - c.missing)]
    for column in lopsided[:2]:
        value, rows = column.top[0]
        sentences.append(
            f"{code(column.name)} is mostly {code(value)} "
            f"({percent(rows / max(1, data.rows - column.missing))} of its values)."
        )
    return " ".join(sentences) or "How often each value occurs."


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def outlier_text(data: Data, explained: bool = True) -> str:
    """Values outside Tukey's fences; ``explained`` adds what that means."""
    found = [
        each
        for each in data.survey["outliers"]
        if each["count"] and not data[each["name"]].is_discrete
    ]
    rule = (
        "Outliers are taken to be values more than 1.5 interquartile ranges outside the quartiles."
    )
    if not found:
        return f"{rule} There are none."
    top = found[0]
    more = [f"{code(each['name'])} ({percent(each['share'])})" for each in found[1:4]]
    return paragraph(
        rule if explained else "Outliers:",
        f"{code(top['name'])} has the most, {count(top['count'], 'value')} "
        f"({percent(top['share'])})" + (f", then {listed(more)}." if more else "."),
        "Such values need a look before they are dropped: in skewed columns many are genuine."
        if explained
        else "",
    )


def group_text(best: dict[str, Any]) -> str:
    """How a number differs between groups."""
    eta = best["eta"]
    strength = "a large part" if eta >= 0.25 else "a part" if eta >= 0.1 else "a small part"
    if eta >= 0.5:
        strength = "most"
    value = percent if best["flag"] else number
    measure = "share" if best["flag"] else "median"
    low, high = best["low"], best["high"]
    lowest = "in several groups" if best["ties"] > 1 else f"in {code(low[0])}"
    return (
        f"{code(best['number'])} differs between the groups of {code(best['category'])}: the "
        f"{measure} is highest in {code(high[0])} ({value(high[1])}) and lowest {lowest} "
        f"({value(low[1])}). The groups explain {strength} of its variance "
        f"({percent(eta)})."
    )


def course_text(data: Data, columns: Sequence[Column]) -> str:
    """The time span, and the trend of each number."""
    time = data.survey["time"]
    unit = time["word"]
    span = f"{code(time['date'])} runs from {time['from']} to {time['to']}."
    if not columns:
        when, rows = time["busiest"]
        return f"{span} The {unit} with the most rows is {when[:10]} ({count(rows, 'row')})."
    found = {each["name"]: each for each in time["courses"]}
    sentences = []
    for column in columns[:2]:
        line = found[column.name]
        sentences.append(
            f"{_mean(time)}{code(column.name)} is highest in {_when(line['high'][0])} "
            f"({number(line['high'][1])}) and lowest in {_when(line['low'][0])} "
            f"({number(line['low'][1])})."
        )
    return paragraph(span, *sentences)


def _mean(time: dict[str, Any]) -> str:
    averaged = time["rule"] is not None or time["per_period"] > 1
    return f"The mean per {time['word']} of " if averaged else ""


def _when(text: str) -> str:
    """A period as pandas writes it (2012-01, 2012-01-02/2012-01-08, 2012-01-01 00:00:00)."""
    if "/" in text:
        return f"the week of {text.split('/')[0][:10]}"
    return text.removesuffix(" 00:00:00")


def relation_text(pair: dict[str, Any]) -> str:
    """How two numbers are related."""
    size = abs(pair["r"])
    how = "closely" if size >= STRONG else "moderately" if size >= MODERATE else "loosely"
    course = "rise together" if pair["r"] > 0 else "run against one another"
    return (
        f"{code(pair['a'])} and {code(pair['b'])} {course}, {how} (r = {pair['r']:.2f}): a "
        f"straight line explains {percent(pair['r'] ** 2)} of the variance."
    )


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
    await run.code(plots.heatmap(columns))


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
    await run.code(plots.course(time, columns) if columns else plots.rows_per_period(time))


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
    await run.code(plots.map_of_places(latitude, longitude, group, data.rows))


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
        await run.code(plots.groups(data, best))


def informative_groups(data: Data) -> list[dict[str, Any]]:
    """Groups that differ, best first; those of the target's come before others."""
    target = data.facts.get("target")
    found = [each for each in data.survey["groups"] if each["eta"] >= 0.02]
    found.sort(key=lambda each: target not in (each["number"], each["category"]))
    return found

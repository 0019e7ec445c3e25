"""A report in pictures: chapters that fit the data, each with a finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from ...template import Template, TemplateRun, TemplateStep
from .parts import plots, sections
from .parts.data import Column, Data, bullets, code, codes, count, percent
from .parts.sections import (
    DataParameters,
    correlation_text,
    course_text,
    distribution_text,
    group_text,
    relation_text,
    share_text,
)

TEXT = (
    "This report shows in figures what the data say: how their values are distributed, how groups "
    "differ and what goes together. The numbers in the text come from the same data as the figures."
)


class ReportParameters(DataParameters):
    format: Literal["notebook", "lexical"] = Field(
        default="notebook", description="The form of the report."
    )


def steps(parameters: ReportParameters) -> Sequence[TemplateStep]:
    return [
        TemplateStep(
            "Look at the file; write title, introduction and imports",
            _head,
            ("executeCode", "addNotebookCell"),
        ),
        TemplateStep("Load the data", _load, ("addNotebookCell", "executeCode")),
        TemplateStep("Draw how values are distributed", sections.distributions),
        TemplateStep("Draw how groups differ", _groups),
        TemplateStep("Draw the course of time and the map", _time_and_place),
        TemplateStep("Draw what goes together", _relations),
        TemplateStep("Write the conclusions", _conclusions),
    ]


async def _head(run: TemplateRun) -> None:
    await sections.head(run, "Visual report", TEXT, "numpy")


async def _load(run: TemplateRun) -> None:
    await sections.load(run)
    await run.code("df.head()")
    await sections.missing(run)


async def _groups(run: TemplateRun) -> None:
    """The two most informative pairs of a number and a category, of different numbers."""
    data = Data(run.facts)
    found = _different(sections.informative_groups(data))
    if not found:
        return
    await run.markdown("## How groups differ")
    for best in found:
        await run.markdown(group_text(best))
        await run.code(plots.groups(data, best))


async def _time_and_place(run: TemplateRun) -> None:
    await sections.over_time(run)
    await sections.place(run)


async def _relations(run: TemplateRun) -> None:
    """The heatmap, and the closest relation as points."""
    data = Data(run.facts)
    names = data.survey["heatmap"]
    if len(names) < 2:
        return
    await run.markdown(f"## What goes together\n\n{correlation_text(data)}")
    await run.code(plots.heatmap([data[name] for name in names]))
    pair = closest_pair(data)
    if pair is not None:
        a, b = data[pair["a"]], data[pair["b"]]
        if b.name != data.facts.get("target") and a.name == data.facts.get("target"):
            a, b = b, a
        await run.markdown(relation_text(pair))
        await run.code(plots.scatter(a, b, sections.hue(data, a, b), data.rows))


async def _conclusions(run: TemplateRun) -> None:
    data = Data(run.facts)
    lopsided = [column for column in data.categories if _leading(data, column)]
    time = data.survey.get("time")
    emptiest = data.incomplete[:1]
    sentences = [
        f"{code(column.name)}: the largest of {count(column.unique, 'group')} is "
        f"{code(column.top[0][0])} with "
        f"{percent(column.top[0][1] / (data.rows - column.missing))} of the rows that have a value."
        for column in lopsided[:2]
    ]
    sentences += [group_text(best) for best in _different(sections.informative_groups(data))]
    if time:
        sentences.append(course_text(data, sections.moving(data, 1)))
    if data.survey["pairs"]:
        sentences.append(correlation_text(data))
    if emptiest:
        sentences.append(
            f"{codes([emptiest[0].name])} is missing in {share_text(data, emptiest[0].missing)}."
        )
    if not sentences:
        shown = data.shown if data.rows > 1 else []
        sentences.append(
            distribution_text(data, shown, [])
            if shown
            else "The data are too few to conclude from."
        )
    await run.markdown(f"## Conclusions\n\n{bullets(sentences)}")


def _leading(data: Data, column: Column) -> bool:
    """Whether the largest group stands out from the others."""
    even = (data.rows - column.missing) / column.unique
    return column.unique <= 50 and bool(column.top) and column.top[0][1] > 1.3 * even


def closest_pair(data: Data) -> dict[str, Any] | None:
    """The pair for a scatter plot: related, and not the same quantity twice; the target's first."""
    target = data.facts.get("target")
    pairs = [each for each in data.survey["pairs"] if 0.2 <= abs(each["r"]) <= 0.98]
    pairs.sort(key=lambda each: (target not in (each["a"], each["b"]), -abs(each["r"])))
    return next(iter(pairs), None)


def _different(found: Sequence[dict[str, Any]], limit: int = 2) -> list[dict[str, Any]]:
    """The first of each number and each category."""
    kept: list[dict[str, Any]] = []
    for each in found:
        if all(each["number"] != k["number"] and each["category"] != k["category"] for k in kept):
            kept.append(each)
    return kept[:limit]


data_visualization_report = Template(
    id="data-visualization-report",
    name="Data visualization report",
    description="A report in figures on a CSV or Parquet file: introduction, distributions, "
    "groups, time, relations, and conclusions drawn from the figures computed.",
    parameters=ReportParameters,
    steps=steps,
    keywords=(
        "report",
        "visualization report",
        "visual report",
        "visualize",
        "visualization",
        "plot",
        "chart",
        "graph",
        "figures",
        "dashboard",
        "visualiz",
        "draw",
        "picture",
        "create a report",
        "make a report",
        "write a report",
        "diagramm",
        "bericht",
        "graphique",
        "rapport",
        "grafico",
        "informe",
    ),
    notebook="data_visualization_report.ipynb",
)

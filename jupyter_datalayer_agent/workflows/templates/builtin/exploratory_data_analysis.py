"""Exploring a data set: its contents, missing values, and relations between columns."""

from __future__ import annotations

from collections.abc import Sequence

from ...template import Template, TemplateRun, TemplateStep
from .parts import sections
from .parts.data import Data, bullets, code, codes, count
from .parts.sections import DataParameters, correlation_text, group_text, outlier_text, share_text

CONTENTS = (
    "This notebook looks at the data before anything is modelled: types, missing values, summary "
    "statistics, correlations, distributions and outliers."
)


def steps(parameters: DataParameters) -> Sequence[TemplateStep]:
    return [
        TemplateStep(
            "Look at the file; write title and imports", _head, ("executeCode", "addNotebookCell")
        ),
        TemplateStep("Load the data", sections.load, ("addNotebookCell", "executeCode")),
        TemplateStep("Show shape and types", sections.shape),
        TemplateStep("Show the first and last rows", sections.preview),
        TemplateStep("Look for missing values", sections.missing),
        TemplateStep("Compute summary statistics", sections.summary),
        TemplateStep("Draw the correlations", sections.correlations),
        TemplateStep("Draw the distributions, groups and the course of time", _distributions),
        TemplateStep("Look for outliers", sections.outliers),
        TemplateStep("Sum up what was found", _conclusions),
    ]


async def _head(run: TemplateRun) -> None:
    await sections.head(run, "Exploratory data analysis", CONTENTS, "numpy")


async def _distributions(run: TemplateRun) -> None:
    await sections.distributions(run)
    await sections.relations(run)
    await sections.over_time(run)
    await sections.place(run)


async def _conclusions(run: TemplateRun) -> None:
    data = Data(run.facts)
    await run.markdown(f"## What was found\n\n{bullets(_found(data))}")


def _found(data: Data) -> list[str]:
    sentences = ["No value is missing."]
    if data.incomplete:
        worst = data.incomplete[0]
        sentences = [f"{code(worst.name)} is missing in {share_text(data, worst.missing)}."]
    repeated = data.facts["duplicates"]
    if repeated:
        sentences.append(
            f"{count(repeated, 'row')} exactly repeat earlier ones; find out why before modelling."
        )
    useless = [column.name for column in data.of("constant", "empty", "id")]
    if useless:
        verb = "tells" if len(useless) == 1 else "tell"
        sentences.append(
            f"{codes(useless)} {verb} nothing about the rows: no features for a model."
        )
    if data.survey["pairs"]:
        sentences.append(correlation_text(data))
    sentences += [group_text(best) for best in sections.informative_groups(data)[:1]]
    if any(each["count"] for each in data.survey["outliers"]):
        sentences.append(outlier_text(data, explained=False))
    return sentences


exploratory_data_analysis = Template(
    id="exploratory-data-analysis",
    name="Exploratory data analysis",
    description="Get to know a CSV or Parquet file: types, first and last rows, missing values, "
    "summary statistics, correlations, distributions, outliers.",
    parameters=DataParameters,
    steps=steps,
    keywords=(
        "explore",
        "exploratory",
        "exploration",
        "eda",
        "exploratory data analysis",
        "analyse",
        "analyze",
        "understand",
        "look at",
        "profile",
        "outliers",
        "correlation",
        "missing values",
        "distribution",
        "data quality",
        "get to know",
        "explorative datenanalyse",
        "erkunde",
        "ausreisser",
        "analyse exploratoire",
        "valeurs aberrantes",
        "analisis exploratorio",
        "explora",
        "analysiere",
        "analiza",
    ),
    notebook="exploratory_data_analysis.ipynb",
)

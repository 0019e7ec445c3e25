"""Getting to know a data set: what it holds, what it lacks, how its columns go together."""

from __future__ import annotations

from collections.abc import Sequence

from ..template import Template, TemplateRun, TemplateStep
from .parts import sections
from .parts.data import Data
from .parts.findings import correlation_text, group_text, outlier_text, share_text
from .parts.parameters import DataParameters
from .parts.words import bullets, codes

CONTENTS = (
    "This notebook looks at the data before anything is modelled: types, missing values, summary "
    "statistics, correlations, distributions and outliers."
)


def steps(parameters: DataParameters) -> Sequence[TemplateStep]:
    return [
        TemplateStep("Look at the file; write title and imports", _head,
                     ("executeCode", "addNotebookCell")),
        TemplateStep("Load the data", sections.load, ("addNotebookCell", "executeCode")),
        TemplateStep("Show shape and types", sections.shape),
        TemplateStep("Show the first and last rows", sections.preview),
        TemplateStep("Look for missing values", sections.missing),
        TemplateStep("Compute summary statistics", sections.summary),
        TemplateStep("Draw the correlations", sections.correlations),
        TemplateStep("Draw the distributions, groups and the course of time", _distributions),
        TemplateStep("Look for outliers", sections.outliers),
        TemplateStep("Sum up what was found", _conclusions),
    ]  # fmt: skip


async def _head(run: TemplateRun) -> None:
    await sections.head(run, "Exploratory data analysis", CONTENTS, "numpy")


async def _distributions(run: TemplateRun) -> None:
    await sections.distributions(run)
    await sections.relations(run)
    await sections.over_time(run)


async def _conclusions(run: TemplateRun) -> None:
    data = Data(run.facts)
    groups = sections.telling_groups(data)
    emptiest = data.incomplete[:1]
    useless = [c.name for c in data.of("constant", "empty", "id")]
    await run.markdown(
        "## What was found\n\n"
        + bullets(
            [
                "No value is missing." if not emptiest else
                f"Missing values: {codes([emptiest[0].name])} lacks {share_text(data, emptiest[0].missing)}.",
                f"{data.facts['duplicates']:,} rows are exact repetitions; find out why before "
                "modelling." if data.facts["duplicates"] else "",
                f"{codes(useless)} {'tells' if len(useless) == 1 else 'tell'} nothing about the rows "
                "and can be left out of a model." if useless else "",
                correlation_text(data) if data.survey["pairs"] else "",
                group_text(groups[0]) if groups else "",
                outlier_text(data, explained=False)
                if any(each["count"] for each in data.survey["outliers"]) else "",
            ]
        )
    )  # fmt: skip


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
    ),  # fmt: skip
    notebook="exploratory_data_analysis.ipynb",
)

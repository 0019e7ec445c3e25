"""The complete skeleton of an analysis; with a file it loads and runs."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from pydantic import Field

from ...template import Template, TemplateRun, TemplateStep
from .parts import sections
from .parts.data import Data, source
from .parts.loading import imports_cell, load_frame, loading_text, need_modules, probe
from .parts.sections import DataPath, ReadingParameters

TITLE = "# Data analysis"
CHECKS = {
    "## Shape and types\n\nHow many rows and columns there are, and what each column holds.": [
        "df.shape",
        "df.info()",
        "df.head()",
    ],
    "## Summary statistics\n\nCentre and spread of the numbers.": ["df.describe().T"],
    "## Missing values\n\nThe number of missing values in each column.": [
        "df.isna().sum().sort_values(ascending=False)"
    ],
}
EXAMPLE = source(
    """
    # Point this at your own file, take the "#" away and run the notebook:
    # df = pd.read_csv("data.csv")
    """
)


class AnalysisParameters(ReadingParameters):
    data: DataPath | None = Field(
        default=None,
        description="A CSV or Parquet file under the server root. Left out, the notebook is a "
        "skeleton in which nothing runs.",
    )


def steps(parameters: AnalysisParameters) -> Sequence[TemplateStep]:
    if parameters.data is None:
        return [
            TemplateStep("Write the title and the imports", _skeleton_head),
            TemplateStep("Write loading as an example, and the checks of the data", _skeleton_body),
        ]
    return [
        TemplateStep("Write the title and the imports", _head, ("executeCode", "addNotebookCell")),
        TemplateStep("Load the data", _load),
        TemplateStep("Show shape and types", sections.shape),
        TemplateStep("Compute summary statistics", sections.summary),
        TemplateStep("Count missing values", sections.missing),
    ]


async def _skeleton_head(run: TemplateRun) -> None:
    await run.markdown(f"{TITLE}\n\nA skeleton: load your data below, then run all cells.")
    await run.code(imports_cell(None), run=False)


async def _skeleton_body(run: TemplateRun) -> None:
    await run.markdown("## Loading")
    await run.code(EXAMPLE, run=False)
    for heading, cells in CHECKS.items():
        await run.markdown(heading)
        for cell in cells:
            await run.code(cell, run=False)


async def _head(run: TemplateRun) -> None:
    await need_modules(run, "pandas", "matplotlib", "seaborn")
    data = await probe(run)
    name = posixpath.basename(run.parameters.data)
    await run.markdown(f"{TITLE}: {name}\n\n{sections.introduction(data, name)}")
    await run.code(imports_cell(data))


async def _load(run: TemplateRun) -> None:
    data = Data(run.facts)
    await run.markdown(f"## Loading\n\n{loading_text(data, run.parameters.data)}")
    await load_frame(run, data)


data_analysis_notebook = Template(
    id="data-analysis-notebook",
    name="Data analysis notebook",
    description="Loads, describes and checks a data file: shape and types, summary statistics and "
    "missing values. Leave the file empty for a template that is not run.",
    parameters=AnalysisParameters,
    steps=steps,
    keywords=(
        "data analysis notebook",
        "analysis notebook",
        "data analysis",
        "complete notebook",
        "notebook",
        "skeleton",
        "starter",
        "boilerplate",
        "scaffold",
        "datenanalyse",
        "analyse de donnees",
        "analisis de datos",
        "cuaderno",
        "carnet",
    ),
    notebook="data_analysis.ipynb",
    without_data="the loading cell is a commented example and nothing was run",
)

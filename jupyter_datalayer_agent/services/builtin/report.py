"""``/report``: a workflow as an action."""

from __future__ import annotations

from ...workflows.templates.builtin.data_analysis_notebook import data_analysis_notebook
from ..service import Link, Service, ServiceConfig
from ..workflow_action import WorkflowAction, parameters_of

# ``/report``: an analysis notebook of a data file, to be read by others.


class WriteReport(WorkflowAction):
    """Runs the workflow “Data analysis notebook”."""

    id = "write"
    title = "Write an analysis notebook"
    description = "Types, summary statistics and missing values of a file in a new notebook."
    examples = (
        "Write a report of sales.csv",
        "Write an analysis of cars.csv into cars-report.ipynb",
    )
    template = data_analysis_notebook
    Parameters = parameters_of(data_analysis_notebook)


_CONTEXT = """
# What is written
The workflow writes a notebook with a title, the imports, the loaded data, its shape and types,
summary statistics and missing values, and runs it. The text of your own findings goes below each
output.

It writes a new notebook; no notebook that exists is changed. For charts use `/visualize`, for
models `/model`, for a notebook as HTML or PDF `/notebook`.

# A good report
A report begins with the question and its answer; what was done comes after. Each figure and table
is followed by one sentence that says what it shows.

A report can be run again: it loads its data by a path relative to itself, names the versions of its
packages, sets seeds, and runs from top to bottom in a new kernel.
"""

SERVICE = Service(
    id="report",
    name="Report",
    description="A readable report on a data file.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[
            Link(
                "Ten simple rules for computational analyses in Jupyter Notebooks",
                "https://doi.org/10.1371/journal.pcbi.1007007",
            )
        ],
        topics=["report", "summary statistics"],
        questions=["Who reads it, and what should they decide?"],
    ),
    examples=["Write a report of sales.csv", "What belongs into a report?"],
    actions=[WriteReport],
    by_command=True,
)

"""``/visualize``: a workflow as an action."""

from __future__ import annotations

from ...workflows.templates.builtin.data_visualization_report import data_visualization_report
from ..service import Link, Service, ServiceConfig
from ..workflow_action import WorkflowAction, parameters_of

# ``/visualize``: charts of a data file, in a new notebook.


class Visualize(WorkflowAction):
    """Runs the workflow “Data visualization report”."""

    id = "charts"
    title = "Write a report of charts"
    description = "Draws distributions, groups, time and relations in a new notebook."
    examples = ("Draw charts of cars.csv", "Visualize sales.csv by region in charts.ipynb")
    template = data_visualization_report
    Parameters = parameters_of(data_visualization_report)


_CONTEXT = """
# What is drawn
The workflow looks at the file first and draws what its columns allow: histograms of numbers, bars
of categories, groups compared, the course of time where there is a date, a map where there are
coordinates, and what goes together. With a target column, all of it is drawn against that column.

It writes a new notebook and runs it; no notebook that exists is changed. Its cells can be undone.

# Which chart
To compare groups, use bars for totals and boxes or points for distributions; to show a course of
time, a line; to show how two numbers go together, points, with a logarithmic axis where they span
more than two orders of magnitude.

A bar begins at zero. Colours for categories should be few (up to eight) and differ in lightness
too, so that they are distinguishable without colour.

With more than some ten thousand points, draw a density or a sample: points hide each other.
"""

SERVICE = Service(
    id="visualize",
    name="Visualize",
    description="Charts of a data file, in a new notebook.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[Link("Fundamentals of Data Visualization", "https://clauswilke.com/dataviz/")],
        topics=["chart", "charts", "plot", "plots", "graph", "visualization", "histogram"],
        questions=[
            "Who looks at it, and what should they see first?",
            "Which column matters most?",
        ],
    ),
    examples=["Draw charts of cars.csv", "Which chart shows two numbers and a group?"],
    actions=[Visualize],
    by_command=True,
)

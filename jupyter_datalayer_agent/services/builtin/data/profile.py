"""Profiles a data file: the exploratory workflow."""

from __future__ import annotations

from ....workflows.templates.builtin.exploratory_data_analysis import exploratory_data_analysis
from ...workflow_action import WorkflowAction, parameters_of


class Profile(WorkflowAction):
    """Runs the workflow “Exploratory data analysis”."""

    id = "profile"
    title = "Profile a data file"
    description = "Explores columns, missing values, outliers and relations in a new notebook."
    examples = ("Profile the file", "Data profile with outliers and missing values")
    template = exploratory_data_analysis
    Parameters = parameters_of(exploratory_data_analysis)

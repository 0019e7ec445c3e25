"""``/model``: a workflow as an action."""

from __future__ import annotations

from ...workflows.templates.builtin.machine_learning_pipeline import machine_learning_pipeline
from ..service import Link, Service, ServiceConfig
from ..workflow_action import WorkflowAction, parameters_of

# ``/model``: models for a column of a data file, in a new notebook.


class TrainModel(WorkflowAction):
    """Runs the workflow “Machine learning pipeline”."""

    id = "train"
    title = "Train and compare models"
    description = "Trains and compares models for a target column in a new notebook."
    examples = (
        "Train a model that predicts price in houses.csv",
        "Predict mpg in cars.csv with a regression",
    )
    template = machine_learning_pipeline
    Parameters = parameters_of(machine_learning_pipeline)


_CONTEXT = """
# What is trained
The workflow chooses features, splits off a test set before anything is learned, prepares numbers
and categories in a scikit-learn pipeline, and compares a simple baseline with other models by
cross-validation. The best is evaluated once on the test set.

Without a target column a likely one is chosen; whether it is a classification or a regression
follows from the target's values. Both can be given.

It writes a new notebook and runs it; no notebook that exists is changed.

# Evaluating
A model is only as good as it is better than the baseline: the mean for a regression, the most
frequent class for a classification.

Accuracy misleads where classes are unequal: look at the balanced accuracy, at precision and recall,
or at the area under the precision-recall curve.

A column that is known only after the target (a leak) makes a model look far better than it is.
Where rows belong together (a patient, a time), split by group or by time, not at random.
"""

SERVICE = Service(
    id="model",
    name="Model",
    description="Train a model on a data file, in a new notebook.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[
            Link(
                "scikit-learn: common pitfalls",
                "https://scikit-learn.org/stable/common_pitfalls.html",
            )
        ],
        topics=["model", "classification", "regression", "prediction"],
        questions=[
            "What is predicted, and what is known at that time?",
            "Which error is the worse one?",
        ],
    ),
    examples=[
        "Train a model that predicts price in houses.csv",
        "Is accuracy a good measure for rare classes?",
    ],
    actions=[TrainModel],
    by_command=True,
)

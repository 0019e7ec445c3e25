"""Which workflow a task names, and which are near to it, without a model."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.agent.intent import says_only
from jupyter_datalayer_agent.agent.plan.messages import ask_for
from jupyter_datalayer_agent.agent.plan.template_plan import named_template, near
from jupyter_datalayer_agent.services.builtin import builtin_services
from jupyter_datalayer_agent.services.routing import Router
from jupyter_datalayer_agent.workflows.template import Template
from jupyter_datalayer_agent.workflows.templates.catalogue import builtin_catalogue

TEMPLATES = list(builtin_catalogue())


@pytest.mark.parametrize(
    ("task", "template", "rest"),
    [
        ("Data analysis notebook", "data-analysis-notebook", ""),
        (" exploratory-data-analysis cars.csv", "exploratory-data-analysis", " cars.csv"),
        ("MACHINE LEARNING PIPELINE: cars.csv", "machine-learning-pipeline", ": cars.csv"),
        ("Create a data analysis notebook", None, ""),
        ("data analysis notebooks", None, ""),
        ("", None, ""),
    ],
)
def test_a_task_names_a_template_by_beginning_with_it(
    task: str, template: str | None, rest: str
) -> None:
    found = named_template(task, TEMPLATES)
    assert (found[0].id if found else None) == template
    assert found is None or found[1] == rest


def test_only_values_may_follow_a_name() -> None:
    assert says_only(": cars.csv, mpg", ["cars.csv", "mpg"])
    assert says_only("  ", [])
    assert not says_only(" of cars.csv", ["cars.csv"])
    assert not says_only(" is broken", [])


def test_what_asks_for_a_workflow_says_its_parameters() -> None:
    said = ask_for("Some workflow", {"data": "a b.csv", "target": "unit price", "dateColumn": "d"})
    assert said == 'Some workflow, a b.csv, target: "unit price", date column: "d"'


@pytest.mark.parametrize(
    ("task", "nearest"),
    [
        ("create a complete data analysis notebook", "data-analysis-notebook"),
        ("write a data visualisation report from sales.parquet", "data-visualization-report"),
        ("explore this data", "exploratory-data-analysis"),
        ("train a model", "machine-learning-pipeline"),
        ("plot cars.csv", "data-visualization-report"),
        ("entraîne un modèle sur cars.csv", "machine-learning-pipeline"),
        ("Erkunde die Datei cars.csv", "exploratory-data-analysis"),
        ("analyze the quality of this notebook", "quality"),
        ("is this notebook clean?", "clean"),
        ("uninstall numpy", "remove"),
        ("sing a song", None),
        ("", None),
    ],
)
def test_what_is_near_is_offered(task: str, nearest: str | None) -> None:
    found = [
        each.id if isinstance(each, Template) else each.subcommand
        for each in near(task, TEMPLATES, Router(builtin_services()))
    ]
    assert (found[0] if found else None) == nearest

"""All templates on five real data sets: run, run again from scratch by nbclient, compared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_datalayer_agent.workflows.templates.catalogue import builtin_catalogue
from tests.support.datasets import DATASETS, DataSet, write_datasets
from tests.support.template_run import KernelForTemplates, run_again
from tests.workflows.templates.builtin.checks import check, images, rendered

TEMPLATES = [template.id for template in builtin_catalogue()]


@pytest.fixture(scope="module", autouse=True)
def datasets(kernel: KernelForTemplates) -> None:
    write_datasets(kernel.root)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("dataset", DATASETS, ids=lambda each: Path(each.file).stem)
@pytest.mark.parametrize("template_id", TEMPLATES)
async def test_a_notebook_runs_and_runs_again_to_the_same_outputs(
    kernel: KernelForTemplates, template_id: str, dataset: DataSet
) -> None:
    template = builtin_catalogue().find(template_id)
    assert template is not None
    # Half of the notebooks lie in another folder than the data: paths are relative to them.
    folder = "notebooks/" if TEMPLATES.index(template_id) % 2 else ""
    parameters = {
        "data": dataset.file,
        "notebook": f"{folder}{template_id}-{Path(dataset.file).stem}.ipynb",
    }
    if template_id == "machine-learning-pipeline":
        parameters["target"] = dataset.target
    run = await kernel.run(template, parameters)
    check(run)
    if template_id == "machine-learning-pipeline":
        assert run.facts["study"]["task"] == dataset.task
        assert len(images(run.document)) >= 3
    elif template_id != "data-analysis-notebook":
        assert len(images(run.document)) >= 3
    again = run_again(kernel.root / run.notebook)
    assert rendered(again) == rendered(run.document)
    assert len(images(again)) == len(images(run.document))


def test_what_was_written_above_is_formatted_and_lint_free(kernel: KernelForTemplates) -> None:
    """Runs last: a formatter changes nothing, and no import is unused."""
    notebooks = sorted(map(str, kernel.root.rglob("*.ipynb")))
    assert len(notebooks) == len(TEMPLATES) * len(DATASETS)
    ruff = [sys.executable, "-m", "ruff"]
    isolated = ["--isolated", "--line-length", "88", "--no-cache"]
    formatted = subprocess.run(
        [*ruff, "format", "--diff", *isolated, *notebooks], capture_output=True, text=True
    )
    assert formatted.stdout == ""
    rules = ["--select", "E,F,W,I,B,UP,SIM,C4", "--ignore", "E501,B905"]
    linted = subprocess.run(
        [*ruff, "check", *isolated, *rules, *notebooks], capture_output=True, text=True
    )
    assert linted.returncode == 0, linted.stdout

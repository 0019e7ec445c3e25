"""One catalogue for built-in and third-party workflows, and the example of the guide."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from jupyter_datalayer_agent.agent.plan.template_plan import near
from jupyter_datalayer_agent.services.builtin import builtin_services
from jupyter_datalayer_agent.services.routing import Router
from jupyter_datalayer_agent.workflows.templates.catalogue import (
    TemplateCatalogue,
    builtin_catalogue,
)
from tests.support.packages import declare, import_from
from tests.support.template_run import KernelForTemplates, run_again

GUIDE = Path(__file__).parents[3] / "docs" / "adding-a-workflow.md"
GROUP = "[jupyter_datalayer_agent.workflows]"
MOONS = "planet,moon\nMars,Phobos\nMars,Deimos\nEarth,Moon\n"


def test_what_is_listed_has_parameters_and_steps() -> None:
    infos = {info.id: info for info in builtin_catalogue().infos()}
    assert list(infos) == [
        "data-analysis-notebook",
        "exploratory-data-analysis",
        "machine-learning-pipeline",
        "data-visualization-report",
    ]
    model = infos["machine-learning-pipeline"]
    assert model.parameters["required"] == ["data"]
    assert set(model.parameters["properties"]) == {
        "data", "target", "task", "dateColumn", "notebook", "encoding", "delimiter", "decimal",
    }  # fmt: skip
    assert "format" in infos["data-visualization-report"].parameters["properties"]
    assert "required" not in infos["data-analysis-notebook"].parameters
    assert all(info.steps and info.required_tools for info in infos.values())


def test_a_duplicate_id_raises_and_what_is_returned_takes_it_out() -> None:
    catalogue = builtin_catalogue()
    [first, *_] = catalogue
    with pytest.raises(ValueError, match=first.id):
        catalogue.add(first)
    other = TemplateCatalogue()
    remove = other.add(first)
    assert other.find("Data_Analysis_Notebook") is first
    remove()
    assert other.find(first.id) is None
    other.add(first)


def test_a_broken_entry_point_is_reported_and_harms_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_flows.py").write_text("number = 1\n")
    declare(tmp_path, "flows", f"{GROUP}\na = broken_flows:number\nb = broken_flows:nothing\n")
    import_from(tmp_path, monkeypatch)
    catalogue = builtin_catalogue()
    problems = catalogue.add_entry_points()
    sys.modules.pop("broken_flows", None)
    assert len(problems) == 2
    assert len(list(catalogue)) == 4


async def test_the_example_of_the_guide_loads_by_its_entry_point_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    example = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    entry = re.findall(r"```toml\n\[project\.entry-points.*?\]\n(.*?)```", text, re.DOTALL)[0]
    (tmp_path / "moon_workflows.py").write_text(example, encoding="utf-8")
    declare(tmp_path, "flows", f"{GROUP}\n{entry}".replace('"', ""))
    import_from(tmp_path, monkeypatch)
    catalogue = builtin_catalogue()
    assert catalogue.add_entry_points() == []
    template = catalogue.find("count-values")
    assert template is not None
    assert (
        near("how often does each moon occur?", catalogue, Router(builtin_services()))[0]
        is template
    )
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "moons.csv").write_text(MOONS)
    with KernelForTemplates(tmp_path / "root") as kernel:
        run = await kernel.run(template, {"data": "moons.csv"})
        again = run_again(kernel.root / "counts.ipynb")
    sys.modules.pop("moon_workflows", None)
    counts = run.document.cells[-1].outputs[0].data["text/plain"]
    assert "Mars     2" in counts
    assert again.cells[-1].outputs[0].data["text/plain"] == counts

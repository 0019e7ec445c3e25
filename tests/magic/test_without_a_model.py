"""What the magic answers where no model is connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("no-model")) as running:
        write_cars(running.root)
        yield running


def test_a_close_workflow_is_offered_with_the_prompt_that_runs_it(server: RunningServer) -> None:
    write_notebook(server, "ask.ipynb", LOAD)
    with notebook_kernel(server, "ask.ipynb") as kernel:
        kernel.run(LOAD)
        offered = kernel.run("%agent explore cars.csv")
        assert offered.display["text/markdown"].startswith("Nothing was started.")
        assert "`agent: Exploratory data analysis, cars.csv`" in offered.display["text/markdown"]
        assert "No model is connected" in offered.error
        assert "Nothing was started." not in kernel.run("%agent fix the notebook").error
        quality = kernel.run("%agent review this notebook")
        assert quality.display["text/markdown"].count("`/notebook quality`") == 1
    assert not (server.root / "exploratory_data_analysis.ipynb").exists()

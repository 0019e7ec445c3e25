"""What of the agent's may act in a page by being shown, and what is only shown."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from jupyter_datalayer_agent.notebook.agent_mark import is_active, is_held_back, made_by_agent

# `simpleHtml.spec.ts` walks the same.
ROWS = json.loads((Path(__file__).parent / "simple_html.json").read_text())


@pytest.mark.parametrize("html", ROWS["simple"])
def test_html_of_tables_is_only_shown(html: str) -> None:
    assert not is_active({"text/html": html, "text/plain": "x"})


@pytest.mark.parametrize("html", ROWS["active"])
def test_html_that_acts_loads_leads_or_reaches_out_of_its_place_is_active(html: str) -> None:
    assert is_active({"text/html": html})


@pytest.mark.parametrize(
    "html",
    [
        "<p",
        '<p align="x>',
        "<p style='color:&#114;ed'>x</p>",
        "<style>.dataframe {}",
        "<![CDATA[",
        "<?x?>",
    ],
)
def test_html_that_is_written_unusually_counts_as_active(html: str) -> None:
    assert is_active({"text/html": html})


@pytest.mark.parametrize(
    "run",
    [
        "<a ",
        "<b ",
        "<b",
        "<b>",
        "</b ",
        "<style></style>",
        "<b align=",
        "<b align='",
        "<",
        "<!",
        "a\n ",
    ],
)
@pytest.mark.parametrize("size", [300_000, 3_000_000])
def test_hostile_html_is_read_at_once(run: str, size: int) -> None:
    html = run * (size // len(run))
    began = time.process_time()
    is_active({"text/html": html})
    # 0.25 s where nothing else runs; Python's own parser needs 10 s for a twelfth of it.
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "data",
    [
        {"application/javascript": "1"},
        {"image/svg+xml": "<svg/>"},
        {"image/png": "", "application/vnd.plotly.v1+json": {}},
        {"text/markdown": "![x](https://spy.example/p)"},
        {"text/markdown": "![x][r]"},
        {"text/markdown": "<img src=x>"},
        {"text/markdown": ["$\\href", "{javascript:x}{y}$"]},
    ],
)
def test_other_data_that_is_active(data: dict[str, object]) -> None:
    assert is_active(data)


@pytest.mark.parametrize(
    "data", [{}, None, {"text/plain": "<script>"}, {"image/png": ""}, {"text/markdown": "**a** b"}]
)
def test_other_data_that_is_only_shown(data: object) -> None:
    assert not is_active(data)


CHART = "application/vnd.plotly.v1+json"
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.mark.parametrize(
    ("data", "held"),
    [
        ({CHART: {}, "text/plain": "Figure"}, False),
        ({WIDGET: {"model_id": "a"}, "text/plain": "IntSlider()"}, False),
        ({CHART: {}, "text/html": "<script>1</script>"}, True),
        ({"application/vnd.bokehjs_exec.v0+json": "", "application/javascript": "1"}, True),
    ],
)
def test_charts_and_widgets_take_no_trust_from_a_notebook(
    data: dict[str, object], held: bool
) -> None:
    assert is_active(data)
    assert is_held_back({"data": data, "metadata": made_by_agent({})}) is held
    assert not is_held_back({"data": data, "metadata": {}})


def test_the_tables_of_pandas_are_only_shown() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.5, None], "b": ["<script>x</script>", "y & z"]})
    assert not is_active({"text/html": frame._repr_html_()})
    nested = frame.set_index(["a", "b"]).T.describe()
    assert not is_active({"text/html": nested._repr_html_()})

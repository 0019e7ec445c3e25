"""Data sets in real kernels: bound, read back, and what is said where that cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer

ROWS = 700_000


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    # A scratch kernel so small that a quarter of it is soon used up.
    environment = {"DATALAYER_AGENT_SCRATCH_MEMORY_MB": "300"}
    folder = tmp_path_factory.mktemp("datasets")
    with RunningServer(folder, environment=environment) as running:
        send(running, "small.csv", "city,people\nÅrsta,123\nUmeå,\n")
        wide = "".join(f"{n},some words for row {n} of many\n" for n in range(ROWS))
        send(running, "large.csv", "n,words\n" + wide)
        yield running


def send(server: RunningServer, name: str, content: str) -> None:
    response = server.request("POST", "upload", files={"file": (name, content)})
    assert response.status_code == 201, response.text


def call(server: RunningServer, tool: str, path: str | None = None, **arguments: Any) -> Any:
    body = {"arguments": arguments, "sessionId": "ses_tools", **({"path": path} if path else {})}
    return server.post(f"tools/{tool}", body)


def printed(server: RunningServer, code: str, path: str | None = None) -> str:
    answer = call(server, "executeCode", path, code=code)
    assert answer["ok"], answer
    return str(answer["output"]["outputs"]).strip()


def load(server: RunningServer, **arguments: Any) -> Any:
    answer = call(server, "load_dataset_full", **arguments)
    assert answer["ok"], answer
    return answer["output"]


def failure(server: RunningServer, **arguments: Any) -> Any:
    answer = call(server, "loadDatasetFull", **arguments)
    assert not answer["ok"], answer
    return answer["error"]


def test_data_sets_are_listed_with_their_shape_and_first_rows(lab: RunningServer) -> None:
    large, small = call(lab, "list_datasets")["output"]["datasets"]
    assert (large["name"], large["rows"]) == ("large", ROWS)
    assert small["columns"] == {"city": "text", "people": "int64"}
    assert small["sample"] == [
        {"city": "Årsta", "people": 123},
        {"city": "Umeå", "people": None},
    ]


def test_a_small_one_is_bound_as_a_pandas_frame_and_read_back(lab: RunningServer) -> None:
    loaded = load(lab, name="small", dfName="df")
    assert (loaded["engine"], loaded["type"], loaded["shape"]) == (
        "pandas",
        "pandas.DataFrame",
        [2, 2],
    )
    assert "fits a quarter of memory" in loaded["why"]
    assert printed(lab, "print(df.city.tolist())") == "['Årsta', 'Umeå']"
    assert "replaced" not in loaded
    again = load(lab, name="small", dfName="df")
    assert again["replaced"] == "df was a DataFrame before"
    names = "print([n for n in dir() if 'datalayer' in n])"
    assert printed(lab, names) == "[]", "nothing else is left in the kernel"


def test_a_large_one_is_bound_by_a_lazy_engine_that_is_installed(lab: RunningServer) -> None:
    loaded = load(lab, name="large", dfName="big")
    assert loaded["engine"] == "duckdb"
    assert loaded["shape"] == [ROWS, 2]
    assert loaded["dtypes"] == {"n": "BIGINT", "words": "VARCHAR"}
    assert "does not fit a quarter of memory" in loaded["why"]
    query = "print(big.aggregate('max(n)').fetchall()[0][0])"
    assert printed(lab, query) == str(ROWS - 1)


def test_an_engine_that_is_requested_is_taken(lab: RunningServer) -> None:
    loaded = load(lab, name="small", dfName="rel", engine="duckdb")
    assert (loaded["engine"], loaded["shape"]) == ("duckdb", [2, 2])
    assert loaded["why"].startswith("duckdb was requested")


def test_an_engine_that_is_not_installed_is_reported_with_the_line_that_installs_it(
    lab: RunningServer,
) -> None:
    # The kernel's own result, whether or not the package is installed.
    printed(lab, "import sys; sys.modules['polars'] = None")
    error = failure(lab, name="small", dfName="df", engine="polars")
    assert "polars is not installed in the kernel" in error["message"]
    assert "%pip install polars" in error["hint"]


def test_in_notebook_mode_it_is_the_notebooks_kernel(lab: RunningServer) -> None:
    nbformat.write(nbformat.v4.new_notebook(), lab.root / "a.ipynb")
    arguments = {"name": "large", "dfName": "here"}
    answer = call(lab, "loadDatasetFull", "a.ipynb", **arguments)
    assert answer["output"]["engine"] == "pandas", "that kernel has no limit"
    assert printed(lab, "print(len(here))", "a.ipynb") == str(ROWS)
    assert printed(lab, "print('here' in globals())") == "False"


@pytest.mark.parametrize("name", ["1st", "a b", "for", "list", "x;import os", ""])
def test_what_is_no_name_for_a_variable_is_refused(lab: RunningServer, name: str) -> None:
    assert failure(lab, name="small", dfName=name)["code"] == "invalid_arguments"


def test_a_module_is_not_replaced(lab: RunningServer) -> None:
    printed(lab, "import json")
    assert "json is a module" in failure(lab, name="small", dfName="json")["message"]
    assert printed(lab, "print(json.dumps(1))") == "1"


def test_an_unknown_data_set_is_reported_with_those_that_exist(lab: RunningServer) -> None:
    error = failure(lab, name="smal", dfName="df")
    assert (error["code"], "large, small" in error["message"]) == ("not_found", True)


def test_only_agent_mode_loads(lab: RunningServer) -> None:
    body = {"arguments": {"name": "small", "dfName": "df"}, "mode": "ask"}
    assert lab.post("tools/loadDatasetFull", body)["error"]["code"] == "not_allowed"
    listed = lab.post("tools/listDatasets", {"arguments": {}, "mode": "ask"})
    assert listed["ok"]


@pytest.mark.parametrize("engine", ["pandas", "polars", "duckdb", "dask"])
def test_the_code_that_loaded_it_is_returned_and_makes_a_notebook_runnable_without_the_agent(
    lab: RunningServer, engine: str
) -> None:
    answer = call(lab, "loadDatasetFull", name="small", dfName="towns", engine=engine)
    if not answer["ok"]:
        assert "%pip install" in answer["error"]["hint"]
        return
    code = answer["output"]["code"]
    assert "datalayer" not in code.partition("(")[0]
    path = f"code-{engine}.ipynb"
    cells = [nbformat.v4.new_code_cell(code, id="load"), nbformat.v4.new_code_cell("towns", id="t")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, lab.root / path)
    ran = call(lab, "runNotebookCells", path, all=True)
    assert ran["ok"], ran
    assert printed(lab, "print(list(towns.columns))", path) == "['city', 'people']"


@pytest.mark.parametrize(
    ("notebook", "name", "shown", "reads"),
    [
        ("work/a.ipynb", "plain.csv", "plain.csv is a file in this folder", "'plain.csv'"),
        ("work/a.ipynb", "top.tsv", "../top.tsv is a file under", "'../top.tsv', sep='\\t'"),
        (None, "work/plain.csv", "work/plain.csv is a file under", "'work/plain.csv'"),
        (None, "top.tsv", "top.tsv is a file in this folder", "sep='\\t'"),
    ],
)
def test_a_plain_file_is_said_to_be_one_with_how_to_read_it(
    lab: RunningServer, notebook: str | None, name: str, shown: str, reads: str
) -> None:
    (lab.root / "work").mkdir(exist_ok=True)
    (lab.root / "work" / "plain.csv").write_text("a,b\n1,2\n")
    (lab.root / "top.tsv").write_text("a\tb\n1\t2\n")
    if notebook is not None:
        nbformat.write(nbformat.v4.new_notebook(), lab.root / notebook)
    error = call(lab, "loadDatasetFull", notebook, name=name, dfName="df")["error"]
    assert error["code"] == "not_found"
    assert error["message"].startswith(shown)
    assert reads in error["hint"]


@pytest.mark.parametrize("name", ["nowhere.csv", "../../etc/passwd", ".jupyter/secret.csv"])
def test_what_is_no_file_here_is_no_data_set(lab: RunningServer, name: str) -> None:
    error = failure(lab, name=name, dfName="df")
    assert (error["code"], error["hint"]) == ("not_found", "listDatasets shows them.")

"""``/data write-table``: tables of a real kernel become files."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import openpyxl
import pyarrow.parquet
import pytest

from tests.services.builtin.running import refused, run
from tests.support.jupyter import RunningServer

PATH = "tables/work.ipynb"
TABLES = """
import datetime
import pandas as pd
import pyarrow
cars = pd.DataFrame({
    "maker": ["Fiat", "Opel", None],
    "code": ["01", "02", "03"],
    "built": pd.to_datetime(["2024-01-01 10:00", "2024-02-01 11:30", None]),
    "n": [1, 2, 3],
})
by_maker = pd.DataFrame({"n": [1, 2]}, index=pd.Index(["Fiat", "Opel"], name="maker"))
odd = pd.DataFrame({
    "mixed": [1, "two", None],
    "span": pd.to_timedelta([1, 2, 3], unit="h"),
    "part": pd.cut([1, 5, 9], [0, 4, 10]),
    7: pd.period_range("2024-01", periods=3, freq="M"),
})
twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
arrow = pyarrow.table({"x": [1, 2]})
number = 42
"""


@pytest.fixture(scope="module")
def kernel(server: RunningServer) -> RunningServer:
    folder = server.root / "tables"
    folder.mkdir()
    cells = [nbformat.v4.new_code_cell(TABLES, id="tables")]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
    nbformat.write(notebook, server.root / PATH)
    ran = server.post("tools/runNotebookCells", {"path": PATH, "arguments": {"all": True}})
    assert ran["ok"], ran
    return server


@contextmanager
def kernel_of(
    server: RunningServer,
    path: str,
    name: str,
    language: str,
    start: Sequence[str] = ("-m", "ipykernel_launcher"),
) -> Iterator[None]:
    """A new notebook with a running kernel of a specification that is made for it."""
    folder = Path(server.environment["JUPYTER_DATA_DIR"]) / "kernels" / name
    folder.mkdir(parents=True)
    argv = [sys.executable, *start, "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": name, "language": language}
    (folder / "kernel.json").write_text(json.dumps(spec))
    nbformat.write(nbformat.v4.new_notebook(), server.root / path)
    session = {"path": path, "type": "notebook", "name": "", "kernel": {"name": name}}
    made = server.post("/api/sessions", session)
    yield
    assert server.request("DELETE", f"/api/sessions/{made['id']}").ok


def write(server: RunningServer, **parameters: Any) -> str:
    return str(run(server, "data/write-table", active=PATH, **parameters)["reply"])


def why_not(server: RunningServer, active: str | None = PATH, **parameters: Any) -> str:
    return refused(server, "data/write-table", active=active, **parameters)


def proposal(server: RunningServer, message: str, active: str | None = PATH) -> dict[str, Any]:
    body = {"message": message, "activeNotebook": active}
    return dict(server.post("services/data/actions/write-table/dry-run", body))


def values(found: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each["value"] for each in found["parameters"] if each["found"]}


def executed(server: RunningServer) -> int:
    code = "print(get_ipython().execution_count)"
    arguments = {"path": PATH, "arguments": {"code": code}}
    return int(server.post("tools/executeCode", arguments)["output"]["outputs"])


def test_a_data_frame_becomes_a_file_of_each_format(kernel: RunningServer) -> None:
    folder = kernel.root / "tables"
    said = write(kernel, table="cars", format="parquet")
    assert "Wrote `cars` to `tables/cars.parquet`: 3 rows and 4 columns, read back" in said
    made = pyarrow.parquet.read_table(folder / "cars.parquet")
    assert made.column("code").to_pylist() == ["01", "02", "03"]
    assert str(made.schema.field("built").type).startswith("timestamp")
    write(kernel, table="cars", format="csv")
    with (folder / "cars.csv").open(newline="") as file:
        assert [each["maker"] for each in csv.DictReader(file)] == ["Fiat", "Opel", ""]
    write(kernel, table="cars", format="excel", target="cars-of-2024")
    sheet = openpyxl.load_workbook(folder / "cars-of-2024.xlsx").active
    assert next(iter(sheet.iter_rows(values_only=True))) == ("maker", "code", "built", "n")
    write(kernel, table="cars", format="jsonl", target="tables/lines.jsonl")
    lines = (folder / "lines.jsonl").read_text().splitlines()
    assert [json.loads(each)["n"] for each in lines] == [1, 2, 3]
    assert not [each for each in folder.iterdir() if each.name.startswith(".writing")]


def test_an_index_that_says_something_is_a_column(kernel: RunningServer) -> None:
    assert "The index is the first column (maker)." in write(kernel, table="by_maker", format="csv")
    assert (kernel.root / "tables/by_maker.csv").read_text() == "maker,n\nFiat,1\nOpel,2\n"


def test_what_no_file_has_a_type_for_is_written_as_text(kernel: RunningServer) -> None:
    said = write(kernel, table="odd", format="parquet")
    assert "Written as text, since a file has no type for it: mixed, span, part, 7." in said
    made = pyarrow.parquet.read_table(kernel.root / "tables/odd.parquet").to_pylist()
    assert made[1] == {"mixed": "two", "span": "0 days 02:00:00", "part": "(4, 10]", "7": "2024-02"}
    assert made[2]["mixed"] is None


def test_an_arrow_table_is_written_too(kernel: RunningServer) -> None:
    write(kernel, table="arrow", format="tsv")
    assert (kernel.root / "tables/arrow.tsv").read_text() == "x\n1\n2\n"


def test_a_frame_of_polars_is_written_too(kernel: RunningServer) -> None:
    pytest.importorskip("polars")
    code = "import polars; fast = polars.DataFrame({'x': [1, 2], 'y': ['a', None]})"
    kernel.post("tools/executeCode", {"path": PATH, "arguments": {"code": code}})
    write(kernel, table="fast", format="parquet")
    made = pyarrow.parquet.read_table(kernel.root / "tables/fast.parquet").to_pylist()
    assert made == [{"x": 1, "y": "a"}, {"x": 2, "y": None}]


def test_a_kernel_without_pyarrow_writes_all_the_same(kernel: RunningServer) -> None:
    path = "tables/without.ipynb"
    hidden = "import sys; sys.modules['pyarrow'] = None; from ipykernel import kernelapp as k"
    start = ["-c", f"{hidden}; k.launch_new_instance()"]
    with kernel_of(kernel, path, "without", "python", start):
        code = "import pandas; codes = pandas.DataFrame({'code': ['01', '02'], 'n': [1, None]})"
        ran = kernel.post("tools/executeCode", {"path": path, "arguments": {"code": code}})
        assert ran["ok"], ran
        said = str(
            run(kernel, "data/write-table", active=path, table="codes", format="parquet")["reply"]
        )
    assert "The kernel has no pyarrow" in said
    made = pyarrow.parquet.read_table(kernel.root / "tables/codes.parquet").to_pylist()
    assert made == [{"code": "01", "n": 1}, {"code": "02", "n": None}]


def test_the_dry_run_knows_the_kernels_tables_and_runs_nothing(kernel: RunningServer) -> None:
    before, files = executed(kernel), sorted((kernel.root / "tables").iterdir())
    found = proposal(kernel, "write by_maker as Parquet to makers.parquet")
    assert values(found) == {
        "table": "by_maker", "format": "parquet", "target": "makers.parquet"
    }  # fmt: skip
    assert found["complete"] is True
    (table,) = [each for each in found["parameters"] if each["name"] == "table"]
    titles = [each["title"] for each in table["schema"]["oneOf"]]
    assert "cars (pandas.DataFrame, 3 × 4)" in titles
    assert not any("number" in each for each in titles)
    assert "table" not in values(proposal(kernel, "write sales as Parquet"))
    assert sorted((kernel.root / "tables").iterdir()) == files
    assert executed(kernel) == before


def test_what_is_no_table_of_the_kernel_is_refused(kernel: RunningServer) -> None:
    for name in ("number", "sales", "cars; import os"):
        why = why_not(kernel, table=name, format="csv")
        assert f"{name!r} is not one of the choices" in why
    assert "several columns called a" in why_not(kernel, table="twice", format="csv")


def test_a_file_that_is_there_is_not_overwritten(kernel: RunningServer) -> None:
    (kernel.root / "tables/mine.csv").write_text("mine")
    why = why_not(kernel, table="cars", format="csv", target="mine.csv")
    assert why.endswith("Choose another name, or delete the file first.")
    assert (kernel.root / "tables/mine.csv").read_text() == "mine"


def test_without_a_kernel_it_says_what_to_do(kernel: RunningServer) -> None:
    nbformat.write(nbformat.v4.new_notebook(), kernel.root / "tables/none.ipynb")
    why = "The notebook has no running kernel. Run the cell that creates the table first."
    found = proposal(kernel, "write df to CSV", "tables/none.ipynb")
    assert (found["complete"], found["description"]) == (False, why)
    assert why_not(kernel, "tables/none.ipynb", table="df", format="csv") == why
    assert why_not(kernel, None, table="df", format="csv") == (
        "No notebook is active. Open the one whose kernel has the table."
    )


def test_a_kernel_of_another_language_is_refused_by_its_name(kernel: RunningServer) -> None:
    path = "tables/other.ipynb"
    # By its specification; the process behind it does not matter.
    with kernel_of(kernel, path, "other", "R"):
        why = why_not(kernel, path, table="df", format="csv")
    assert "for Python kernels, not for R. Write the table in a cell" in why

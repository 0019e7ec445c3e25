"""Which files the templates read, and which a notebook's code reads."""

from __future__ import annotations

from pathlib import Path

from jupyter_datalayer_agent.datasets.files.columns import columns_of
from jupyter_datalayer_agent.workflows.templates.data_files import data_files_read, is_data_file


def test_the_data_files_that_code_reads_are_found_beside_the_notebook() -> None:
    files = ["a/cars.csv", "rain.parquet", "a/out.csv", "a/gone.csv"]
    sources = [
        "%matplotlib inline\npath = 'cars.csv'\ndf = pd.read_csv(path)",
        "rain = pd.read_parquet('../rain.parquet'); df.to_csv('out.csv')",
        "open('gone.csv', 'w'); pd.read_csv('../../cars.csv'); pd.read_csv('nowhere.csv')",
        "%%bash\ncat 'gone.csv'",
        "not Python (",
    ]
    assert data_files_read(sources, "a", files) == ["a/cars.csv", "rain.parquet"]


def test_a_compressed_table_is_a_data_file() -> None:
    files = ["a.csv", "b.TSV.gz", "c.parquet", "d.csv.bak", "e.py", "csv"]
    assert [each for each in files if is_data_file(each)] == ["a.csv", "b.TSV.gz", "c.parquet"]


def test_the_columns_of_a_file_are_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes('\ufeffname;"unit; price"\nx;1\n'.encode())
    assert columns_of(tmp_path / "a.csv") == ["name", "unit; price"]
    assert columns_of(tmp_path / "nowhere.csv") == []

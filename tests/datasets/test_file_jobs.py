"""New data files made of others, by the process that makes them."""

from __future__ import annotations

import asyncio
import csv
import datetime
import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

from jupyter_datalayer_agent.datasets.conversion_process import make_file
from jupyter_datalayer_agent.datasets.files.columns import columns_of
from jupyter_datalayer_agent.datasets.files.formats import SUFFIXES
from jupyter_datalayer_agent.protocol.errors import AgentError

TABLE = '''id,name,when,seen,x,ok,zip
1,=1+1,2024-01-02,2024-01-02 10:30:00,1.5,true,01234
2,"b, ""c""",2024-02-03,2024-02-03 11:45:30,,false,00001
3,Zoë 😀,2024-03-04,2024-03-04 00:00:01,2.25,true,99999
'''


async def _ignore(stage: str, fraction: float) -> None:
    assert 0 <= fraction <= 1


def make(
    operation: str, sources: list[Path], target: Path, format: str, **options: Any
) -> dict[str, Any]:
    files = [(each, each.name) for each in sources]
    return asyncio.run(make_file(operation, files, target, format, _ignore, options))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    """As other programs than the one that wrote it read it."""
    if path.suffix == ".parquet":
        return list(pyarrow.parquet.read_table(path).to_pylist())
    if path.suffix == ".xlsx":
        names, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        return [dict(zip(names, row, strict=True)) for row in rows]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("format", ["parquet", "excel", "jsonl", "tsv"])
def test_a_table_comes_back_the_same_from_every_format(table: Path, format: str) -> None:
    there = table.with_name(f"there{SUFFIXES[format]}")
    made = make("convert", [table], there, format)
    assert made["notes"] == []
    back = table.with_name("back.parquet")
    again = make("convert", [there], back, "parquet")
    assert (again["rows"], again["columns"]) == (made["rows"], made["columns"])
    direct = table.with_name("direct.parquet")
    make("convert", [table], direct, "parquet")
    assert rows_of(back) == rows_of(direct)
    assert rows_of(direct)[1] == {
        "id": 2,
        "name": 'b, "c"',
        "when": datetime.date(2024, 2, 3),
        "seen": datetime.datetime(2024, 2, 3, 11, 45, 30),
        "x": None,
        "ok": False,
        "zip": "00001",
    }


def test_a_text_that_looks_like_a_formula_is_a_text_in_excel(table: Path) -> None:
    target = table.with_name("b.xlsx")
    make("convert", [table], target, "excel")
    cell = openpyxl.load_workbook(target).active["B2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")


def test_what_excel_cannot_hold_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "odd.parquet"
    columns = {
        "big": [2**60 + 1],
        "list": [[1, 2]],
        "bell": ["a\x07b"],
        "zone": [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), source)
    made = make("convert", [source], tmp_path / "odd.xlsx", "excel")
    notes = " ".join(made["notes"])
    assert "Written as text, since Excel has no such values: big, list." in notes
    assert "Control characters were left out in: bell." in notes
    (row,) = rows_of(tmp_path / "odd.xlsx")
    assert (row["big"], row["list"], row["bell"]) == (str(2**60 + 1), "[1, 2]", "ab")
    assert row["zone"] == "2024-01-01 00:00:00+00"


def test_a_table_that_is_too_long_for_excel_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "long.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"n": pyarrow.array(range(1_048_576))}), source)
    with pytest.raises(AgentError, match="at most 1,048,575 rows"):
        make("convert", [source], tmp_path / "long.xlsx", "excel")
    assert [each.name for each in tmp_path.iterdir()] == ["long.parquet"]


def test_types_that_a_format_does_not_keep_are_reported(tmp_path: Path) -> None:
    source = tmp_path / "codes.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"code": ["10", "20"], "n": [1, 2]}), source)
    made = make("convert", [source], tmp_path / "codes.csv", "csv")
    assert made["notes"] == [
        "The format does not keep the type of: code (text, read again as int64)."
    ]


def test_rows_that_cannot_be_read_are_counted_and_the_source_is_left_as_it_was(
    tmp_path: Path,
) -> None:
    source = tmp_path / "bad.csv"
    content = b'a;b\r\n1;2\r\n3\r\n4;5\n"6;7\r\n8;9\r\n'
    source.write_bytes(content)
    made = make("convert", [source], tmp_path / "good.parquet", "parquet")
    report = made["read"][0]["report"]
    assert (report["rejected_rows"], made["rows"]) == (2, 3)
    assert source.read_bytes() == content


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "excel", "parquet"])
def test_missing_values_in_an_only_column_are_rows(tmp_path: Path, format: str) -> None:
    source = tmp_path / "one.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"n": [1, None, 3]}), source)
    made = make("convert", [source], tmp_path / f"o{SUFFIXES[format]}", format)
    assert made["rows"] == 3
    assert len(rows_of(tmp_path / f"o{SUFFIXES[format]}")) >= 2
    assert any("no value at all" in each for each in made["notes"]) == (format == "excel")


def test_a_file_that_is_there_is_not_overwritten(table: Path) -> None:
    target = table.with_name("b.csv")
    target.write_text("mine")
    with pytest.raises(AgentError, match=r"b\.csv already exists\."):
        make("convert", [table], target, "csv")
    assert target.read_text() == "mine"


def test_what_is_cancelled_leaves_nothing(table: Path) -> None:
    async def cancelled() -> None:
        reading = asyncio.Event()

        async def on_stage(stage: str, fraction: float) -> None:
            reading.set()

        target = table.with_name("b.parquet")
        task = asyncio.ensure_future(
            make_file("convert", [(table, "a.csv")], target, "parquet", on_stage)
        )
        await reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert [each.name for each in table.parent.iterdir()] == ["a.csv"]


def numbers(path: Path, rows: int) -> Path:
    path.write_text("n\n" + "\n".join(map(str, range(rows))) + "\n")
    return path


def test_a_sample_keeps_the_order_and_the_seed_says_which_rows(tmp_path: Path) -> None:
    source = numbers(tmp_path / "n.csv", 5_000)

    def drawn(name: str, **options: Any) -> list[int]:
        target = tmp_path / f"{name}.parquet"
        make("sample", [source], target, "parquet", **options)
        return [row["n"] for row in rows_of(target)]

    one, same, other = (
        drawn(name, rows=100, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert one == same == sorted(set(one))
    assert len(one) == len(other) == 100
    assert one != other
    assert len(drawn("d", share=0.1, seed=0)) == 500
    # Of 100 draws from a uniform distribution, the mean is within 5 standard errors of the middle.
    assert abs(sum(one) / 100 - 2500) < 5 * 5000 / 12**0.5 / 10


@pytest.mark.parametrize("column", ["file_row_number", "Row_Number", "__first"])
def test_a_column_may_be_called_as_duckdb_or_we_number_rows(tmp_path: Path, column: str) -> None:
    source, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    values = {"key": [3, 1, 2], column: ["c", "a", "b"]}
    pyarrow.parquet.write_table(pyarrow.table(values), source)
    pyarrow.parquet.write_table(pyarrow.table({"key": [1, 2, 3], "x": [10, 20, 30]}), other)
    sampled, joined = tmp_path / "sample.parquet", tmp_path / "joined.parquet"
    make("sample", [source], sampled, "parquet", rows=3, seed=0)
    assert rows_of(sampled) == rows_of(source)
    how = {"keys": ["key"], "other_keys": ["key"], "how": "inner", "many_to_many": False}
    make("join", [source, other], joined, "parquet", **how)
    assert [list(each.values()) for each in rows_of(joined)] == [
        [3, "c", 30], [1, "a", 10], [2, "b", 20]
    ]  # fmt: skip


def test_more_rows_than_there_are_cannot_be_drawn(tmp_path: Path) -> None:
    source = numbers(tmp_path / "n.csv", 5)
    with pytest.raises(AgentError, match="has 5 rows, which is fewer than 6"):
        make("sample", [source], tmp_path / "s.csv", "csv", rows=6, seed=0)


ORDERS = "order,customer,amount\n1,a,10\n2,a,20\n3,b,30\n4,,40\n5,z,50\n"
CUSTOMERS = "id,city,amount\na,Bern,1\nb,Basel,2\nc,Chur,3\n"


def join(folder: Path, orders: str, customers: str, **options: Any) -> dict[str, Any]:
    one, two = folder / "orders.csv", folder / "customers.csv"
    one.write_text(orders)
    two.write_text(customers)
    given = {"keys": ["customer"], "other_keys": ["id"], "how": "inner", "many_to_many": False}
    return make("join", [one, two], folder / "joined.csv", "csv", **{**given, **options})


def test_a_join_says_what_it_is_and_what_matches_nothing(tmp_path: Path) -> None:
    made = join(tmp_path, ORDERS, CUSTOMERS)
    found = made["join"]
    assert found["kind"] == "many-to-one"
    assert (found["first_repeated"], found["second_repeated"]) == (1, 0)
    assert (found["first_unmatched"], found["second_unmatched"]) == (2, 1)
    assert found["first_without_key"] == 1
    assert found["renamed"] == ["amount of customers.csv is called amount_2"]
    assert rows_of(tmp_path / "joined.csv") == [
        {"order": "1", "customer": "a", "amount": "10", "city": "Bern", "amount_2": "1"},
        {"order": "2", "customer": "a", "amount": "20", "city": "Bern", "amount_2": "1"},
        {"order": "3", "customer": "b", "amount": "30", "city": "Basel", "amount_2": "2"},
    ]


@pytest.mark.parametrize(("how", "rows"), [("inner", 3), ("left", 5), ("outer", 6)])
def test_what_a_join_keeps(tmp_path: Path, how: str, rows: int) -> None:
    import pandas as pd

    assert join(tmp_path, ORDERS, CUSTOMERS, how=how)["rows"] == rows
    made = {row["customer"] for row in rows_of(tmp_path / "joined.csv")}
    one, two = pd.read_csv(tmp_path / "orders.csv"), pd.read_csv(tmp_path / "customers.csv")
    two = two.rename(columns={"id": "customer"})
    expected = one.merge(two, how=how, on="customer")
    assert len(expected) == rows
    assert made == set(expected["customer"].fillna(""))


def test_a_many_to_many_join_is_refused_and_can_be_allowed(tmp_path: Path) -> None:
    customers = CUSTOMERS + "a,Biel,4\n"
    with pytest.raises(AgentError, match=r"many-to-many.*1 values of customer.*become 5"):
        join(tmp_path, ORDERS, customers)
    assert not (tmp_path / "joined.csv").exists()
    made = join(tmp_path, ORDERS, customers, many_to_many=True)
    assert (made["join"]["kind"], made["rows"]) == ("many-to-many", 5)


def test_keys_of_different_types_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"customer is text in orders\.csv, but id is int64"):
        join(tmp_path, ORDERS, "id,city\n1,Bern\n2,Basel\n")


def test_a_key_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"customers\.csv has no column customer\. It has: id"):
        join(tmp_path, ORDERS, CUSTOMERS, other_keys=["customer"])


@pytest.mark.parametrize("format", list(SUFFIXES))
def test_the_columns_of_any_data_file_are_known(table: Path, format: str) -> None:
    target = table.with_name(f"b{SUFFIXES[format]}")
    make("convert", [table], target, format)
    assert columns_of(target) == ["id", "name", "when", "seen", "x", "ok", "zip"]


def test_a_file_that_is_damaged_has_no_columns(tmp_path: Path) -> None:
    for name in ("a.parquet", "a.xlsx"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        assert columns_of(tmp_path / name) == []

"""Benchmark cases of ``/data``."""

from __future__ import annotations

from ....protocol.services import ActionProposal
from ...benchmarks import Case, Expect

_TWO = ("cars.ipynb", "cars.csv", "makers.csv", "survey.xlsx")


def _incomplete(proposal: ActionProposal) -> str | None:
    return "the proposal is complete" if proposal.complete else None


CASES = [
    Case(
        "data-convert-parquet",
        "Convert cars.csv to Parquet",
        Expect("data", "convert", {"data": "cars.csv", "format": "parquet"}),
    ),
    Case(
        "data-convert-spreadsheet",
        "Turn survey.xlsx into CSV",
        Expect("data", "convert", {"data": "survey.xlsx", "format": "csv"}),
        files=_TWO,
    ),
    Case(
        "data-convert-named",
        "/data save cars.csv as vehicles.jsonl",
        Expect("data", "convert", {"data": "cars.csv", "target": "vehicles.jsonl"}),
        kind="parameters",
    ),
    Case(
        "data-convert-the-only-file",
        "/data convert the file to Excel",
        Expect("data", "convert", {"data": "cars.csv", "format": "excel"}),
        kind="parameters",
    ),
    Case(
        "data-convert-open-file",
        "/data convert to Parquet",
        Expect("data", "convert", {"format": "parquet"}, missing=["data"], check=_incomplete),
        kind="open",
        files=_TWO,
    ),
    Case(
        "data-convert-open-format",
        "/data convert cars.csv",
        Expect("data", "convert", {"data": "cars.csv"}, missing=["format"], check=_incomplete),
        kind="open",
    ),
    Case(
        "data-convert-file-that-is-not-there",
        "/data convert trains.csv to Parquet",
        Expect("data", "convert", missing=["data"], check=_incomplete),
        kind="open",
    ),
    Case(
        "data-convert-not",
        "/data convert cars.csv to Parquet, not Excel",
        Expect("data", "convert", {"format": "parquet"}),
        kind="parameters",
    ),
    Case(
        "data-sample-rows",
        "Draw a random sample of 100 rows of cars.csv",
        Expect("data", "sample", {"data": "cars.csv", "rows": 100}, missing=["percent"]),
        kind="parameters",
    ),
    Case(
        "data-sample-percent",
        "/data sample 10 % of cars.csv with seed 7",
        Expect("data", "sample", {"percent": 10, "seed": 7}, missing=["rows"]),
        kind="parameters",
    ),
    Case(
        "data-sample-open",
        "/data a random sample of cars.csv",
        Expect("data", "sample", missing=["rows", "percent"], check=_incomplete),
        kind="open",
    ),
    Case(
        "data-join",
        "Join cars.csv with makers.csv on origin",
        Expect("data", "join", {"data": "cars.csv", "other": "makers.csv", "keys": ["origin"]}),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "data-join-open",
        "/data join cars.csv and makers.csv",
        Expect("data", "join", {"other": "makers.csv"}, missing=["keys", "many_to_many"]),
        kind="open",
        files=_TWO,
    ),
    Case(
        "data-learn",
        "/data why is Parquet better than CSV for types?",
        Expect("data", check=None),
    ),
    Case("data-learn-join", "/data what is a many-to-many join?", Expect("data", "learn")),
    Case(
        "data-brainstorm",
        "/data which format should I use for ten million rows?",
        Expect("data", "brainstorm"),
    ),
    Case(
        "data-misspelt",
        "/data covnert cars.csv to parqet",
        Expect("data", "convert", {"data": "cars.csv", "format": "parquet"}),
        kind="misspelt",
    ),
    Case(
        "data-german",
        "/data konvertiere cars.csv nach Parquet",
        Expect("data", "convert", {"data": "cars.csv", "format": "parquet"}),
        kind="language",
    ),
    Case(
        "data-french",
        "/data convertis cars.csv en Excel",
        Expect("data", "convert", {"data": "cars.csv", "format": "excel"}),
        kind="language",
    ),
    Case(
        "data-two",
        "Convert cars.csv to Parquet and export the notebook as HTML",
        Expect("data", "convert"),
        kind="two",
    ),
    Case(
        "data-history",
        "Excel, please",
        Expect("data", "convert", {"data": "cars.csv", "format": "excel"}),
        kind="history",
        history=("/data convert cars.csv to Parquet",),
    ),
    Case(
        "data-column-is-not-a-file",
        "Convert the column origin to a category",
        Expect(),
        kind="refused",
    ),
    Case("data-frame-join", "Merge df and prices on the date", Expect(), kind="refused"),
    Case("data-load", "Load cars.csv and show the first rows", Expect(), kind="refused"),
    Case("data-read-excel", "Read survey.xlsx with pandas", Expect(), kind="refused", files=_TWO),
    Case("data-head", "Show a sample of the rows", Expect(), kind="refused"),
    Case("data-delete", "Delete cars.csv", Expect(), kind="refused"),
    Case(
        "data-profile",
        "/data profile cars.csv",
        Expect("data", "profile", {"data": "cars.csv"}, missing=["target", "notebook"]),
        kind="parameters",
    ),
    Case(
        "data-register",
        "Register cars.csv as a data set",
        Expect("data", "register", {"data": "cars.csv"}, missing=["name"]),
        kind="parameters",
    ),
    Case(
        "data-register-named",
        "/data make a data set of makers.csv called makers",
        Expect("data", "register", {"data": "makers.csv", "name": "makers"}),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "data-register-open",
        "/data register a data set",
        Expect("data", "register", missing=["data"], check=_incomplete),
        kind="open",
        files=_TWO,
    ),
    Case(
        "data-write-table",
        "/data write the table cars to Parquet",
        Expect("data", "write-table", {"table": "cars", "format": "parquet"}),
        kind="parameters",
    ),
    Case(
        "data-write-table-named",
        "/data save the kernel's table prices as prices.xlsx",
        Expect(
            "data",
            "write-table",
            {"table": "prices", "format": "excel", "target": "prices.xlsx"},
        ),
        kind="parameters",
    ),
    Case(
        "data-write-table-open",
        "/data write a table of the kernel to CSV",
        Expect("data", "write-table", {"format": "csv"}, missing=["table"], check=_incomplete),
        kind="open",
    ),
    Case(
        "data-write-table-german",
        "/data schreibe die Tabelle cars des Kernels als Excel",
        Expect("data", "write-table", {"table": "cars", "format": "excel"}),
        kind="language",
    ),
    Case("data-frame-to-csv", "Save df as a CSV file", Expect(), kind="refused"),
    Case("data-write-frame", "Write the data frame to results.parquet", Expect(), kind="refused"),
    Case("data-results", "Save the results of the model to Excel", Expect(), kind="refused"),
    Case("data-set-question", "What is in the data set?", Expect(), kind="refused"),
]

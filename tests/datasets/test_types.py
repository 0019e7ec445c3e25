"""What is inferred of a file, and that nothing is lost to it."""

from __future__ import annotations

import datetime
from pathlib import Path

from .support import convert


def test_types_rest_on_the_whole_file_and_lose_nothing(tmp_path: Path) -> None:
    rows = "".join(f"{number},{number}.5,{number}\n" for number in range(30_000))
    made = convert(tmp_path, "late.csv", "a,b,c\n" + rows + "x,1,1.5\n")
    assert made.types == {"a": "text", "b": "float64", "c": "float64"}
    assert made.rows()[-1] == ("x", 1.0, 1.5)
    assert "a is text: 1 of its 30,001 values are not whole numbers." in made.report["notes"]


def test_numbers_that_would_lose_digits_stay_text(tmp_path: Path) -> None:
    content = "zip,account,big,n\n01234,12345678901234567890,9007199254740993,+5\n10000,1,2,6\n"
    made = convert(tmp_path, "n.csv", content)
    assert made.types == {"zip": "text", "account": "text", "big": "int64", "n": "float64"}
    assert made.rows()[0] == ("01234", "12345678901234567890", 9007199254740993, 5.0)


def test_a_mark_for_no_value_is_one_only_where_it_is_no_text(tmp_path: Path) -> None:
    content = "n,country,sex,size\n1,NA,male,NA\nNA,SE,NA,Tall\n,,female, NA \n"
    made = convert(tmp_path, "na.csv", content)
    assert made.rows() == [
        (1, "NA", "male", None),
        (None, "SE", None, "Tall"),
        (None, None, "female", None),
    ]
    assert made.report["notes"] == [
        "NA is a value, not a gap, in country.",
        "NA means a missing value in sex.",
        "NA means a missing value in size.",
    ]


def test_dates_are_read_where_there_is_one_way_to_read_them(tmp_path: Path) -> None:
    content = (
        "iso;at;eu;unclear;flag;price\n"
        "2024-02-01;2024-02-01 10:00:00;31/12/2024;01/02/2024;true;1,5\n"
        "2024-02-02;2024-02-02T11:30:00;01/02/2024;02/03/2024;False;-2,25\n"
    )
    made = convert(tmp_path, "dates.csv", content)
    assert list(made.types.values()) == ["date", "timestamp", "date", "text", "bool", "float64"]
    assert made.report["delimiter"] == "semicolon"
    assert made.rows()[1] == (
        datetime.date(2024, 2, 2),
        datetime.datetime(2024, 2, 2, 11, 30),
        datetime.date(2024, 2, 1),
        "02/03/2024",
        False,
        -2.25,
    )
    assert made.report["notes"] == [
        "Numbers of price are written as 1234,5.",
        "unclear is text: its dates may have the day first or the month.",
    ]


def test_rows_keep_their_order(tmp_path: Path) -> None:
    made = convert(tmp_path, "o.csv", "n,t\n" + "".join(f"{n},a{n}\n" for n in range(400_000)))
    assert [row[0] for row in made.rows()] == list(range(400_000))


def test_lines_before_the_table_and_a_missing_header(tmp_path: Path) -> None:
    made = convert(tmp_path, "t.csv", "Report of 2024\n\na,b\n1,2\n3,4\n")
    assert made.rows() == [(1, 2), (3, 4)]
    made = convert(tmp_path, "h.tsv", "1\tx\n2\ty\n")
    assert (made.types, made.report["header"]) == ({"column1": "int64", "column2": "text"}, False)


def test_an_excel_sheet_is_read_row_by_row(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.create_sheet("Empty", 0)
    sheet = book["Sheet"]
    day = datetime.datetime(2024, 5, 6)
    for row in [["Sales of May"], [], ["id", "when", "name"], [1, day, "a,b"], [2.5, day, None]]:
        sheet.append(row)
    book.save(tmp_path / "x.xlsx")
    made = convert(tmp_path, "x.xlsx", (tmp_path / "x.xlsx").read_bytes())
    assert made.types == {"id": "float64", "when": "date", "name": "text"}
    assert made.rows()[0] == (1.0, day.date(), "a,b")
    assert "Only the sheet Sheet was read" in made.report["notes"][0]


def test_facts_have_the_size_and_three_rows(tmp_path: Path) -> None:
    content = "n,t\n" + "".join(f"{n},{'long' * 100}\n" for n in range(1000))
    made = convert(tmp_path, "f.csv", content)
    assert made.facts["size"] == made.path.stat().st_size
    assert 400_000 < made.facts["memory"] < 600_000
    assert [row["n"] for row in made.facts["sample"]] == [0, 1, 2]
    assert len(made.facts["sample"][0]["t"]) == 200
    assert made.steps[0].stage == "checking"

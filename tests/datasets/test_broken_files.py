"""Broken files: each is converted with a report, or refused with a reason."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.errors import AgentError

from .support import convert

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\x01\x02" * 400


def refused(folder: Path, name: str, content: bytes | str) -> str:
    with pytest.raises(AgentError) as raised:
        convert(folder, name, content)
    assert raised.value.code == "invalid_request"
    assert not (folder / "work" / "table.parquet").exists()
    return raised.value.message


def test_a_quote_that_is_never_closed_costs_its_own_line_only(tmp_path: Path) -> None:
    lines = [f"{number},x\n" for number in range(30_000)]
    made = convert(tmp_path, "q.csv", "id,name\n0,y\n" + '7,"open\n' + "".join(lines))
    assert made.rejected == {3: "a quote is opened in it and never closed"}
    assert made.facts["rows"] == 30_001
    assert made.rows()[:2] == [(0, "y"), (0, "x")]


def test_text_after_a_closing_quote_is_reported_with_its_line(tmp_path: Path) -> None:
    rest = "".join(f"{number},z\n" for number in range(60))
    made = convert(tmp_path, "q.csv", 'id,name\n1,"a b"\n2,"c"d\n' + rest)
    assert list(made.rejected) == [3]
    assert "quotes" in made.rejected[3]
    assert made.facts["rows"] == 61


@pytest.mark.parametrize("quote", ['\\"', '""'])
def test_a_value_may_end_with_an_escaped_quote(tmp_path: Path, quote: str) -> None:
    made = convert(tmp_path, "q.csv", f'id,said\n1,"he said {quote}hi{quote}"\n2,"ok"\n')
    assert made.rejected == {}
    assert made.rows() == [(1, 'he said "hi"'), (2, "ok")]


def test_lines_of_two_encodings_are_read_each_as_what_it_is(tmp_path: Path) -> None:
    content = (
        "name\nMalmö\n".encode() + "Göteborg\n".encode("cp1252") + "naïve “x”\n".encode("cp1252")
    )
    assert "cp1252: Göteborg" in refused(tmp_path, "mixed.csv", content)
    made = convert(tmp_path, "mixed.csv", content, encoding="cp1252")
    assert made.rows() == [("Malmö",), ("Göteborg",), ("naïve “x”",)]
    assert "2 lines are not UTF-8" in made.report["notes"][0]
    assert "3, 4" in made.report["notes"][0]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
def test_wide_encodings_are_read_with_a_mark_and_without(tmp_path: Path, encoding: str) -> None:
    made = convert(tmp_path, "wide.csv", "name,n\r\nÅrsta,1\r\n東京,2\r\n".encode(encoding))
    assert made.rows() == [("Årsta", 1), ("東京", 2)]
    assert list(made.types) == ["name", "n"]


def test_ragged_rows_are_counted_and_the_first_are_named(tmp_path: Path) -> None:
    good = "".join(f"{number},{number},{number}\n" for number in range(100))
    made = convert(tmp_path, "ragged.csv", "a,b,c\n1,2\n1,2,3,4\n" + good + "9,9\n" * 50)
    assert (made.facts["rows"], made.report["rejected_rows"]) == (100, 52)
    assert made.rejected[2] == "it has 2 values instead of 3"
    assert made.rejected[3] == "it has 4 values instead of 3"
    assert len(made.rejected) == 20
    assert made.types == {"a": "int64", "b": "int64", "c": "int64"}


@pytest.mark.parametrize("content", [b"", b"\n\n  \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    assert "empty" in refused(tmp_path, "e.csv", content) or content.startswith(b"\xef")


@pytest.mark.parametrize("content", ["a,b,c\n", "a,b,c"])
def test_a_header_alone_is_a_table_without_rows(tmp_path: Path, content: str) -> None:
    made = convert(tmp_path, "head.csv", content)
    assert (made.facts["rows"], list(made.types)) == (0, ["a", "b", "c"])
    assert "no rows" in made.report["notes"][-1]


def test_a_picture_named_csv_is_refused_as_what_it_is(tmp_path: Path) -> None:
    assert "is a PNG picture" in refused(tmp_path, "photo.csv", PNG)
    assert "binary data" in refused(tmp_path, "what.csv", bytes(range(256)) * 40)


def test_nul_bytes_are_left_out_and_reported(tmp_path: Path) -> None:
    made = convert(tmp_path, "nul.csv", b"a,b\n1,x\0y\n2,z\n")
    assert made.rows() == [(1, "xy"), (2, "z")]
    assert "NUL" in made.report["notes"][0]
    assert "line 2" in made.report["notes"][0]


def test_columns_of_the_same_name_are_distinguished(tmp_path: Path) -> None:
    made = convert(tmp_path, "dup.csv", "a,A,,a\n1,2,3,4\n")
    assert list(made.types) == ["a", "A_2", "column3", "a_3"]
    assert "duplicate names" in made.report["notes"][0]


def test_a_line_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    made = convert(tmp_path, "huge.csv", "a,b\n1," + "x" * 9_000_000 + "\n2,z\n")
    assert made.rows() == [(2, "z")]
    assert made.rejected == {2: "it is longer than 4 MB"}


def test_a_wrong_suffix_does_not_matter(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2]}), tmp_path / "t")
    made = convert(tmp_path, "t.csv", (tmp_path / "t").read_bytes())
    assert (made.report["format"], made.facts["rows"]) == ("parquet", 2)
    assert "it is Parquet" in made.report["notes"][0]
    assert "not a Parquet file" in refused(tmp_path, "t.parquet", b"\0\x01nonsense" * 100)


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": list(range(5000))}), tmp_path / "t")
    content = bytearray((tmp_path / "t").read_bytes())
    content[100:400] = b"\xff" * 300
    assert "damaged Parquet" in refused(tmp_path, "t.parquet", bytes(content))
    assert "damaged Parquet" in refused(tmp_path, "t.parquet", bytes(content[:-50]))


def test_a_workbook_that_unpacks_to_gigabytes_is_not_opened(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(150):
                sheet.write(b" " * 1_000_000)
    assert len(packed.getvalue()) < 1_000_000
    assert "unpack to" in refused(tmp_path, "bomb.xlsx", packed.getvalue())


def test_a_zip_archive_and_a_broken_workbook_are_refused(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data.csv", "a\n1\n")
    assert "zip archive" in refused(tmp_path, "data.xlsx", packed.getvalue())
    assert "damaged" in refused(tmp_path, "data.xlsx", packed.getvalue()[:60])


def test_lines_that_are_no_json_objects_are_reported(tmp_path: Path) -> None:
    made = convert(tmp_path, "x.jsonl", '{"a":1}\nnot json\n{"a":2,"b":"2024-01-02"}\n[1]\n\n')
    assert made.facts["rows"] == 2
    assert list(made.rejected) == [2, 4]
    assert made.types == {"a": "int64", "b": "date"}
    assert "No line" in refused(tmp_path, "y.jsonl", '{"a":\n{"b":\n')

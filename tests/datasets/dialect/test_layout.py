"""Near misses of what a text table looks like."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.datasets.dialect.file import BLOCK, EncodingScan, inspect_file
from jupyter_datalayer_agent.datasets.dialect.layout import Unreadable, find_layout
from jupyter_datalayer_agent.datasets.dialect.numbers import number_format


def rows(head: str, row: str, count: int = 30) -> str:
    body = "".join(row.format(n=n, m=n * 7 % 31) + "\n" for n in range(count))
    return (head + "\n" if head else "") + body


def test_rows_of_other_lengths_are_no_error_where_the_header_has_one_name_less() -> None:
    found = find_layout("size,price\nsmall,1,2\nlarge,3\nlarge,5,6\n")
    assert found.names == ["", "size", "price"]


@pytest.mark.parametrize(
    ("text", "delimiter", "names"),
    [
        (rows("Name;Preis", "a{n};{n},5"), ";", ["Name", "Preis"]),
        (rows("text;n", "one, two, {n};{n}"), ";", ["text", "n"]),
        (rows("text\tn", "a; b, {n}\t{n}"), "\t", ["text", "n"]),
        (rows("a,b", '"x;{n}",{m}'), ",", ["a", "b"]),
        (rows("time,what", "12:{n:02},a|b"), ",", ["time", "what"]),
        (rows("city", "New York {n}"), ",", ["city"]),
        (rows("said", "yes. no. {n}"), ",", ["said"]),
        (rows("a^b", "{n}^x"), "^", ["a", "b"]),
        (rows("x y", "{n}   {m}.5"), " ", ["x", "y"]),
        ("a,b\n", ",", ["a", "b"]),
        ("a;b", ";", ["a", "b"]),
        ("a\n", ",", ["a"]),
    ],
)
def test_the_delimiter_is_the_one_that_makes_a_table(
    text: str, delimiter: str, names: list[str]
) -> None:
    layout = find_layout(text)
    assert (layout.delimiter, layout.names, layout.header) == (delimiter, names, True)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (rows("country,2019,2020", "Land {n},{m},{n}"), True),
        (rows("country,2019,2020", "Land {n},{n}.5,{m}.5"), True),
        (rows("2018,2019,2020", "{m},{n},{m}"), True),
        (rows("2018", "{n}.5"), True),
        (rows("id,2020-01-01,NA", "{n},{m},{m}"), True),
        (rows("name,5%", "x{n},{n}"), True),
        (rows("first,last", "Ann,Lee{n}"), True),
        (rows("colour,size", "red,big"), True),
        (rows("", "{n},{m}.5,{n}"), False),
        (rows("", "x{n},{n}"), False),
        (rows("", "{n},2020-01-{m:02}"), False),
        (rows("", "red,true"), False),
        (rows("", "{m}%,{n}%"), False),
        (rows("", "{n}.5 {m}.25"), False),
    ],
)
def test_the_first_row_is_the_header_unless_it_plainly_is_data(text: str, header: bool) -> None:
    assert find_layout(text).header is header


@pytest.mark.parametrize(
    ("values", "decimal", "thousands"),
    [
        (["1,5", "2,25"], ",", ""),
        (["1.234,5", "2"], ",", "."),
        (["1,234.5", "2"], ".", ","),
        (["1.234.567", "1"], ",", "."),
        (["1,23,456", "5"], ".", ","),
        (["1'234.5"], ".", "'"),
        (["1 234,5"], ",", " "),
        (["0.123", "0.456"], ".", ""),
        (["1.234", "5.67"], ".", ""),
        (["-1,5", "+2,5", "NA", "?"], ",", ""),
        (["(1,5)", "2,5"], ",", ""),
    ],
)
def test_how_numbers_are_written(values: list[str], decimal: str, thousands: str) -> None:
    form = number_format(values, delimiter=";")
    assert form is not None
    assert (form.decimal, form.thousands, form.ambiguous) == (decimal, thousands, False)


@pytest.mark.parametrize(
    "values",
    [
        ["1.2.2023", "2.2.2023"],
        ["192.168.0.1"],
        ["1,2,3"],
        ["a1"],
        ["1-2"],
        ["NA", ""],
        ["1.2,3,4"],
    ],
)
def test_what_is_no_number(values: list[str]) -> None:
    assert number_format(values) is None


@pytest.mark.parametrize(
    ("values", "others", "delimiter", "decimal"),
    [
        (["1.234", "2.345"], [], ",", "."),
        (["1.234", "2.345"], [","], ";", ","),
        (["1,234", "2,345"], [], ";", ","),
        (["1,234", "2,345"], [], "\t", ","),
        (["1,234", "2,345"], ["."], ";", "."),
        (["1,234", "2,345"], [], ",", "."),
    ],
)
def test_a_number_that_can_be_read_in_two_ways_is_read_as_the_other_columns_are(
    values: list[str], others: list[str], delimiter: str, decimal: str
) -> None:
    form = number_format(values, others, delimiter)
    assert form is not None
    assert (form.decimal, form.ambiguous) == (decimal, True)
    given = number_format(values, others, delimiter, "," if decimal == "." else ".")
    assert given is not None
    assert (given.decimal == decimal, given.ambiguous) == (False, False)


def test_the_users_delimiter_comes_before_any_other() -> None:
    assert find_layout(rows("a,b", "{n};x,{n};y"), delimiter=";").delimiter == ";"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "nothing but white space"),
        (b"<html><body>x</body></html>", "a web page"),
        (b"a,b\n" + b"1,2\n" * 9 + b'"3,4\n5,6\n7,8\n', "has a quote in line 11"),
        ("a,é\n1,ü\n".encode() + b"2,\xe9\n", "mixes encodings"),
    ],
)
def test_what_is_not_read_says_why(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=reason):
        inspect_file(str(path), {})


@pytest.mark.parametrize("choices", [{}, {"encoding": "cp1252"}])
@pytest.mark.parametrize(
    "content",
    [
        b"Ort,n\n" + ("Köln,1\n".encode() + "Köln,1\n".encode("cp1252")) * 30,
        # As long as the scan's blocks, and more words than the ranking of encodings needs.
        b"Ort,n\n" + "Köln,1\n".encode() * (2 * BLOCK // 8) + "Köln,1\n".encode("cp1252") * 9000,
        b"Ort,n\n" + b"".join(b"K\xf6ln%d,1\n" % n for n in range(3000)) + "é,1\n".encode() * 3000,
    ],
)
def test_a_file_of_two_encodings_is_refused_whatever_encoding_is_given(
    tmp_path: Path, content: bytes, choices: dict[str, str]
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match="mixes encodings"):
        inspect_file(str(path), choices)


def test_a_line_that_may_be_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    content = b"Ort,n\n" + "Köln,1\n".encode("cp1252") * 60 + "München,1\n".encode()
    path.write_bytes(content)
    how = inspect_file(str(path), {"encoding": "cp1252"})
    assert "could also be UTF-8, with words such as 'München'" in how["damaged"][0]


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("gb18030", "男女"), ("cp874", ["รถ", "ลบ", "บวก"]), ("cp949", "월화수목")],
)
def test_words_that_are_utf8_by_chance_are_of_the_encoding_of_the_others(
    tmp_path: Path, encoding: str, words: list[str]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,v\n" + "".join(f"1,{each}\n" for each in words) * 30, encoding=encoding)
    asked = inspect_file(str(path), {})
    assert set(bytes.fromhex(asked["undecided"]).decode(encoding).split()) == set(words)
    assert inspect_file(str(path), {"encoding": encoding})["records"] == len(words) * 30


def test_a_letter_that_is_divided_between_two_blocks_is_no_fault() -> None:
    scan = EncodingScan()
    for block in ("Kö".encode()[:2], "Kö".encode()[2:] + b"ln\nM", b"\xfcnchen\n"):
        scan.feed(block)
    scan.feed(b"", final=True)
    assert list(scan.words) == [b"M\xfcnchen"]

"""Where NA and the like are values, and where they mean that there is none."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.datasets.dialect.layout import find_layout
from jupyter_datalayer_agent.datasets.dialect.missing import values_of

COUNTRIES = ["DE", "FR", "NA", "US"]


def table(*columns: list[str], delimiter: str = ",") -> str:
    names = delimiter.join(f"c{place}" for place in range(len(columns)))
    rows = [delimiter.join(each) for each in zip(*columns, strict=True)]
    return "\n".join([names, *rows * 8]) + "\n"


@pytest.mark.parametrize(
    ("column", "marker", "is_value"),
    [
        (COUNTRIES, "NA", True),
        (["EU", "NA", "APAC", "LATAM"], "NA", True),
        (["male", "NA", "female", "male"], "NA", False),
        (["Adelie", "Gentoo", "NA", ""], "NA", False),
        (["Low", "None", "High", "Low"], "None", True),
        (["red", "blue", "N/A", "red"], "N/A", False),
        (["TRUE", "FALSE", "NA", "TRUE"], "NA", False),
        (["1.5", "NA", "2", "3"], "NA", False),
        (["2024-01-02", "NA", "2024-01-03", ""], "NA", False),
        (["NA", "NA", "NA", "NA"], "NA", True),
        (['"male"', '"NA"', '"female"', "NA"], "NA", True),
        (['"DE"', "NA", '"FR"', '"US"'], "NA", False),
        (["OPEN", "CLOSED", "NULL", "OPEN"], "NULL", False),
        (["OPEN", "SHUT", "NULL", "OPEN"], "NULL", False),
        (["NULL", "NULL", "", "NULL"], "NULL", False),
        (["male", "nan", "female", "male"], "nan", False),
        (["open", '"null"', "closed", "open"], "null", True),
        (['"Lee, Ann"', '"Smith ""Bo"" J"', '"NA"', '"x"'], "NA", True),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_marker_is_a_value_where_it_is_written_as_one(
    column: list[str], marker: str, is_value: bool, delimiter: str
) -> None:
    text = table(column, ["1", "2", "3", "4"], delimiter=delimiter)
    values = values_of(text, "", find_layout(text, delimiter=delimiter))
    assert (marker in values.get(0, [])) is is_value


@pytest.mark.parametrize(
    ("column", "is_value"),
    [(["EU", "NA", "APAC", "LATAM"], False), (COUNTRIES, True), (["NA"] * 4, False)],
)
def test_what_means_a_missing_number_means_a_missing_text_except_among_codes(
    column: list[str], is_value: bool
) -> None:
    text = table(column, ["1", "NA", "3", "4"])
    assert ("NA" in values_of(text, "", find_layout(text)).get(0, [])) is is_value


def test_of_a_table_divided_by_white_space() -> None:
    text = table(['"DE"', '"NA"', '"FR"', "NA"], ["1", "2", "3", "4"], delimiter=" ")
    assert "NA" in values_of(text, "", find_layout(text))[0]


def test_quotes_say_nothing_where_missing_numbers_are_quoted() -> None:
    text = table(['"male"', '"NA"', '"female"', '"male"'], ['"1"', '"NA"', '"3"', '"4"'])
    assert values_of(text, "", find_layout(text)) == {}


def test_what_programs_write_is_a_code_among_many_codes() -> None:
    codes = ["nan", *(f"{first}{second}k" for first in "abcd" for second in "efg")]
    text = table(codes, [str(number) for number in range(len(codes))])
    assert "nan" in values_of(text, "", find_layout(text))[0]

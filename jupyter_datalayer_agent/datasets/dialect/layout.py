"""Where the table of a text is: its delimiter, its header, and the numbers of its columns.

Its source also runs in kernels (``SOURCES``).
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from .numbers import NumberFormat, is_missing, is_number, number_format

DELIMITERS = (",", ";", "\t", "|", " ")
WORDS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar", " ": "white space"}
MOST_ROWS = 500
MOST_PREAMBLE = 50
LEAST_SHARE = 0.5
"""The least share of rows with as many values as the table has columns."""
_OPEN_QUOTE_LINES = 50
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d{1,2}:\d\d.*)?|\d{1,2}:\d\d(:\d\d(\.\d+)?)?"
)
_SPACED_FIELD = re.compile(r'"[^"]*(?:""[^"]*)*"|\S+')
_BETWEEN = re.compile(r"(?<=\d)[^\w](?=\d)")
_WORDS_OF_LOGIC = {"true", "false"}


class Unreadable(Exception):
    """The file is not a readable table; the text tells the user why, after "it"."""


@dataclass
class Layout:
    """``skip`` lines precede the header, or the table where there is no ``header``. ``names`` are
    those of the header, one for each column; numbers where there is none. ``delimiter`` is a space
    for any white space.

    ``row_names``: the header has no name for the first column. ``trailing``: rows end with a
    delimiter after the last column. ``comment_header``: the line before the table, which begins
    with ``#``, is the header. ``counter``: the first column has no name and counts the rows.
    ``spaced``: values have a space before them.

    ``numbers`` has the format of each column whose numbers are not plain, or may not be, by place;
    ``codes`` are the places of columns of digits with leading zeros. ``fractions``: a column of
    plain numbers has decimal points. ``between`` has the marks between digits in columns that are
    no numbers.
    """

    delimiter: str = ","
    escape: str = '"'
    skip: int = 0
    header: bool = True
    names: list[str] = field(default_factory=list)
    row_names: bool = False
    trailing: bool = False
    comment_header: bool = False
    counter: bool = False
    spaced: bool = False
    numbers: dict[int, NumberFormat] = field(default_factory=dict)
    codes: list[int] = field(default_factory=list)
    fractions: bool = False
    between: str = ""


def find_layout(
    text: str, tail: str = "", delimiter: str | None = None, decimal: str | None = None
) -> Layout:
    """Find the table in the beginning of a file, up to the end of a line, and in ``tail``, lines of
    its end. What the user decided is given. Raises ``Unreadable``."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    # A value may end with an escaped quote: the two quotes there are not a doubled one.
    escape = "\\" if '\\"' in text and '""' not in text.replace('\\"', "") else '"'
    declared = re.match(r'\s*"?sep=(.)"?\r?\n', text)  # the first line of Excel's
    if declared:
        delimiter = delimiter or declared[1]
    first = text[: declared.end()].count("\n") if declared else 0
    found = [
        table
        for each in ([delimiter] if delimiter else DELIMITERS)
        if (table := _Table.find(text, each, escape, first)) is not None
    ]
    table = max(found, key=lambda each: each.score, default=None)
    if table is None and delimiter is None and (other := _other_delimiter(text, first)):
        table = _Table.find(text, other, escape, first)
    if table is None:
        table = _Table.single(text, escape, first)
    return table.layout(records_of(tail, table.delimiter, escape), decimal)


def records_of(text: str, delimiter: str, escape: str = '"') -> list[list[str]]:
    """The records that are not empty."""
    return [row for _, row in _numbered_records(text, delimiter, escape)]


def reader(lines: Iterable[str], delimiter: str, escape: str = '"') -> Iterable[list[str]]:
    """The records of lines, empty ones too, as pandas divides them."""
    if delimiter == " ":
        return (_SPACED_FIELD.findall(line) if '"' in line else line.split() for line in lines)
    return csv.reader(
        lines,
        delimiter=delimiter,
        doublequote=escape == '"',
        escapechar=None if escape == '"' else escape,
    )


class _Table:
    """What a text is, read with one delimiter: ``rows`` begin with the header, if there is one;
    each has the number of its line, from 0."""

    def __init__(
        self,
        delimiter: str,
        escape: str,
        before: list[list[str]],
        rows: list[tuple[int, list[str]]],
    ) -> None:
        self.delimiter = delimiter
        self.escape = escape
        self.before = before
        self.rows = rows
        self.width = _width(row for _, row in rows)
        body = rows[1:] or rows
        good = sum(len(row) == self.width for _, row in body) / len(body)
        fields = [each for _, row in body for each in row]
        clean = sum(_is_clean(each, delimiter) for each in fields) / max(len(fields), 1)
        self.share = good
        # Another delimiter may divide the line that is above the table with this one.
        weight = (0.6 if delimiter == " " else 1) * (0.9 if _titles(before) else 1)
        self.score = (round(good * clean * weight, 2), self.width)

    @classmethod
    def find(cls, text: str, delimiter: str, escape: str, first: int) -> _Table | None:
        """The table, None if the text is none with this delimiter."""
        records = _numbered_records(text, delimiter, escape, first)
        start = _start([row for _, row in records])
        if start is None:
            return None
        rows = records[start:]
        before = [row for _, row in records[:start]]
        table = cls(delimiter, escape, before, rows)
        return table if delimiter != " " or table._is_measured() else None

    @classmethod
    def single(cls, text: str, escape: str, first: int) -> _Table:
        """A table of one column: hardly a line has a delimiter outside quotes."""
        records = _numbered_records(text, ",", escape, first)
        comments = 0
        while comments < len(records) - 1 and records[comments][1][0].startswith("#"):
            comments += 1
        rows = records[comments:]
        if not rows:
            raise Unreadable("has no rows")
        if len(rows[0][1]) > 1 or sum(len(row) > 1 for _, row in rows) > len(rows) * 0.02:
            raise Unreadable("is not a table: its lines do not have the same number of values")
        return cls(",", escape, [row for _, row in records[:comments]], rows)

    def layout(self, tail: list[list[str]], decimal: str | None) -> Layout:
        """See ``find_layout``."""
        width = self.width
        top_line, top = self.rows[0]
        found = Layout(self.delimiter, self.escape, top_line)
        body = [row for _, row in self.rows[1:]]
        if len(top) == width and body and not top[-1].strip() and _ends_empty(body, width):
            found.trailing = True
            width, top = width - 1, top[:-1]
        elif len(top) == width - 1 and _ends_empty(body, width):
            found.trailing = True
            width -= 1
        elif len(top) == width - 1 and width > 2:
            found.row_names = True
        named = found.row_names or _is_header(top, body)
        comment = self._commented_names(width) if not named else None
        if comment:
            found.comment_header = True
            found.names = comment
            body = [top, *body]
        elif named:
            found.names = ["", *top] if found.row_names else top
            found.names = [each.strip() for each in found.names]
        else:
            body = [top, *body]
            found.header = False
            found.names = [f"column{number}" for number in range(1, width + 1)]
        rows = [row for row in body + tail if len(row) >= width]
        found.spaced = self.delimiter != " " and _is_spaced(rows or [top])
        columns = [[row[place].strip() for row in rows] for place in range(width)]
        counted = [str(n) for n in range(len(columns[0]) + 1)]
        found.counter = not found.names[0] and columns[0][:MOST_ROWS] in (
            counted[:-1][:MOST_ROWS],
            counted[1:][:MOST_ROWS],
        )
        _find_numbers(found, columns, decimal)
        return found

    def _is_measured(self) -> bool:
        """Whether half of the columns hold numbers or dates: words, too, have spaces between."""
        rows = [row for _, row in self.rows[1:] or self.rows if len(row) == self.width]
        typed = sum(all(is_value(row[place]) for row in rows) for place in range(self.width))
        return bool(rows) and typed >= self.width / 2

    def _commented_names(self, width: int) -> list[str] | None:
        """The names of a last comment line, if it has as many values as the table."""
        if not self.before or not self.before[-1][0].startswith("#"):
            return None
        names = [each.strip() for each in [self.before[-1][0].lstrip("# "), *self.before[-1][1:]]]
        names = [each for each in names if each]
        return names if len(names) == width else None


def _other_delimiter(text: str, first: int) -> str | None:
    """A character that is as often in each line, as ``:`` and ``^`` are in some files."""
    lines = [line for line in io.StringIO(text) if line.strip()][first : first + MOST_ROWS]
    if len(lines) < 2:
        return None
    usual = set(DELIMITERS) | set("\n\"'._-+()$%/")
    marks = [each for each in dict.fromkeys(lines[0]) if not each.isalnum() and each not in usual]
    return next((m for m in marks if len({line.count(m) for line in lines}) == 1), None)


def _start(rows: list[list[str]]) -> int | None:
    """The place of the header, or of the first row of the table; None if there is no table."""
    comments = 0
    while comments < len(rows) - 1 and rows[comments][0].lstrip().startswith("#"):
        comments += 1
    for place in range(comments, min(len(rows), comments + MOST_PREAMBLE)):
        row, body = rows[place], rows[place + 1 :]
        if not body:
            return place if len(row) > 1 and place == comments else None
        width = _width(body)
        if width < 2 or len(row) not in (width, width - 1) or len(row) < 2:
            continue
        good = sum(len(each) == width for each in body) / len(body)
        if good < LEAST_SHARE and not (len(body) < 4 and len(row) == width):
            continue
        # A title above the table has one value, with empty ones beside it.
        filled = sum(bool(each.strip()) for each in row)
        if filled <= len(row) / 2 and (row[0].strip() or filled < len(row) - 1):
            continue
        # R gives no name to the first column. A title may have as many values by chance.
        if len(row) == width - 1 and not _ends_empty(body, width) and _is_header(body[0], body[1:]):
            continue
        return place
    return None


def _is_header(top: list[str], body: list[list[str]]) -> bool:
    """Whether the first row names the columns: unless it plainly is data like the rows below."""
    body = [row for row in body if len(row) >= len(top)]
    if not any(each.strip() for each in top):
        return False
    if not body:
        return not all(is_value(each) for each in top)
    alike = typed = unlike = 0
    for place, name in enumerate(top):
        column = [row[place].strip() for row in body]
        column = [each for each in column if not is_missing(each)]
        name = name.strip()
        if not column:
            continue
        if sum(map(is_value, column)) >= len(column) * 0.9:
            typed += 1
            if not is_value(name):
                if not is_missing(name):
                    return True
            # 5% above 5, 2019 above 3.1: written in another way than any value.
            elif form_of(name) in set(map(form_of, column)):
                alike += 1
            else:
                unlike += 1
        elif name not in column and form_of(name) not in set(map(form_of, column)):
            return True
    if not typed:
        # Words above words are names, unless all of them occur below, too.
        return not all(top[n].strip() in {row[n].strip() for row in body} for n in range(len(top)))
    if unlike >= alike:
        return True
    return _are_labels([each.strip() for each in top if is_value(each)], body)


def _are_labels(numbers: list[str], body: list[list[str]]) -> bool:
    """Whether whole numbers of the first row count, as years do, while no other row does."""
    if len(numbers) < 2 or not all(each.isdecimal() for each in numbers):
        return False
    return _counts(numbers) and not any(
        _counts([each.strip() for each in row if is_value(each)][-len(numbers) :])
        for row in body[:20]
    )


def _counts(fields: list[str]) -> bool:
    if len(fields) < 2 or not all(each.isdecimal() for each in fields):
        return False
    steps = {int(b) - int(a) for a, b in itertools.pairwise(fields)}
    return len(steps) == 1 and steps != {0}


def form_of(value: str, runs: bool = True) -> str:
    """The value with digits, letters and other characters by kind; ``runs`` of one as one."""
    if is_number(value):
        kind = "whole" if value.lstrip("+-").isdecimal() else "fraction"
        return kind if not value.endswith("%") else "percent"
    kinds = (
        "9" if each.isdigit() else "A" if each.isupper() else "a" if each.isalpha() else each
        for each in value
    )
    return "".join(each for each, _ in itertools.groupby(kinds)) if runs else "".join(kinds)


def _find_numbers(found: Layout, columns: list[list[str]], decimal: str | None) -> None:
    delimiter = found.delimiter
    formats = {
        place: form
        for place, column in enumerate(columns)
        if (form := number_format(column, delimiter=delimiter, decimal=decimal)) is not None
    }
    certain = {
        form.decimal
        for place, form in formats.items()
        if not form.ambiguous and any(form.decimal in value for value in columns[place])
    }
    for place, form in formats.items():
        if form.ambiguous:
            form = number_format(columns[place], certain, delimiter) or form
        if any(
            len(value) > 1 and value[0] == "0" and value.isdecimal() for value in columns[place]
        ):
            found.codes.append(place)
        elif not form.plain or (form.ambiguous and delimiter != ","):
            found.numbers[place] = form
        if form.plain:
            found.fractions |= any("." in value for value in columns[place])
    others = [n for n in range(len(columns)) if n not in formats or n in found.codes]
    marks = (set(_BETWEEN.findall(value)) for n in others for value in columns[n])
    found.between = "".join(sorted(set().union(*marks)))


def _numbered_records(
    text: str, delimiter: str, escape: str, first: int = 0
) -> list[tuple[int, list[str]]]:
    """The records that are not empty, each with the number of its first line, from 0."""
    lines = list(io.StringIO(text, newline=""))[first:]
    records = _parsed(lines, delimiter, escape)
    if any(end - start > _OPEN_QUOTE_LINES for start, end, _ in records):
        # A quote that is never closed: read line by line, so that it spoils only its own.
        records = []
        for number, line in enumerate(lines):
            records += [(number, number, row) for *_, row in _parsed([line], delimiter, escape)]
    return [(start + first, row) for start, _, row in records[: MOST_ROWS + MOST_PREAMBLE]]


def _parsed(lines: list[str], delimiter: str, escape: str) -> list[tuple[int, int, list[str]]]:
    rows: list[tuple[int, int, list[str]]] = []
    if delimiter == " ":
        numbered = enumerate(reader(lines, delimiter))
        return [(number, number, row) for number, row in numbered if row]
    parsed = csv.reader(
        lines,
        delimiter=delimiter,
        doublequote=escape == '"',
        escapechar=None if escape == '"' else escape,
        skipinitialspace=True,
    )
    start = 0
    try:
        for row in parsed:
            if any(each.strip() for each in row) or len(row) > 1:
                rows.append((start, parsed.line_num - 1, row))
            start = parsed.line_num
            if len(rows) > MOST_ROWS + MOST_PREAMBLE:
                break
    except csv.Error:
        pass  # the rows before it are enough
    return rows


def _width(rows: Iterable[list[str]]) -> int:
    """The most common number of values in a row; of equally common ones the greatest."""
    counts = Counter(map(len, rows))
    return max(counts, key=lambda each: (counts[each], each))


def _ends_empty(rows: list[list[str]], width: int) -> bool:
    return all(not row[-1].strip() for row in rows if len(row) == width)


def _is_spaced(rows: list[list[str]]) -> bool:
    """Whether values have a space before them."""
    values = [each for row in rows for each in row[1:]]
    return bool(values) and sum(each.startswith(" ") for each in values) >= 0.8 * len(values)


def is_value(text: str) -> bool:
    """Whether it is a number, a date, a time, or true or false."""
    text = text.strip()
    if text.isalpha():
        return text.lower() in _WORDS_OF_LOGIC
    return is_number(text) or _DATE.fullmatch(text) is not None


def _is_clean(value: str, delimiter: str) -> bool:
    """Whether no other delimiter is in it, but in the way that texts have commas and spaces."""
    value = value.strip()
    return _foreign(delimiter).search(value) is None or is_missing(value) or is_value(value)


@lru_cache
def _foreign(delimiter: str) -> re.Pattern[str]:
    """What no text has between this delimiter."""
    others = "".join(each for each in ";\t|" if each != delimiter)
    if delimiter == ",":
        return re.compile(f"[{others}]")
    return re.compile(f"[{others},]" if delimiter == " " else f"[{others}]|,(?! )")


def _titles(before: list[list[str]]) -> bool:
    """Whether lines that are no comments precede the table."""
    return any(not row[0].lstrip().startswith("#") for row in before)

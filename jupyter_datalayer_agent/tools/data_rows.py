"""Detects rows of data: in an output by its MIME types, else by the shape of its text; in a file by
its content (``file_data``).

This is a guess: text that only looks like a table is withheld too, and a row's value within a
sentence is not recognised.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import groupby, islice, pairwise, repeat
from operator import contains
from pathlib import PurePosixPath
from typing import Any

from ..datasets.dialect.layout import is_value, reader
from ..protocol.tools import ShareKind
from .limits import ends
from .mime_text import is_spec
from .redaction import Part, PrivateText

# Whether a text file holds data is decided by its content, not its name: rows in any text format,
# or a notebook with its outputs.
#
# The guess leaves source code, prose and documents with a small table alone: rows count if they are
# most of the text, or if many follow each other. Only the beginning of a long text is examined.
# Each test takes linear time and begins with a count of what its rows need, which ends it for most
# code and prose.
# texts are code and prose, and end there.


FILE_HEAD = 64_000
"""Characters of a file that are examined."""
MOST_LINES = 2_000
LONGEST_LINE = 2_000
LEAST_ROWS = 3
MANY_ROWS = 20
"""This many consecutive rows are data, whatever surrounds them."""
SHARE = 0.6
"""If more than this share of the non-empty lines are rows, the file is about them."""
DELIMITERS = (",", "\t", ";", "|", " ")
REMEMBERED = 32
"""Cached results, for texts of at most ``FILE_HEAD``: a file is read in parts and shown again."""

_DECODER = json.JSONDecoder()
_ROWS: frozenset[ShareKind] = frozenset(["row_data"])
_NOTEBOOK: frozenset[ShareKind] = frozenset(["outputs", "row_data"])
_NOTHING: frozenset[ShareKind] = frozenset()


def data_in(content: str, *, by_name: bool = False) -> frozenset[ShareKind]:
    """Return what a text file holds: ``row_data``, with ``outputs`` if it is a notebook that has
    any; nothing for code, prose and everything else. ``by_name``: the name says that it holds rows,
    so they are not searched for."""
    head = content[:FILE_HEAD]
    if is_notebook(head) and '"output_type"' in content:
        return _NOTEBOOK
    if by_name:
        return _ROWS
    if is_notebook(head):
        return _NOTHING
    if content.lstrip()[:1] in ("{", "["):
        is_long = len(content) > FILE_HEAD
        return _ROWS if (_is_json if is_long else _is_short_json)(content) else _NOTHING
    if len(content) > len(head) and "\n" in head:
        head = head[: head.rfind("\n")]
    return _ROWS if _has_rows(head) else _NOTHING


def is_notebook(content: str) -> bool:
    """Whether a text is an nbformat notebook, or the beginning of one."""
    return content.lstrip()[:1] == "{" and '"cells"' in content and '"cell_type"' in content


# -- JSON


def _is_json(content: str) -> bool:
    """Whether JSON, or JSON lines, consists mostly of records or columns."""
    lines = [line for line in content[:FILE_HEAD].splitlines() if line.strip()]
    objects = list(map(_parsed, lines[: LEAST_ROWS + 1]))
    if (
        len(lines) > 1
        and isinstance(objects[0], dict | list)
        and isinstance(objects[1], dict | list)
    ):
        return len(lines) >= LEAST_ROWS
    whole = _parsed(content)
    if whole is None:
        # Too long, cut off, or printed by a program: judged by its beginning or its lines.
        return _are_records(_first_items(content[:FILE_HEAD])) or _records(_Text(lines))
    found = max(map(len, map(json.dumps, _tables(whole))), default=0)
    return found >= SHARE * len(json.dumps(whole))


_is_short_json = lru_cache(REMEMBERED)(_is_json)


def _parsed(text: str) -> Any:
    if len(text) > 20 * FILE_HEAD:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first_items(text: str) -> list[Any]:
    """The first items of the first list in JSON that may be cut off."""
    items: list[Any] = []
    at = text.find("[") + 1
    while at and len(items) < MANY_ROWS:
        try:
            item, at = _DECODER.raw_decode(text, at + _blanks(text, at))
        except (ValueError, RecursionError):
            break
        items.append(item)
        at += _blanks(text, at)
        at = at + 1 if text[at : at + 1] == "," else 0
    return items


def _blanks(text: str, at: int) -> int:
    rest = text[at : at + LONGEST_LINE]
    return len(rest) - len(rest.lstrip())


def _tables(value: Any, depth: int = 4) -> Iterable[Any]:
    """The lists of records, and the columns, of a JSON value."""
    if depth == 0:
        return
    if isinstance(value, list):
        if _are_records(value):
            yield value
        return
    if isinstance(value, dict):
        columns = [each for each in value.values() if isinstance(each, list | dict)]
        if len(columns) > 1 and len(columns) == len(value) and _are_columns(columns):
            yield value
        for each in value.values():
            yield from _tables(each, depth - 1)


def _are_records(rows: list[Any]) -> bool:
    """Whether most items of a list are objects with the same keys, or lists of one length."""
    shapes = [tuple(each) if isinstance(each, dict) else len(each) for each in rows
              if isinstance(each, dict | list) and len(each) > 1]  # fmt: skip
    usual = max(map(shapes.count, set(shapes[:LEAST_ROWS])), default=0)
    return usual >= max(LEAST_ROWS, SHARE * len(rows))


def _are_columns(columns: list[Any]) -> bool:
    """Whether all columns hold plain values and have the same length."""
    sizes = {len(each) for each in columns}
    if len(sizes) > 1 or min(sizes) < LEAST_ROWS:
        return False
    values = [each.values() if isinstance(each, dict) else each for each in columns]
    return not any(isinstance(each, dict | list) for column in values for each in column)


# -- lines


class _Text:
    """Lines, none of them empty. ``starts`` counts the first non-space character of each;
    ``lowered`` is all of them in lower case, without line ends."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.starts = Counter(line.lstrip()[:1] for line in lines)
        self.lowered = "".join(lines).lower()

    def starting(self, marks: str) -> int:
        """Count the lines that start with one of these characters."""
        return sum(self.starts[mark] for mark in marks)


@lru_cache(REMEMBERED)
def _has_rows(head: str) -> bool:
    """Whether the beginning of a text has rows of any kind."""
    lines = [line[:LONGEST_LINE] for line in islice(head.split("\n"), MOST_LINES) if line.strip()]
    if not lines:
        return False
    text = _Text(lines)
    return any(looks(text) for looks in _LOOKS)


def _is_delimited(text: _Text) -> bool:
    """Whether most lines, or many in a row, have the same number of values, mostly numbers."""
    rows = text.lines
    if text.starting("#%@") < len(rows):
        rows = [line for line in rows if line.lstrip()[:1] not in ("#", "%", "@")]
    return any(_is_table(rows, delimiter) for delimiter in DELIMITERS)


def _is_table(lines: Sequence[str], delimiter: str) -> bool:
    # At least this many rows must contain the delimiter, which excludes most delimiters at once.
    needed = min(MANY_ROWS, max(LEAST_ROWS, SHARE * len(lines)))
    if sum(map(contains, lines, repeat(delimiter))) < needed:
        return False
    try:
        split = [row for row in reader(lines, delimiter) if row]
    except csv.Error:
        return False
    if delimiter != " ":  # white space around all values is none of them
        split = _without_ends(split)
    width = _usual([len(row) for row in split], delimiter, len(lines))
    if width is None:
        return False
    good = [[each.strip() for each in row] for row in split if len(row) == width]
    if not _are_values(good, delimiter):
        return False
    # More than a third.
    are_most = _are_most(len(good), len(lines), delimiter)
    return are_most or _have_numbers(good, width * len(good) // 3 + 1)


def _usual(widths: Sequence[int], delimiter: str, lines: int) -> int | None:
    """The number of fields in most lines, or in many consecutive ones; None if there is none."""
    counts = Counter(width for width in widths if width > 1)
    width = max(sorted(counts), key=counts.__getitem__, default=0)
    if counts[width] < LEAST_ROWS:
        return None
    if _are_most(counts[width], lines, delimiter):
        return width
    if counts[width] < MANY_ROWS:
        return None
    runs = (len(list(group)) for same, group in groupby(widths) if same == width)
    return width if max(runs) >= MANY_ROWS else None


def _are_most(rows: int, lines: int, delimiter: str) -> bool:
    return rows >= max(SHARE, 0.9 if delimiter in ", " else 0) * lines


def _without_ends(split: list[list[str]]) -> list[list[str]]:
    """The fields of lines that may all begin, or end, with a delimiter."""
    for end in (0, -1):
        with_more = [row for row in split if len(row) > 1]
        if sum(not row[end].strip() for row in with_more) >= 0.9 * len(with_more):
            split = [(row[1:] if end == 0 else row[:-1]) if len(row) > 1 else row for row in split]
    return split


def _are_values(rows: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Whether the fields are values of a table rather than pieces of sentences or of code."""
    fields = [each for row in rows for each in row if each]
    short = sum(len(each) <= 40 and each[-1] not in ".,:;({[" for each in fields)
    if short < 0.9 * len(fields):
        return False
    count = sum(map(len, rows))
    if delimiter == " ":
        return _have_numbers(rows, (count + 1) // 2)
    return len(rows) > LEAST_ROWS or _have_numbers(rows, 1)


def _have_numbers(rows: Sequence[Sequence[str]], needed: int) -> bool:
    """Whether at least ``needed`` fields are numbers or dates."""
    found, left = 0, sum(map(len, rows))
    for row in rows:
        found += sum(map(is_value, row))
        left -= len(row)
        if found >= needed or found + left < needed:
            break
    return found >= needed


def _records(text: _Text) -> bool:
    """Objects or tuples, one a line: JSON lines, printed Python, the values of an INSERT."""
    needed = max(LEAST_ROWS, SHARE * len(text.lines))
    return text.starting("{([") >= needed and sum(map(_is_record, text.lines)) >= needed


def _is_record(line: str) -> bool:
    text = line.strip().rstrip(",;").strip()
    inside = text[1:-1]
    if text[:1] == "{" and text[-1:] == "}":
        return inside.count(":") > 1
    return (text[:1] + text[-1:]) in ("()", "[]") and "," in inside and not inside.startswith("[")


def _sql(text: _Text) -> bool:
    """``INSERT`` with values, or the block of a ``COPY … FROM stdin``."""
    if not any(each in text.lowered for each in ("insert into", "replace into", "from stdin")):
        return False
    rows, inserts = 0, False
    for line in text.lines:
        start = line.lstrip()[:12].lower()
        if start.startswith(("insert into", "replace into")):
            inserts = True
            rows += line.count("),") + 1 if "values" in line.lower() else 0
        elif start.startswith("copy ") and "from stdin" in line.lower():
            return True
        elif inserts and line.lstrip()[:1] == "(":
            rows += line.count("),") + 1
    return rows >= LEAST_ROWS


def _html(text: _Text) -> bool:
    """A page of HTML with a table, or a table for the most part."""
    lowered = text.lowered
    start, end = lowered.find("<table"), lowered.rfind("</td>")
    if start < 0 or lowered.count("<td") <= LEAST_ROWS or lowered.count("<tr") < LEAST_ROWS:
        return False
    return text.lines[0].lstrip()[:1] == "<" or end - start >= SHARE * len(lowered)


def _yaml(text: _Text) -> bool:
    """A list of records: items with the same names, which are most of the lines."""
    if text.starts["-"] < LEAST_ROWS:
        return False
    lines = text.lines
    items: list[tuple[str, ...]] = []
    covered, indent = 0, -1
    names: list[str] = []
    for line in [*lines, "-"]:
        entry = line.lstrip()
        at = len(line) - len(entry)
        if entry[:1] == "-" and (indent in (-1, at) or line == "-"):
            if names:
                items.append(tuple(names))
            indent, names, entry = at, [], entry[1:].lstrip()
        elif indent < 0 or at <= indent:
            continue
        name, colon, value = entry.partition(":")
        if colon and name and (not value or value[0] == " ") and " " not in name:
            names.append(name)
            covered += 1
    shapes = [each for each in items if len(each) > 1]
    usual = max(map(shapes.count, set(shapes[:LEAST_ROWS])), default=0)
    return usual >= max(LEAST_ROWS, SHARE * len(items)) and covered >= SHARE * len(lines)


def _sequences(text: _Text) -> bool:
    """FASTA or FASTQ: a line that names a sequence, and lines that hold only its letters."""
    lines = text.lines
    if lines[0][:1] == "@":
        quality = [line for line in lines[2::4] if line[:1] == "+"]
        return bool(quality) and _is_sequence(lines[1])
    if lines[0][:1] not in (">", ";"):
        return False
    return any(_is_sequence(after) for line, after in pairwise(lines) if line[:1] == ">")


def _is_sequence(line: str) -> bool:
    text = line.strip().rstrip("*")
    return len(text) > 3 and text.isascii() and text.replace("-", "").isalpha() and text.isupper()


_LOOKS: tuple[Callable[[_Text], bool], ...] = (
    _sequences, _sql, _html, _records, _yaml, _is_delimited
)  # fmt: skip


DATA_SUFFIXES = frozenset(
    [".csv", ".tsv", ".tab", ".psv", ".jsonl", ".ndjson", ".geojson", ".arff", ".dat"]
)
"""Text files whose names say that they hold rows. Those of ``MAYBE_DATA`` are also examined as
outputs are, which takes more evidence than ``data_in``."""
MAYBE_DATA = frozenset([".json", ".txt", ".xml", ".log", ""])
DATA_LINES = 50
DATA_CHARACTERS = 10_000
"""Characters of a data file that show a model what it holds; code reads the rest."""

_TABLE_MIMES = frozenset(
    {"application/vnd.dataresource+json", "application/geo+json", "text/csv",
     "application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file"}
)  # fmt: skip
_SAID = re.compile(
    r"^\[\d+ rows x \d+ columns\]"  # pandas
    r"|^shape: \(\d+, ?\d+\)"  # polars
    r"|\bdtype: \w"  # a Series
    r"|^[ \t]*[┌╭╞├│┃╒+|][-─═┬┼+|]{3}"  # box drawing: polars, duckdb, tabulate, SQL shells
    r"|\barray\(\[\[",
    re.MULTILINE,
)
_GAP = re.compile(r"\s{2,}|\t")
SHORT = 2_000
HEAD, TAIL = ends()
STRETCHES, STRETCH = 20, 500
"""Of a long text, the beginning and end that a model is sent are examined in full; between them,
this many stretches of this many characters."""
LOOKED_AT = HEAD + TAIL + STRETCHES * (STRETCH + 1) + 1
LINES = 3
_OPEN, _CLOSE = "{([", "})]"
"""This many consecutive lines of one shape are a table."""


def data_part(path: str, content: str, shown: str | None = None) -> Part | None:
    """The text of a file, or what is ``shown`` of it, as a private part; None if the file holds no
    data. Its content decides under any name, and some names decide by themselves."""
    shown = content if shown is None else shown
    kinds = data_in(content, by_name=is_data(path))
    if not kinds and _suffix(path) in MAYBE_DATA and any(map(looks_like_rows, {content, shown})):
        kinds = frozenset(["row_data"])
    if not kinds:
        return None
    count = f"{len(shown.splitlines()):,} lines of"
    return Part(shown, kinds, f"{count} {'a notebook' if 'outputs' in kinds else 'data'}")


def is_data(path: str) -> bool:
    """Whether the name says that a text file holds rows of data."""
    return _suffix(path) in DATA_SUFFIXES


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def beginning(content: str) -> str:
    """What a model is shown of a data file: its first 50 lines, or 10,000 characters."""
    return "".join(content[:DATA_CHARACTERS].splitlines(keepends=True)[:DATA_LINES])


def data_text(path: str, content: str, shown: str | None = None) -> PrivateText:
    """The text of a file, or what is ``shown`` of it, with its rows of data marked as private."""
    whole = content if shown is None else shown
    return PrivateText.marked_later(whole, lambda: data_part(path, content, shown))


def is_table(data: dict[str, Any]) -> bool:
    """Whether a MIME bundle shows rows of data."""
    if not _TABLE_MIMES.isdisjoint(data) or any(is_spec(mime) for mime in data):
        return True
    if "<table" in _text(data.get("text/html")).lower():
        return True
    if "tabular" in _text(data.get("text/latex")):
        return True
    if _has_records(data.get("application/json")):
        return True
    return any(looks_like_rows(_text(data.get(mime))) for mime in ("text/plain", "text/markdown"))


def _has_records(value: Any) -> bool:
    """Whether JSON is a list of records, holds one, or holds columns."""
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list) and each]
        return len(lists) > 1 or any(map(_has_records, lists))
    return isinstance(value, list) and any(isinstance(each, dict | list) for each in value)


def looks_like_rows(text: str) -> bool:
    """Whether a text looks like a printed table, CSV, a two-dimensional array or records. Results
    for short texts are cached, since each context repeats the outputs of the one before."""
    return _remembered(text) if len(text) <= SHORT else _looks_like_rows(text)


def _looks_like_rows(text: str) -> bool:
    text = _stretches(text)
    if _SAID.search(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    if any(map(_holds_records, lines)):
        return True
    if any(_frame(first, second) for first, second in pairwise(lines)):
        return True
    for shape in (_columns, _delimited, _record):
        run, before = 0, None
        for line in lines:
            now = shape(line)
            run = run + 1 if now is not None and now == before else int(now is not None)
            before = now
            if run >= LINES:
                return True
    return len(lines) >= 2 and all(map(_is_numbers, lines[:2]))


def _stretches(text: str) -> str:
    if len(text) <= LOOKED_AT:
        return text
    step = (len(text) - HEAD - TAIL - STRETCH) // (STRETCHES - 1)
    # Every stretch but the first begins within a line, and every one but the last ends within one.
    # Such cut lines would seem to have other shapes.
    middle = (text[at : at + STRETCH] for at in range(HEAD, HEAD + STRETCHES * step, step))
    cut = (text[:HEAD], *middle, text[-TAIL:])
    return "\n".join(_whole_lines(each, number) for number, each in enumerate(cut))


def _whole_lines(stretch: str, number: int) -> str:
    begin = 0 if number == 0 else stretch.find("\n") + 1
    end = len(stretch) if number > STRETCHES else stretch.rfind("\n")
    return stretch[begin:end] if end > begin else stretch


def _holds_records(line: str) -> bool:
    """Whether one line holds several records, ``[{…}, {``, or columns, ``{"a": […], "b": [``."""
    line = line.lstrip()
    if line[:1] in ("[", "("):
        inner = line[1:].lstrip()
        rest = inner[1:].replace(" ", "")
        return inner[:1] in _OPEN and any(f"{a},{b}" in rest for a in _CLOSE for b in _OPEN)
    at = 1 if line[:1] == "{" else -1
    for stops in ((": [", ": {"), ("],", "},"), (": [", ": {")):
        if at < 0:
            break
        at = min((place for each in stops if (place := line.find(each, at)) >= 0), default=-1)
    return at >= 0


_remembered = lru_cache(maxsize=1024)(_looks_like_rows)


def _frame(head: str, row: str) -> bool:
    """Whether these two lines begin a small data frame: right-aligned names over a row."""
    return head[:2] == "  " and row[0] != " " and len(head) == len(row) and " " in row


def _columns(line: str) -> int | None:
    """How many columns the line has, separated by two spaces or a tab."""
    cells = [cell for cell in _GAP.split(line.strip()) if cell]
    return len(cells) if len(cells) > 1 else None


def _delimited(line: str) -> tuple[str, int] | None:
    """The delimiter of a line of CSV or Markdown, and how often it occurs."""
    for mark in (",", ";", "|"):
        if (count := line.count(mark)) > 1 or (count == 1 and ", " not in line and mark == ","):
            return mark, count
    return None


def _record(line: str) -> bool | None:
    """Whether the line is one record: an object with keys, or a list or tuple of several values."""
    begin = line.lstrip("[( \t")
    end = line.rstrip(",]) \t\r")
    if begin[:1] == "{" and end[-1:] == "}":
        return True if ":" in begin else None
    is_list = line.strip()[:1] in ("[", "(") and line.rstrip(", \t\r")[-1:] in ("]", ")")
    return True if is_list and "," in begin.rstrip(",]) \t\r")[1:] else None


def _is_numbers(line: str) -> bool:
    """Whether the line is a list of numbers, as NumPy prints a row."""
    line = line.strip().removesuffix(",")
    if line[:1] != "[" or line[-1:] != "]":
        return False
    inner = line.strip("[]")
    numbers = inner.replace(",", " ").split(maxsplit=2)
    return len(numbers) > 1 and not inner.strip("0123456789.einfa+-, \t")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "".join(str(each) for each in value)
    return str(value)

"""Whether an output or a file shows rows of data: an output by its MIME types, else by the shape of
its text, a file by what is in it (``file_data``).

This is a guess: text that only looks like a table is withheld like one, and a row's value in a
sentence is not recognised.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from .file_data import data_in
from .limits import ends
from .mime_text import is_spec
from .redaction import Part, PrivateText

DATA_SUFFIXES = frozenset(
    [".csv", ".tsv", ".tab", ".psv", ".jsonl", ".ndjson", ".geojson", ".arff", ".dat"]
)
"""Text files that hold rows of data by their names; those of ``MAYBE_DATA`` are looked at as
outputs are, too, which takes more for rows than ``data_in`` does."""
MAYBE_DATA = frozenset([".json", ".txt", ".xml", ".log", ""])
DATA_LINES = 50
DATA_CHARACTERS = 10_000
"""Of a file of data a model needs to see what is in it: all of it is for code."""

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
"""Of a long text all is looked at that a model is sent of it, the beginning and the end. Between
them are so many stretches of so many characters."""
LOOKED_AT = HEAD + TAIL + STRETCHES * (STRETCH + 1) + 1
LINES = 3
_OPEN, _CLOSE = "{([", "})]"
"""This many consecutive lines of one shape are a table."""


def data_part(path: str, content: str, shown: str | None = None) -> Part | None:
    """The private part that the text of a file is, or what is ``shown`` of it; None where the file
    holds no data. Its content says so under every name, and some names do."""
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
    """What a model is shown of a file of data: its first 50 lines, or 10,000 characters."""
    return "".join(content[:DATA_CHARACTERS].splitlines(keepends=True)[:DATA_LINES])


def data_text(path: str, content: str, shown: str | None = None) -> PrivateText:
    """The text of a file, or what is ``shown`` of it, its rows of data marked as private."""
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
    """Whether a text looks like a printed table, CSV, an array of two dimensions or records. Short
    ones are remembered: each context has the same outputs as the one before."""
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
    # Each but the first begins within a line, and each but the last ends within one: as they are
    # cut, they would look like lines of other shapes.
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
    """Whether these two lines begin a small data frame: names over a row, flush on the right."""
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

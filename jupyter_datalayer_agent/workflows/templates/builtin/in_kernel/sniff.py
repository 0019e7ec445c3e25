"""Runs in the notebook's kernel: detects how to read a data file. Needs the standard library only.

Its source is sent to the kernel (see ``__init__.py``), so it imports nothing of the package.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import itertools
import lzma
import os
import re
import zipfile
from typing import Any

HEAD = 256 * 1024
ROWS = 300
SEPARATORS = (",", ";", "\t", "|")
FOREIGN = {
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"ARROW1": "an Arrow file",
}
NUMBER = r"[-+]?\d+"
DOTTED_DATE = r"\d{1,2}\.\d{1,2}\.\d{2,4}\b.*"


class Unreadable(Exception):
    """The file is not a readable table; the text says why, for a user."""


def sniff(path: str) -> dict[str, Any]:
    """``{"format": "parquet"}`` or ``{"format": "csv", "read": {...}}``, arguments of read_csv.

    Raises ``Unreadable``.
    """
    if os.path.isdir(path):
        raise Unreadable("it is a folder")
    if not os.path.exists(path):
        raise Unreadable(f"there is no such file (looked for {os.path.abspath(path)!r})")
    if os.path.getsize(path) == 0:
        raise Unreadable("the file is empty")
    with _opened(path) as stream:
        head = stream.read(HEAD)
    if head[:4] == b"PAR1":
        return {"format": "parquet", "read": {}}
    _refuse_foreign(head)
    encoding = _encoding(path, head)
    text = head.decode(encoding or "utf-8", errors="replace").lstrip("\ufeff")
    if not text.strip():
        raise Unreadable("the file holds nothing but white space")
    _refuse_markup(text)
    read = _layout(text, whole=len(head) < HEAD)
    if encoding:
        read["encoding"] = encoding
    return {"format": "csv", "read": read}


def _opened(path: str) -> Any:
    name = path.lower()
    if name.endswith(".gz"):
        return gzip.open(path)
    if name.endswith(".bz2"):
        return bz2.open(path)
    if name.endswith(".xz"):
        return lzma.open(path)
    if name.endswith(".zip"):
        archive = zipfile.ZipFile(path)
        if len(archive.namelist()) != 1:
            raise Unreadable("the archive does not hold exactly one file")
        return archive.open(archive.namelist()[0])
    return open(path, "rb")


def _refuse_foreign(head: bytes) -> None:
    for magic, kind in FOREIGN.items():
        if head.startswith(magic):
            raise Unreadable(f"it is {kind}, neither CSV nor Parquet")
    if head.startswith(b"PK\x03\x04"):
        raise Unreadable("it is an Excel workbook or a zip archive, neither CSV nor Parquet")
    utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in head and not utf16:
        raise Unreadable("it is a binary file, neither CSV nor Parquet")


def _refuse_markup(text: str) -> None:
    start = text.lstrip()[:200].lower()
    if start.startswith("{") or re.match(r"\[\s*[\[{]", start):
        raise Unreadable("it holds JSON, not CSV")
    if re.match(r"<(\?xml|!doctype|html|[a-z]+[\s>])", start):
        raise Unreadable("it holds HTML or XML, not CSV")


def _encoding(path: str, head: bytes) -> str | None:
    """The encoding: None for UTF-8, anything else counts as Western European."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    windows = False
    utf8 = True
    with _opened(path) as stream:
        while chunk := stream.read(1 << 20):
            if utf8:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    utf8 = False
            # Where Latin-1 has control characters, Windows has quotes, dashes and the euro.
            windows = windows or any(0x80 <= byte <= 0x9F for byte in set(chunk))
    if utf8:
        return None
    return "cp1252" if windows else "latin-1"


def _layout(text: str, whole: bool) -> dict[str, Any]:
    lines = text.splitlines(keepends=True)
    if not whole:
        lines = lines[:-1]
    comments = 0
    while comments < len(lines) and lines[comments].startswith("#"):
        comments += 1
    tables = [_table(lines[comments:], separator) for separator in SEPARATORS]
    fitting = [table for table in tables if table is not None]
    if not fitting:
        if _single(lines[comments:]):
            return {"skiprows": comments} if comments else {}
        raise Unreadable(
            "its lines do not have the same number of fields, so it is not a CSV table"
        )
    best = max(fitting, key=lambda table: (table["share"], table["width"]))
    read: dict[str, Any] = {}
    if best["separator"] != ",":
        read["sep"] = best["separator"]
    if comments + best["skip"]:
        read["skiprows"] = comments + best["skip"]
    read.update(_details(best))
    return read


def _table(lines: list[str], separator: str) -> dict[str, Any] | None:
    """How well the separator fits, or None: the header has several fields, most rows as many."""
    try:
        parsed = csv.reader(lines, delimiter=separator)
        rows = [row for row in itertools.islice(parsed, ROWS) if row]
    except csv.Error:
        return None
    for skip in range(min(len(rows), 20)):
        width = len(rows[skip])
        if width < 2:
            continue
        body = rows[skip + 1 :]
        # A row may be one field longer: R writes row names, others a trailing separator.
        good = sum(len(row) in (width, width + 1) for row in body)
        share = good / len(body) if body else (1.0 if skip == 0 else 0.0)
        if share >= 0.8:
            return {
                "separator": separator,
                "skip": skip,
                "width": width,
                "share": share,
                "header": rows[skip],
                "body": body,
            }
    return None


def _single(lines: list[str]) -> bool:
    """Whether the table has one column: hardly any line has a separator outside quotes."""
    rows = [row for row in itertools.islice(csv.reader(lines), ROWS) if row]
    return sum(len(row) > 1 for row in rows) <= len(rows) * 0.02 and len(rows[0]) == 1


def _details(table: dict[str, Any]) -> dict[str, Any]:
    header, body, width = table["header"], table["body"], table["width"]
    details: dict[str, Any] = {}
    if header and all(_is_number(field) for field in header) and not _are_years(header):
        if body and all(_is_number(field) or not field for field in body[0]):
            details["header"] = None
            details["names"] = [f"column_{number}" for number in range(1, width + 1)]
    elif body and all(len(row) == width + 1 for row in body):
        if all(not row[-1].strip() for row in body):
            details["index_col"] = False
    elif body and header[0].strip() == "" and _counts([row[0] for row in body]):
        details["index_col"] = 0
    if body and sum(field.startswith(" ") for field in header[1:]) >= max(1, (width - 1) * 0.8):
        details["skipinitialspace"] = True
    columns = [
        [row[i].strip() for row in body if len(row) > i and row[i].strip()] for i in range(width)
    ]
    details.update(_numbers(columns, table["separator"]))
    if details.get("thousands") == ".":
        # Otherwise dates such as 31.12.2023 would become the number 31122023.
        dates = [i for i, each in enumerate(columns) if each and _all(each, DOTTED_DATE)]
        if dates:
            details["dtype"] = {header[i]: "str" for i in dates}
    return details


def _numbers(columns: list[list[str]], separator: str) -> dict[str, str]:
    """Decimal commas and separators of thousands, where whole columns have them."""
    if separator != ",":
        comma = any(
            column
            and _all(column, rf"{NUMBER},\d+|{NUMBER}")
            and any("," in field for field in column)
            for column in columns
        )
        dots = any(
            column
            and _all(column, r"[-+]?\d{1,3}(\.\d{3})+(,\d+)?|[-+]?\d{1,3}(,\d+)?")
            and any(field.count(".") > 1 or ("." in field and "," in field) for field in column)
            for column in columns
        )
        if comma or dots:
            return {"decimal": ",", "thousands": "."} if dots else {"decimal": ","}
    thousands = any(
        column
        and _all(column, r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?|[-+]?\d{1,3}(\.\d+)?")
        and any("," in field for field in column)
        for column in columns
    )
    return {"thousands": ","} if thousands else {}


def _all(column: list[str], pattern: str) -> bool:
    return all(re.fullmatch(pattern, field) for field in column)


def _is_number(field: str) -> bool:
    return re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", field) is not None


def _are_years(fields: list[str]) -> bool:
    return all(re.fullmatch(r"\s*(1[5-9]|20|21)\d\d\s*", field) for field in fields)


def _counts(fields: list[str]) -> bool:
    """Whether the fields are 0, 1, 2, … or 1, 2, 3, …"""
    return any(fields == [str(n + start) for n in range(len(fields))] for start in (0, 1))

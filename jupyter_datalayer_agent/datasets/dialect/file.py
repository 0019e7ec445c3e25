"""A data file as it is on the disk: what it is, its text, and how pandas reads it.

Its source also runs in kernels (``SOURCES``).
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import itertools
import lzma
import os
import re
import zipfile
from dataclasses import asdict
from typing import Any

from .layout import Layout, Unreadable, find_layout, reader
from .missing import values_of

HEAD = 256 * 1024
TAIL = 32 * 1024
BLOCK = 1 << 20
MOST_RECORDS = 1_000_000
MOST_DROPPED = 100
"""The most lines that are left out of a table because they are no rows of it."""
SIGNATURES = [
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"BM", "a bitmap picture"),
    (b"RIFF", "a picture, sound or film (RIFF)"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"BZh", "compressed with bzip2; unpack it first"),
    (b"\xfd7zXZ", "compressed with xz; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstandard; unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it first"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\x89HDF", "an HDF5 file, which is not supported"),
    (b"SQLite format 3", "an SQLite database, which is not supported"),
    (b"ARROW1", "an Arrow (Feather) file, which is not supported"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls); save it as .xlsx"),
    (b"version https://git-lfs", "a Git LFS pointer, not the table itself; run: git lfs pull"),
]
_LETTERS = (b"BM", b"MZ", b"RIFF", b"GIF8")
"""Signatures with which a text may begin."""
_MARKS = [
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_MARKUP = re.compile(rb"\s*<(\?xml|!doctype|!--|html|head|body|table|svg|rss|[a-z]+[\s>])", re.I)
_PARTS = re.compile(rb"[\t,;\"]")
_NOT_ASCII = re.compile(r"(?<![^\s,;|\"])[^\s,;|\"]*[^\s,;|\"\x00-\x7f][^\s,;|\"]*")
_CERTAIN_UTF8 = re.compile(
    "[^\\s\x00-\x7f](?:[A-Za-z]|(?<=[A-Za-z].)|[^\\s\x00-\x7f]{2}"
    "|(?<=[^\x00-\u07ff])[^\\s\x00-\u07ff]|(?<=[^\x00-\uffff]))"
)
"""More than a letter or two of two bytes, or one of three, in a word."""
_LONE_BYTE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_MOST_WORDS = 2000
_MOST_UTF8_WORDS = 3
_ASCII = bytes(range(128))


def refuse_foreign(head: bytes) -> None:
    """Raise ``Unreadable`` for what is no text table, by the first bytes."""
    for signature, what in SIGNATURES:
        if head.startswith(signature) and not (signature in _LETTERS and looks_like_text(head)):
            raise Unreadable(f"is {what}")
    start = head.removeprefix(codecs.BOM_UTF8)
    if _MARKUP.match(start):
        page = re.search(rb"<(!doctype\s+)?html", start[:2000], re.I)
        raise Unreadable(
            "is a web page (HTML), not a table; download the data itself, or read it by "
            "pandas.read_html"
            if page
            else "holds HTML or XML, not a table"
        )


def wide_encoding(head: bytes) -> str | None:
    """The encoding that a byte order mark declares, or UTF-16 by its zero bytes; else None."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    start = head[:4096]
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > len(start) * 0.15 and min(even, odd) < len(start) * 0.02:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


class EncodingScan:
    """Whether bytes are UTF-8; if not, ``words`` has the distinct values that show what they are,
    and ``utf8_words`` some of those that are UTF-8 all the same.

    ``mixed``: part of the text is UTF-8, more than happens by chance. Short words do happen: female
    and primary school are such in GBK. They count where a byte stands alone in another line, as in
    Latin-1 and not in encodings with two bytes for a letter."""

    def __init__(self) -> None:
        self.is_utf8 = True
        self.utf8_words: list[str] = []
        self._words: dict[bytes, None] = {}
        self._short: dict[bytes, None] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._good = self._doubtful = self._bad = 0
        self._has_lone_bytes = False
        self._rest = b""

    def feed(self, block: bytes, final: bool = False) -> None:
        """Take the next block."""
        if self.is_utf8:
            try:
                text = self._decoder.decode(block, final)
                self._count(text, len(block) - len(text))
                if not self.utf8_words and not block.isascii():
                    self.utf8_words = _NOT_ASCII.findall(text)[:1]
                end = max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
                self._rest = block[end:] if end else self._rest + block
                return
            except UnicodeDecodeError:
                self.is_utf8 = False
        *lines, self._rest = re.split(rb"[\r\n]", self._rest + block)
        for line in [*lines, self._rest] if final else lines:
            if line.isascii():
                continue
            try:
                text = line.decode("utf-8")
                if not self._count(text, len(line) - len(text)):
                    _collect(line, self._short)
                if len(self.utf8_words) < _MOST_UTF8_WORDS:
                    self.utf8_words += _NOT_ASCII.findall(text)[:1]
            except UnicodeDecodeError:
                self._bad += len(line.translate(None, _ASCII))
                self._has_lone_bytes = self._has_lone_bytes or bool(_LONE_BYTE.search(line))
                _collect(line, self._words)

    def _count(self, text: str, more: int) -> bool:
        certain = not more or bool(_CERTAIN_UTF8.search(text))
        if certain:
            self._good += more
        else:
            self._doubtful += more
        return certain

    @property
    def words(self) -> dict[bytes, None]:
        """See above."""
        return self._words if self._has_lone_bytes else self._words | self._short

    @property
    def is_ascii(self) -> bool:
        """Whether all is ASCII."""
        return self.is_utf8 and not self._good + self._doubtful

    @property
    def mixed(self) -> bool:
        """Whether part of the text is UTF-8."""
        good = self._good + self._doubtful * self._has_lone_bytes
        return not self.is_utf8 and good > self._bad * 0.2

    def doubt(self) -> list[str]:
        """A sentence on words that are UTF-8 in a text that is not, if there are any."""
        if self.is_utf8 or self.mixed or not self.utf8_words:
            return []
        return [
            "Some lines were read like the others, but could also be UTF-8, with words such as "
            f"{self.utf8_words[0]!r}."
        ]


def _collect(line: bytes, words: dict[bytes, None]) -> None:
    if len(words) < _MOST_WORDS:
        parts = (part.strip() for part in _PARTS.split(line))
        words.update(dict.fromkeys(part for part in parts if not part.isascii()))


def inspect_file(path: str, choices: dict[str, Any]) -> dict[str, Any]:
    """How to read the file: ``{"format": "parquet"}``; ``{"format": "csv", "encoding", "layout",
    "read"}`` with arguments of ``pandas.read_csv``; or ``{"undecided"}``, words in hexadecimal,
    where an ``encoding`` has to be chosen first.

    ``choices`` are the user's: ``encoding``, ``delimiter``, ``decimal``. Raises ``Unreadable``.
    """
    if os.path.isdir(path):
        raise Unreadable("is a folder")
    if not os.path.exists(path):
        raise Unreadable(f"does not exist; there is no such file as {os.path.abspath(path)!r}")
    with opened(path) as stream:
        head = stream.read(HEAD)
    if not head:
        raise Unreadable("is empty")
    if head[:4] == b"PAR1":
        return {"format": "parquet", "read": {}}
    refuse_foreign(head)
    if head.startswith(b"PK\x03\x04"):
        raise Unreadable("is an Excel workbook or a zip archive, not a CSV file")
    wide = wide_encoding(head)
    if b"\0" in head and wide is None:
        raise Unreadable("is a binary file, not a CSV file")
    encoding = wide
    doubts: list[str] = []
    if encoding is None:
        scan = _scanned(path)
        if scan.mixed:
            raise Unreadable(
                "mixes encodings: some of its lines are UTF-8, others are not. Upload it as a data "
                "set, which reads each line by itself, or save it in one encoding"
            )
        doubts = scan.doubt()
        encoding = "utf-8" if scan.is_utf8 and not scan.is_ascii else choices.get("encoding")
        if encoding is None and not scan.is_utf8:
            return {"undecided": b"\n".join(scan.words).hex()}
        encoding = encoding or "utf-8"
    text, tail = texts_of(path, encoding)
    if not text.strip():
        raise Unreadable("holds nothing but white space")
    if re.match(r"\s*(\{|\[\s*[\[{])", text):
        raise Unreadable("holds JSON, not a table")
    layout = find_layout(text, tail, choices.get("delimiter"), choices.get("decimal"))
    rows, dropped = _counted(path, encoding, layout)
    read = pandas_arguments(layout, encoding, [place for place, _ in dropped])
    names = pandas_names(layout)
    numbers = {names[place]: asdict(form) for place, form in layout.numbers.items()}
    return {
        "format": "csv",
        "encoding": encoding,
        "delimiter": layout.delimiter,
        "header": layout.header,
        "width": len(names) - (read.get("index_col") == 0 and not layout.trailing),
        "numbers": numbers,
        "codes": [names[place] for place in layout.codes],
        "values": {names[at]: kept for at, kept in values_of(text, tail, layout).items()},
        "records": rows,
        "start": first_record(layout),
        "damaged": doubts or damage(text),
        "dropped": [line + 1 for _, line in dropped],
        "read": read,
    }


def pandas_names(layout: Layout) -> list[str]:
    """The columns as ``pandas.read_csv`` calls them."""
    given = list(layout.names)
    if layout.row_names:
        given[0] = "row"
    given = [name or f"Unnamed: {place}" for place, name in enumerate(given)]
    taken: set[str] = set()
    names = []
    for name in given:
        new, count = name, 0
        while new in taken or (new != name and new in given):
            count += 1
            new = f"{name}.{count}"
        taken.add(new)
        names.append(new)
    return names


def pandas_arguments(layout: Layout, encoding: str, dropped: list[int]) -> dict[str, Any]:
    """The arguments of ``pandas.read_csv``; ``dropped`` are places of records that are no rows."""
    read: dict[str, Any] = {}
    names = pandas_names(layout)
    if layout.delimiter != ",":
        read["sep"] = r"\s+" if layout.delimiter == " " else layout.delimiter
    if encoding not in ("utf-8", "utf-8-sig"):
        read["encoding"] = encoding
    skip = layout.skip
    if dropped:
        read["skiprows"] = [*range(skip), *dropped]
    elif skip:
        read["skiprows"] = skip
    if not layout.header or layout.comment_header:
        read |= {"header": None, "names": names}
    elif layout.row_names:
        read |= {"header": 0, "names": names}
    if layout.trailing:
        read |= {"index_col": False, "usecols": list(range(len(names)))}
    elif layout.counter:
        read["index_col"] = 0
    if layout.spaced:
        read["skipinitialspace"] = True
    if layout.escape != '"':
        read |= {"escapechar": layout.escape, "doublequote": False}
    as_text = {*layout.codes, *layout.numbers}
    forms = [form for form in layout.numbers.values() if not form.signs and not form.accounting]
    [decimal] = {form.decimal for form in forms} if len({f.decimal for f in forms}) == 1 else {"."}
    marks = {form.thousands for form in forms} - {""}
    thousands = marks.pop() if len(marks) == 1 else ""
    # Arguments are for all columns: they must spoil none.
    if decimal == "," and layout.fractions:
        decimal, thousands = ".", ""
    if not thousands.isascii():
        thousands = ""
    if thousands and (thousands in layout.between or (thousands == "." and layout.fractions)):
        thousands = ""
    if decimal == ",":
        read["decimal"] = decimal
    if thousands:
        read["thousands"] = thousands
    for place, form in layout.numbers.items():
        if form in forms and form.decimal == decimal and form.thousands in ("", thousands):
            as_text.discard(place)
    if as_text:
        read["dtype"] = {names[place]: "str" for place in sorted(as_text)}
    return read


def first_record(layout: Layout) -> int:
    """The place of the first row below the names."""
    return layout.skip + (layout.header and not layout.comment_header)


def damage(text: str) -> list[str]:
    """Sentences on letters that were lost before the file was written."""
    words = dict.fromkeys(_NOT_ASCII.findall(text))
    lost = [word for word in words if "\ufffd" in word]
    twice = {word: meant for word in words if (meant := _decoded_twice(word)) is not None}
    sentences = []
    if lost:
        sentences.append(
            f"Words such as {lost[0]!r} hold a replacement character: their letters were lost "
            "before this file was written."
        )
    if twice:
        word, meant = next(iter(twice.items()))
        sentences.append(
            f"Words such as {word!r}, for {meant!r}, were UTF-8 that was read in another encoding "
            "before this file was written."
        )
    return sentences


def _decoded_twice(word: str) -> str | None:
    for encoding in ("cp1252", "latin-1"):
        try:
            return word.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return None


def _counted(path: str, encoding: str, layout: Layout) -> tuple[int | None, list[list[int]]]:
    """The rows of the table, read by another program than pandas (None in a file too large to be
    read twice), and what is no row: the places of such records, and their lines, both from 0.

    Raises ``Unreadable`` for too many of those."""
    width = len(layout.names)
    allowed = {width, width + 1} if layout.trailing else {width}
    dropped: list[list[int]] = []
    rows = line = 0
    start = first_record(layout)
    limit = csv.field_size_limit(1 << 30)
    with io.TextIOWrapper(opened(path), encoding=encoding, newline="") as stream:
        try:
            records = iter(reader(stream, layout.delimiter, layout.escape))
            for place, row in enumerate(itertools.islice(records, start + MOST_RECORDS)):
                begins, line = line, getattr(records, "line_num", place + 1)
                if place < start or not row or (len(row) == 1 and not row[0].strip(" ")):
                    continue
                if len(row) in allowed:
                    rows += 1
                    continue
                dropped.append([place, begins])
                if line - begins > 1:
                    raise Unreadable(
                        f"has a quote in line {begins + 1:,} that is not closed in its row. Upload "
                        "it as a data set, which leaves out that line only, or repair it"
                    )
                if len(dropped) > MOST_DROPPED:
                    raise Unreadable(_ragged(dropped, layout))
            if next(records, None) is not None:
                return None, dropped
        except csv.Error as error:
            raise Unreadable(f"has a line that cannot be read: {error}") from error
        except UnicodeDecodeError as error:
            raise Unreadable(
                f"is not all text in {encoding} ({error.reason}); choose another encoding"
            ) from error
        finally:
            csv.field_size_limit(limit)
    if len(dropped) > max(rows, 3):
        raise Unreadable(_ragged(dropped, layout))
    return rows, dropped


def _ragged(dropped: list[list[int]], layout: Layout) -> str:
    lines = ", ".join(f"{line + 1:,}" for _, line in dropped[:5])
    return (
        f"is not a table: read with the delimiter {layout.delimiter!r} it has {len(layout.names)} "
        f"columns, but many lines (the first: {lines}) have another number of values"
    )


def _scanned(path: str) -> EncodingScan:
    scan = EncodingScan()
    with opened(path) as stream:
        while block := stream.read(BLOCK):
            scan.feed(block)
    scan.feed(b"", final=True)
    return scan


def texts_of(path: str, encoding: str) -> tuple[str, str]:
    """The beginning of the file, and the last lines of a plain file that goes on."""
    with opened(path) as stream:
        head = stream.read(HEAD)
        whole = not stream.read(1)
    text = head.decode(encoding, errors="replace").lstrip("\ufeff")
    if whole or "\n" not in text:
        return text, ""
    text = text[: text.rindex("\n") + 1]
    if encoding.startswith(("utf-16", "utf-32")) or is_compressed(path):
        return text, ""
    with open(path, "rb") as stream:
        stream.seek(-min(TAIL, os.path.getsize(path) - HEAD), os.SEEK_END)
        _, _, tail = stream.read().partition(b"\n")
    return text, tail.decode(encoding, errors="replace")


def is_compressed(path: str) -> bool:
    """Whether pandas unpacks such a file, by its name."""
    return path.lower().endswith((".gz", ".bz2", ".xz", ".zip"))


def opened(path: str) -> Any:
    """The bytes of the file, unpacked as pandas unpacks it."""
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
            raise Unreadable("is an archive that does not hold exactly one file")
        return archive.open(archive.namelist()[0])
    return open(path, "rb")


def looks_like_text(head: bytes) -> bool:
    """Whether no byte of it is one that texts do not have."""
    return b"\0" not in head and sum(byte < 32 and byte not in b"\t\n\r\f" for byte in head) == 0

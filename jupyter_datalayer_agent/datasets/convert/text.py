"""Prepares text files for DuckDB: UTF-8, one kind of line end, no NUL bytes.

A file is scanned once, in blocks; a copy is made only if it needs changes.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..dialect.encodings import candidates, certain, name_of, uncertain
from ..dialect.file import EncodingScan, wide_encoding
from .outcome import ConversionError, Progress, Report

BLOCK = 1 << 20
LONGEST_LINE = 4_000_000
"""Bytes of a line; a longer one is not read. DuckDB holds several of that size in memory."""
_CONTROL = bytes(byte for byte in range(1, 32) if byte not in b"\t\n\r\f\x1b")
_MOST_CONTROL = 0.02
_FEW = 16


@dataclass
class TextFile:
    """Properties of a file's bytes. ``encoding`` is None if it is not Unicode; ``scan`` then has
    the words that tell which it is."""

    encoding: str | None
    scan: EncodingScan
    nuls: int = 0
    crlf: int = 0
    lf: int = 0
    cr: int = 0

    @property
    def wide(self) -> bool:
        """Whether a character is two or four bytes."""
        return self.encoding is not None and self.encoding.startswith(("utf-16", "utf-32"))

    @property
    def mixed_ends(self) -> bool:
        """Whether lines end in more than one way."""
        if not self.crlf:
            return self.lf > 0 and self.cr > 0
        return self.lf > self.crlf or self.cr > self.crlf


def as_utf8(
    path: Path, work: Path, name: str, report: Report, progress: Progress, encoding: str | None
) -> Path:
    """The file itself, or a copy that DuckDB can read; changes are in the report.

    ``encoding`` is the user's choice for what is not Unicode. Raises ``ConversionError``.
    """
    text = look(path, name, progress)
    copy = work / "text"
    if text.wide:
        report.encoding = str(text.encoding).upper()
        _recode(path, copy, str(text.encoding), "replace")
        return copy
    report.encoding = "UTF-8"
    if text.encoding is None:
        encoding = _decided(text.scan, name, report, encoding)
        report.encoding = name_of(encoding)
        report.notes += text.scan.doubt()
    if text.encoding is None and not text.scan.mixed:
        try:
            _recode(path, copy, str(encoding), "strict")
        except UnicodeDecodeError as error:
            raise ConversionError(
                f"{name} is not all text in {encoding} ({error.reason}). Choose another encoding."
            ) from error
        return copy
    if text.encoding is not None and not text.nuls and not text.mixed_ends:
        return path
    repair = _Repair(encoding or "utf-8")
    with copy.open("wb") as target:
        for block in _line_blocks(path):
            target.write(repair.block(block))
    _add_notes(repair, text, report)
    return copy


def _decided(scan: EncodingScan, name: str, report: Report, chosen: str | None) -> str:
    """The encoding of what is not Unicode. Raises ``ConversionError`` with the choices if it is
    neither given nor certain."""
    words = b"\n".join(scan.words)
    if chosen is not None:
        return chosen
    found = candidates(words)
    if not certain(found):
        raise ConversionError(
            uncertain(name, found),
            {
                "encodings": [
                    {
                        "encoding": each.encoding,
                        "label": name_of(each.encoding),
                        "preview": each.preview,
                    }
                    for each in found
                ]
            },
        )
    report.notes.append(
        f"Its encoding is inferred: {name_of(found[0].encoding)}, in which it has words such as "
        f"{found[0].preview}."
    )
    return found[0].encoding


def look(path: Path, name: str, progress: Progress) -> TextFile:
    """Scan the file. Raises ``ConversionError`` if it is not text."""
    with path.open("rb") as file:
        head = file.read(BLOCK)
    scan = EncodingScan()
    text = TextFile(wide_encoding(head) or "utf-8", scan)
    if text.wide:
        return text
    stripped = head.translate(None, _CONTROL)
    if len(head) - len(stripped) > max(len(head) * _MOST_CONTROL, _FEW):
        raise ConversionError(f"{name} is not a text file: it holds binary data.")
    size, done, last = max(path.stat().st_size, 1), 0, b""
    for block in _blocks(path):
        done += len(block)
        scan.feed(block)
        text.nuls += block.count(b"\0")
        text.crlf += block.count(b"\r\n") + (last == b"\r" and block[:1] == b"\n")
        text.lf += block.count(b"\n")
        text.cr += block.count(b"\r")
        last = block[-1:]
        progress("checking", done / size)
    scan.feed(b"", final=True)
    if not scan.is_utf8:
        text.encoding = None
    if text.nuls > max(size * _MOST_CONTROL, _FEW):
        raise ConversionError(f"{name} is not a text file: it holds binary data.")
    return text


def _recode(path: Path, copy: Path, encoding: str, errors: str) -> None:
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder(encoding)(errors=errors), translate=True
    )
    with copy.open("w", encoding="utf-8", newline="") as target:
        for block in _blocks(path):
            target.write(decoder.decode(block).replace("\0", ""))
        target.write(decoder.decode(b"", final=True))


class _Repair:
    """Converts lines to UTF-8, one by one: one that is not UTF-8 has the other encoding."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self.lines = 0
        self.recoded: list[int] = []
        self.recoded_count = 0
        self.with_nul: list[int] = []

    def block(self, block: bytes) -> bytes:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            block = b"".join(self._line(line, number) for number, line in self._numbered(block))
        if b"\0" in block:
            for number, line in self._numbered(block):
                if b"\0" in line and len(self.with_nul) < 5:
                    self.with_nul.append(number)
            block = block.replace(b"\0", b"")
        self.lines += block.count(b"\n")
        return block

    def _numbered(self, block: bytes) -> Iterator[tuple[int, bytes]]:
        return enumerate(block.splitlines(keepends=True), self.lines + 1)

    def _line(self, line: bytes, number: int) -> bytes:
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            self.recoded_count += 1
            if len(self.recoded) < 5:
                self.recoded.append(number)
            return line.decode(self._encoding, errors="replace").encode()
        return line


def _add_notes(repair: _Repair, text: TextFile, report: Report) -> None:
    if repair.recoded:
        numbers = ", ".join(f"{number:,}" for number in repair.recoded)
        report.notes.append(
            f"{repair.recoded_count:,} lines are not UTF-8 as the others are, and were read as "
            f"{report.encoding}; the first: {numbers}."
        )
    if text.nuls:
        numbers = ", ".join(f"{number:,}" for number in repair.with_nul)
        report.notes.append(f"{text.nuls:,} NUL bytes were left out; the first in line {numbers}.")


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _line_blocks(path: Path) -> Iterator[bytes]:
    """Blocks of whole lines, except lines that are too long to be read."""
    rest = b""
    for block in _blocks(path):
        whole = rest + block
        cut = max(whole.rfind(b"\n"), whole[:-1].rfind(b"\r")) + 1
        if cut == 0 and len(whole) > LONGEST_LINE:
            cut = len(whole)
        yield whole[:cut]
        rest = whole[cut:]
    yield rest

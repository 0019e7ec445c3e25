"""The kind of a file, by its first bytes and then by its name."""

from __future__ import annotations

import zipfile
from pathlib import Path

from ..dialect.file import looks_like_text, refuse_foreign
from ..dialect.layout import Unreadable
from .outcome import ConversionError

TAKEN = "Upload CSV, TSV, Parquet, JSON lines or Excel (.xlsx)."
_WORDS = {
    "csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "jsonl": "JSON lines", "json": "JSON",
    "excel": "Excel",
}  # fmt: skip
_BY_SUFFIX = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet",
    ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".xlsx": "excel",
    ".xlsm": "excel",
}  # fmt: skip


def kind_of(path: Path, name: str) -> tuple[str, str | None]:
    """The format (``csv``, ``tsv``, ``parquet``, ``jsonl``, ``json``, ``excel``), and a note if the
    name says another. Raises ``ConversionError`` for anything else."""
    with path.open("rb") as file:
        head = file.read(4096)
    if not head.strip():
        raise ConversionError(f"{name} is empty.")
    kind = _by_content(path, head, name)
    expected = _BY_SUFFIX.get(Path(name).suffix.lower())
    if kind is None:
        kind = expected if expected in ("csv", "tsv") else _text_kind(head)
    same = expected is None or kind == expected or {kind, expected} <= {"json", "jsonl"}
    note = (
        None if same else f"The name suggests {_WORDS[expected or kind]}, but it is {_WORDS[kind]}."
    )
    return kind, note


def _by_content(path: Path, head: bytes, name: str) -> str | None:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return _archive(path, name)
    try:
        refuse_foreign(head)
    except Unreadable as error:
        raise ConversionError(f"{name} {error}. {TAKEN}") from error
    suffix = Path(name).suffix.lower()
    if suffix in (".parquet", ".pq", ".xlsx", ".xlsm") and not looks_like_text(head):
        what = _WORDS[_BY_SUFFIX[suffix]]
        raise ConversionError(f"{name} is damaged, or not a {what} file at all. {TAKEN}")
    return None


def _archive(path: Path, name: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            inside = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise ConversionError(f"{name} is a damaged Excel file or archive: {error}.") from error
    if "xl/workbook.xml" in inside:
        return "excel"
    if "xl/workbook.bin" in inside:
        raise ConversionError(f"{name} is a binary Excel file (.xlsb). Save it as .xlsx.")
    raise ConversionError(f"{name} is a zip archive. Unpack it first. {TAKEN}")


def _text_kind(head: bytes) -> str:
    """JSON if it begins like JSON, else a delimited table."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    if start.startswith(b"[") and start[1:].lstrip()[:1] in (b"{", b"]"):
        return "json"
    return "csv"

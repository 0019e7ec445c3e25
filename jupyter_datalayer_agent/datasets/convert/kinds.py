"""The kind of a file, by its first bytes and then by its name."""

from __future__ import annotations

import zipfile
from pathlib import Path

from .outcome import ConversionError

TAKEN = "Upload CSV, TSV, Parquet, JSON lines or Excel (.xlsx)."
_SIGNATURES: list[tuple[bytes, str]] = [
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
]
_WORDS = {
    "csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "jsonl": "JSON lines", "json": "JSON",
    "excel": "Excel",
}  # fmt: skip
_BY_SUFFIX = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet",
    ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".xlsx": "excel",
    ".xlsm": "excel",
}  # fmt: skip
# Two of the signatures are letters with which a text may begin.
_WEAK = (b"BM", b"MZ", b"RIFF", b"GIF8")


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
    for signature, what in _SIGNATURES:
        if head.startswith(signature) and not (signature in _WEAK and _is_text(head)):
            raise ConversionError(f"{name} is {what}. {TAKEN}")
    suffix = Path(name).suffix.lower()
    if suffix in (".parquet", ".pq", ".xlsx", ".xlsm") and not _is_text(head):
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


def _is_text(head: bytes) -> bool:
    return b"\0" not in head and sum(byte < 32 and byte not in b"\t\n\r\f" for byte in head) == 0

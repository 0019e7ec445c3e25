"""Whether a file is what is left of a database, found without writing to it.

SQLite takes an empty file for a new database and throws a log beside it away, and it does not
notice a last page that was cut. The header's fields are those of https://sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from pathlib import Path

MAGIC = b"SQLite format 3\x00"
HEADER_SIZE = 100


def damage(path: Path) -> str | None:
    """What is wrong with the database file ``path``; None when nothing is seen.

    What is inside the pages is SQLite's to check, when it reads them.
    """
    with path.open("rb") as file:
        header = file.read(HEADER_SIZE)
        size = file.seek(0, 2)
    logged = _has(path, "-wal")
    if size == 0:
        return "the file is empty, and its write-ahead log is not" if logged else None
    if not header.startswith(MAGIC):
        return "it does not begin as an SQLite database does"
    # With a log, the file may rightly be shorter: its end is still in the log. With a journal, a
    # write was cut off, and SQLite takes it back.
    if not logged and not _has(path, "-journal") and size < _size(header):
        return f"it is cut off: {size} of {_size(header)} bytes are left"
    return None


def _has(path: Path, suffix: str) -> bool:
    beside = path.with_name(f"{path.name}{suffix}")
    return beside.exists() and beside.stat().st_size > 0


def _size(header: bytes) -> int:
    """How long the header says that the file is, in bytes; the header itself if it does not say."""
    if len(header) < HEADER_SIZE:
        return HEADER_SIZE
    (page_size,) = struct.unpack_from(">H", header, 16)
    changes, pages = struct.unpack_from(">II", header, 24)
    (valid_for,) = struct.unpack_from(">I", header, 92)
    if changes != valid_for:
        return HEADER_SIZE
    return int(pages) * (65_536 if page_size == 1 else int(page_size))

"""What is around a notebook: the libraries that its kernel has imported, and the data files beside
it."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from pathlib import PurePosixPath

from ...datasets.incoming import format_size
from ...notebook.service import NotebookService
from ...tools.data_rows import DATA_SUFFIXES

MOST_LOOKED_AT = 5_000
MOST_FILES = 20
FOLDER_SECONDS = 0.5
"""A folder on a slow disk is left out."""

_BINARY = frozenset(
    [".parquet", ".feather", ".arrow", ".orc", ".avro", ".xlsx", ".xls", ".ods", ".json", ".db",
     ".sqlite", ".sqlite3", ".duckdb", ".h5", ".hdf5", ".nc", ".zarr", ".npy", ".npz", ".pkl",
     ".pickle", ".mat", ".sav", ".dta", ".sas7bdat", ".rds", ".rdata", ".gpkg", ".shp", ".xml"]
)  # fmt: skip
_PACKED = frozenset([".gz", ".bz2", ".xz", ".zst", ".zip"])


async def libraries(notebooks: NotebookService, path: str) -> list[str]:
    """The line about the kernel's libraries, where any are known."""
    versions = await notebooks.libraries.of(path)
    if len(versions) < 2:  # only Python
        return []
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    return [f"Imported in the kernel: {listed}."]


async def data_files(root_dir: str | None, path: str) -> list[str]:
    """The line with names and sizes of the data files beside a notebook, where there are any, and
    the folder answers at once."""
    if root_dir is None:
        return []
    folder = os.path.join(root_dir, *PurePosixPath(path).parent.parts)
    try:
        files = await asyncio.wait_for(asyncio.to_thread(_files_in, folder), FOLDER_SECONDS)
    except (asyncio.TimeoutError, OSError):
        return []
    return [f"Data files in its folder: {files}."] if files else []


def _files_in(folder: str) -> str:
    with os.scandir(folder) as entries:
        looked_at = list(itertools.islice(entries, MOST_LOOKED_AT + 1))
    named = sorted(
        (each for each in looked_at[:MOST_LOOKED_AT] if _is_data(each.name) and each.is_file()),
        key=lambda each: each.name,
    )
    shown = [
        f"{_quoted(each.name)} ({format_size(each.stat().st_size)})" for each in named[:MOST_FILES]
    ]
    more = len(named) - len(shown)
    if shown and (more or len(looked_at) > MOST_LOOKED_AT):
        shown.append(f"{more} more" if len(looked_at) <= MOST_LOOKED_AT else "and more")
    return ", ".join(shown)


def _quoted(name: str) -> str:
    """The name, as JSON where it could be taken for something else; bytes that are no text are
    escaped, too."""
    is_plain = name.isprintable() and ", " not in name
    return name if is_plain else json.dumps(name)


def _is_data(name: str) -> bool:
    if name.startswith((".", "~$")):
        return False
    path = PurePosixPath(name.lower())
    suffix = PurePosixPath(path.stem).suffix if path.suffix in _PACKED else path.suffix
    return suffix in DATA_SUFFIXES or suffix in _BINARY

"""Data sets: what an upload becomes, and its metadata (DESIGN 3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from .base import Wire

DatasetFormat = Literal["csv", "tsv", "parquet", "jsonl", "json", "excel"]


class DatasetColumn(Wire):
    """A column. ``type`` is int64, float64, bool, text, date, timestamp, or as Parquet has it."""

    name: str
    type: str


class RejectedRow(Wire):
    """A row that is not in the data set: its line in the file, from 1, and why."""

    line: int
    reason: str


class DatasetReport(Wire):
    """What was made of a file. ``notes`` are sentences for a user: what was inferred, and what
    is not as one might expect. ``rejected`` has the first of ``rejected_rows`` rows."""

    format: DatasetFormat
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    rejected_rows: int = 0
    rejected: list[RejectedRow] = []
    notes: list[str] = []


class Dataset(Wire):
    """A table under ``.datalayer/datasets/``; ``path`` is relative to the server root.

    Sizes in bytes: ``size`` of the Parquet file, ``memory`` what it takes as a pandas frame, by
    estimate. ``shared``: known to every session. ``created_at`` in ms since 1970.
    """

    name: str
    path: str
    rows: int
    columns: list[DatasetColumn]
    size: int
    memory: int
    source: str
    shared: bool = False
    created_at: int = 0
    report: DatasetReport


class DatasetsReply(Wire):
    """Answer of ``GET datasets``: the newest first, and how large an upload may be, in bytes."""

    datasets: list[Dataset]
    max_upload_bytes: int


class UploadReply(Wire):
    """Answer of ``POST upload``."""

    dataset: Dataset


def _encoding(name: str) -> str:
    try:
        "".encode(name.strip())
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"{name!r} is no encoding that Python knows") from error
    return name.strip()


def _delimiter(text: str) -> str:
    sign = {"tab": "\t", "\\t": "\t", "space": " "}.get(text.strip().lower(), text)
    if len(sign) != 1:
        raise ValueError("give one character, or tab or space")
    return sign


class ReadingChoices(Wire):
    """How a text table is written, where that should not be detected."""

    encoding: Annotated[str, AfterValidator(_encoding)] | None = Field(
        default=None,
        description="The encoding of a text file, such as gbk or cp1252. Default: detected.",
    )
    delimiter: Annotated[str, AfterValidator(_delimiter)] | None = Field(
        default=None,
        description="The character between values, or tab or space. Default: detected.",
    )
    decimal: Literal[".", ","] | None = Field(
        default=None,
        description="The decimal mark of numbers such as 1.234, which can be read in two ways. "
        "Default: detected for each column.",
    )


class UploadForm(ReadingChoices):
    """The fields of ``POST upload``, a ``multipart/form-data`` body."""

    file: str = Field(json_schema_extra={"format": "binary"})
    session_id: str | None = None
    name: str | None = None


class UploadProgress(Wire):
    """A line of ``POST upload`` for who accepts ``application/x-ndjson``, while the file is read:
    ``fraction`` from 0 to 1, where it is known. The last line is an ``UploadReply`` or an
    ``ErrorReply``."""

    stage: Literal["waiting", "checking", "converting"]
    fraction: float | None = None

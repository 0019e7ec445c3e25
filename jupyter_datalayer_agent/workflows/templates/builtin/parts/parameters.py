"""Parameters that the built-in templates share, and what is wrong with a path."""

from __future__ import annotations

import posixpath
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from .....protocol.base import Wire
from .....protocol.datasets import ReadingChoices


def _inside_root(path: str) -> str:
    """A path relative to the server root, tidied. Raises ``ValueError`` for one that leads out."""
    tidy = posixpath.normpath(path.strip().replace("\\", "/").lstrip("/")) if path.strip() else ""
    if tidy in ("", ".") or tidy == ".." or tidy.startswith("../"):
        raise ValueError("give the path of a file under the server root")
    return tidy


def _notebook_name(path: str) -> str:
    tidy = _inside_root(path)
    return tidy if tidy.endswith(".ipynb") else f"{tidy}.ipynb"


DataPath = Annotated[str, AfterValidator(_inside_root)]
NotebookPath = Annotated[str, AfterValidator(_notebook_name)]


class NotebookParameters(Wire):
    """The file that is written."""

    notebook: NotebookPath | None = Field(
        default=None, description="The notebook to write, a path under the server root."
    )


class ReadingParameters(NotebookParameters, ReadingChoices):
    """The file that is written, and how the data file is, where that should not be detected."""


class DataParameters(ReadingParameters):
    """A data file, and what is optional about its columns."""

    data: DataPath = Field(description="The CSV or Parquet file, a path under the server root.")
    target: str | None = Field(
        default=None, description="The column of most interest. Left out, none is singled out."
    )
    date_column: str | None = Field(
        default=None, description="The column that holds the time. Left out, it is inferred."
    )


def title_of(what: str, parameters: Any) -> str:
    """``# Exploratory data analysis: cars.csv``"""
    name = posixpath.basename(getattr(parameters, "data", None) or "")
    return f"# {what}: {name}" if name else f"# {what}"

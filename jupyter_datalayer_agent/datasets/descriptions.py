"""A data set as text for the model: its shape and types, without values."""

from __future__ import annotations

from ..protocol.datasets import Dataset
from .incoming import format_size

MOST_COLUMNS = 200


def described(dataset: Dataset) -> str:
    """For the context of a message."""
    columns = ", ".join(f"{each.name} {each.type}" for each in dataset.columns[:MOST_COLUMNS])
    more = len(dataset.columns) - MOST_COLUMNS
    rest = f", and {more} more columns" if more > 0 else ""
    lost = ""
    if dataset.report.rejected_rows:
        lost = (
            f" {dataset.report.rejected_rows:,} rows of the file did not parse and are not in it."
        )
    return (
        f"Attached data set {dataset.name}: {dataset.rows:,} rows, {format_size(dataset.size)} in "
        f"{dataset.path} (Parquet, of {dataset.source}). Columns: {columns}{rest}.{lost} "
        "loadDatasetFull binds it in the kernel."
    )

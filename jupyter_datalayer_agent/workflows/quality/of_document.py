"""The report of a notebook under the server root, as it is in the page or in its file."""

from __future__ import annotations

import asyncio
from typing import Any

from ...notebook.document import DocumentError
from ...notebook.service import NotebookService
from ...protocol.cells import PageNotebook
from ...protocol.workflows import QualityReport
from .report import analyse_notebook, failed


async def quality_of(
    notebooks: NotebookService, path: str, client_id: str | None = None
) -> QualityReport:
    """The report of the notebook. Raises ``DocumentError`` if the file is missing; an invalid
    notebook has a score of 0."""
    try:
        read = await notebooks.read(path, client_id, whole=True)
        stale = await notebooks.staleness.look(path, read)
    except DocumentError as error:
        if error.code != "invalid_arguments":
            raise
        return failed(error.message)
    return await asyncio.to_thread(analyse_notebook, as_notebook(read), stale=stale)


def as_notebook(read: PageNotebook) -> dict[str, Any]:
    """A notebook as nbformat has it, as far as it was read: cells, and the kernel's language."""
    language = {"name": read.kernel_language} if read.kernel_language else {}
    spec = {"name": read.kernel_name} if read.kernel_name else {}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": spec, "language_info": language},
        "cells": [cell.cell for cell in read.cells],
    }


def rendered(report: QualityReport, most: int = 15) -> str:
    """The report as a few lines of text, for the model: the ``most`` first issues."""
    lines = [f"Quality of the notebook: {report.score} of 100"]
    for issue in report.issues[:most]:
        cell = f", cell {issue.index + 1} ({issue.cell_id})" if issue.index is not None else ""
        lines.append(f"- {issue.severity}{cell}: {issue.message}")
    if len(report.issues) > most:
        lines.append(f"- and {len(report.issues) - most} more")
    return "\n".join(lines)

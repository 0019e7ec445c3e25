"""Puts a tutorial's notebook and its data into a folder; existing files are kept."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ...notebook.document import DocumentError
from ...notebook.service import NotebookService
from .lesson import TutorialContent, notebook_cells

FOLDER = "tutorials"


async def start_tutorial(
    notebooks: NotebookService,
    tutorial: TutorialContent,
    folder: str | None = None,
    client_id: str | None = None,
) -> tuple[str, bool]:
    """The notebook's path, and whether it was made now.

    The folder is made where it is missing, and so is each data file. Raises ``DocumentError``.
    """
    place = await notebooks.confine(FOLDER if folder is None else folder or ".")
    path = f"{place}/{tutorial.notebook}" if place else tutorial.notebook
    # Two clicks on Start make one notebook.
    async with notebooks.lock(path):
        await _make_folder(notebooks, place)
        for name in tutorial.data:
            beside = f"{place}/{name}" if place else name
            if not await notebooks.exists(beside):
                await notebooks.create_file(beside, data_text(name))
        created = not await notebooks.exists(path)
        if created:
            await _make_notebook(notebooks, tutorial, path)
    await notebooks.show(path, client_id)
    return path, created


def data_text(name: str) -> str:
    """The text of a data file that the package brings along."""
    return (files(__package__) / "data" / name).read_text(encoding="utf-8")


async def _make_notebook(notebooks: NotebookService, tutorial: TutorialContent, path: str) -> None:
    made = await notebooks.create(path, await _python_kernel(notebooks))
    try:
        document = await notebooks.open(made)
        await document.edit(notebook_cells(tutorial))
    except BaseException:
        # An empty notebook would be taken for the learner's own the next time.
        await notebooks.delete(made)
        raise


async def _python_kernel(notebooks: NotebookService) -> str | None:
    """The kernel that the notebook is for: ``python3`` where there is one, else any for Python."""
    names = [
        str(spec["name"])
        for spec in await notebooks.kernel_specs()
        if str(spec["language"]).lower() == "python"
    ]
    return "python3" if "python3" in names else next(iter(names), None)


async def _make_folder(notebooks: NotebookService, place: str) -> None:
    manager: Any = notebooks.contents_manager
    parts = place.split("/") if place else []
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        try:
            if await ensure_async(manager.file_exists(folder)):
                raise DocumentError(
                    "invalid_arguments", f"{folder} is a file.", "Choose another folder."
                )
            if not await ensure_async(manager.dir_exists(folder)):
                await ensure_async(manager.save({"type": "directory"}, folder))
        except HTTPError as error:
            why = error.log_message or error
            raise DocumentError("internal", f"{folder} could not be made: {why}") from error

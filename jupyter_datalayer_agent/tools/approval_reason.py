"""The reason why a tool's code needs approval: what it does beyond the kernel, given the notebook's
folder, language and other cells."""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Collection, Sequence

from ..notebook.service import NotebookService
from ..protocol.cells import PageNotebook
from .context import ToolContext
from .risky_code import Place, Reason, actions_in, may_be_risky, reason_of
from .risky_code.action import reason

Codes = Sequence[tuple[str, str]]


async def reason_in_notebook(
    codes: Codes,
    context: ToolContext,
    path: str,
    notebook: PageNotebook | None = None,
    besides: Collection[str] = (),
) -> Reason | None:
    """The reason of these (subject, code) in the notebook's kernel.

    ``notebook`` is the notebook if it was just read, and ``besides`` the ids of the cells that the
    codes replace.
    """
    if not codes:
        return None
    if notebook is None:
        kernel = await context.notebooks.kernel_of(path)
        known = str(kernel["language"]).lower() if kernel else None
        if known == "python" and not any(may_be_risky(code) for _, code in codes):
            return None  # the usual case: the notebook need not be read
        notebook = await context.notebook(path)
    place = _place(context.notebooks, notebook, besides)
    return await asyncio.to_thread(reason_of, codes, place)


async def reason_in_kernel(
    codes: Codes, context: ToolContext, kernel_id: str | None
) -> Reason | None:
    """The reason of code in a kernel without a notebook, which works in the server's root."""
    language = "python"
    if kernel_id is not None:
        kernels = await context.notebooks.kernels()
        found = (each["language"] for each in kernels if each["id"] == kernel_id)
        language = str(next(found, language))
    place = Place(context.notebooks.root_dir, language.lower())
    return await asyncio.to_thread(reason_of, codes, place)


async def reason_of_changes(
    subject: str,
    changes: Sequence[tuple[str, str]],
    notebooks: NotebookService,
    notebook: PageNotebook,
) -> Reason | None:
    """The reason of changed sources (before, after) that are about to run, without what the source
    did before the change."""
    place = _place(notebooks, notebook)

    def new() -> Reason | None:
        found = []
        for before, after in changes:
            known = {action.description for action in actions_in(before, place)}
            found += [
                action for action in actions_in(after, place) if action.description not in known
            ]
        return reason((subject, action) for action in found)

    return await asyncio.to_thread(new)


def _place(
    notebooks: NotebookService, notebook: PageNotebook, besides: Collection[str] = ()
) -> Place:
    root = notebooks.root_dir
    parts = posixpath.dirname(notebook.path).split("/")
    others = [
        cell.source for cell in notebook.cells if cell.type == "code" and cell.id not in besides
    ]
    language = (notebook.kernel_language or "python").lower()
    return Place(None if root is None else os.path.join(root, *parts), language, others)

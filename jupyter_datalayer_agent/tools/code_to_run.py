"""The code that a call would run, and what its text shows that it does beyond the kernel."""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..notebook.service import NotebookService
from ..protocol.cells import PageNotebook
from ..protocol.tools import CodePart
from .context import ToolContext
from .risky_code import PYTHON, Place, Reason, actions_in, local_modules, may_be_risky, reason_of
from .risky_code.action import reason


@dataclass(frozen=True)
class CodeToRun:
    """Code in its order, and where it runs: in the kernel of the document ``path``, in the kernel
    ``kernel_id``, or, without either, in the scratch kernel.

    ``notebook`` is the document, if it was just read. ``besides`` are the ids of the cells that the
    parts replace.
    """

    parts: tuple[CodePart, ...]
    path: str | None = None
    kernel_id: str | None = None
    notebook: PageNotebook | None = None
    besides: frozenset[str] = frozenset()

    @property
    def names_cells(self) -> bool:
        """Whether it is the source of cells, which may be changed before it runs."""
        return any(part.cell_id is not None for part in self.parts)


@dataclass(frozen=True)
class Look:
    """What the text shows: why it needs approval before it runs, None if it does not.

    ``kernel_id`` is None for a kernel that is not started yet. ``is_watched``: the reason leaves
    out what the guard in that kernel sees. ``folder`` is what the code's paths are relative to
    until it changes that, None if unknown.
    """

    reason: Reason | None
    kernel_id: str | None = None
    is_watched: bool = False
    folder: str | None = None


async def look_at(
    code: CodeToRun, context: ToolContext, *, is_watched: bool | None = None, whole: bool = False
) -> Look:
    """Examine the text of code that is about to run.

    ``is_watched``: whether the guard is known to work in its kernel. A ``whole`` look is a preview,
    and includes what the guard sees.
    """
    kernel = await _kernel_of(code, context.notebooks) or {}
    kernel_id, notebook = kernel.get("id"), code.notebook
    language = str(kernel.get("language") or "").lower()
    codes = [(part.subject, part.source) for part in code.parts]
    is_plain = not any(may_be_risky(source) for _, source in codes)
    # Most code is a plain cell of a Python kernel, for which the notebook need not be read.
    if notebook is None and code.path is not None and not (is_plain and language == "python"):
        notebook = await context.notebook(code.path)
    if notebook is not None and not language:
        language = (notebook.kernel_language or "").lower()
    if is_watched is None:
        is_watched = language in PYTHON and context.notebooks.may_be_watched(kernel_id)
    path = code.path if notebook is None else notebook.path
    place = _place(context.notebooks, path, language)
    place = replace(
        place, is_watched=is_watched and not whole, cells=_others(notebook, code.besides)
    )

    def found_in() -> Reason | None:
        looks_at_files = language in PYTHON and not is_watched
        files = local_modules([source for _, source in codes], place.folder)
        return reason_of([*codes, *(files if looks_at_files else ())], place)

    found = await asyncio.to_thread(found_in) if codes else None
    return Look(found, kernel_id, is_watched, place.folder)


async def _kernel_of(code: CodeToRun, notebooks: NotebookService) -> dict[str, Any] | None:
    if code.kernel_id is None:
        return None if code.path is None else await notebooks.kernel_of(code.path)
    kernels = await notebooks.kernels()
    found = next((each for each in kernels if each["id"] == code.kernel_id), None)
    return found or {"id": code.kernel_id}


async def reason_of_changes(
    subject: str,
    changes: Sequence[tuple[str, str]],
    notebooks: NotebookService,
    notebook: PageNotebook,
) -> Reason | None:
    """Return the reason for changed sources, (before, after), that are about to run unwatched. What
    the source did before the change is left out."""
    language = (notebook.kernel_language or "").lower()
    place = _place(notebooks, notebook.path, language)
    place = replace(place, cells=_others(notebook))

    def new() -> Reason | None:
        found = []
        for before, after in changes:
            known = {action.description for action in actions_in(before, place)}
            found += [
                action for action in actions_in(after, place) if action.description not in known
            ]
        return reason(((subject, action) for action in found), place.folder)

    return await asyncio.to_thread(new)


def _place(notebooks: NotebookService, path: str | None, language: str) -> Place:
    folder = notebooks.root_dir
    if path is not None and folder is not None:
        folder = os.path.join(folder, *posixpath.dirname(path).split("/"))
    return Place(folder, language or "python")


def _others(
    notebook: PageNotebook | None, besides: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    cells = [] if notebook is None else notebook.cells
    return tuple(e.source for e in cells if e.type == "code" and e.id not in besides)

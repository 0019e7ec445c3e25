"""Gathers what the model is sent about attached and active documents before its message."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ...notebook.context.notebook_context import MOST_SHOWN, render_file, shares_of
from ...notebook.document import DocumentError
from ...notebook.files.kinds import is_lexical
from ...protocol.base import NotebookMode
from ...protocol.cells import PageCell
from ...protocol.context import FileContext, NotebookContext
from ...tools.context import SeenCells
from ...tools.data_rows import beginning, data_part, is_data
from ...tools.outputs import render_outputs
from ...tools.redaction import PrivateText, text
from ..request import TurnRequest
from ..runtime import Runtime
from .attachments import attached
from .composition import NotebookNow, Piece
from .inline import asked_from, decided_on
from .surroundings import data_files, libraries
from .tool_mentions import hint, references


@dataclass
class Gathered:
    """What a turn is about, as it is now. ``reason``: why notebook mode is off."""

    notebook_mode: NotebookMode
    pieces: list[Piece]
    notebook: NotebookContext | None = None
    file: FileContext | None = None
    reason: str | None = None


async def gather(
    runtime: Runtime,
    request: TurnRequest,
    seen: SeenCells | None = None,
    *,
    asks_kernel: bool = False,
) -> Gathered:
    """Everything that such a turn may state; attached cells are noted in ``seen``. With
    ``asks_kernel`` the notebook's kernel is asked for its libraries."""
    if asks_kernel and request.gate.target is not None:
        runtime.notebooks.libraries.ask(request.gate.target)
    gathered = Gathered(request.gate.notebook_mode, [])
    pieces = gathered.pieces
    shown = await _notebook(runtime, request, gathered)
    await _lexical(runtime, request, gathered)
    await _files(runtime, request, gathered)
    pieces += await attached(runtime, request, shown, seen)
    pieces += _of_message(request)
    return gathered


def _of_message(request: TurnRequest) -> list[Piece]:
    """What applies to this message only."""
    pieces = []
    meant = references(request)
    if meant:
        names = [each.tool.name for each in meant]
        pieces.append(Piece("references", hint(meant), names=names, lasting=False))
    for said in (asked_from(request), decided_on(request)):
        if said is not None:
            pieces.append(Piece("state", said, lasting=False))
    return pieces


async def _notebook(runtime: Runtime, request: TurnRequest, gathered: Gathered) -> set[str]:
    """Add the active notebook; returns the ids of cells that its text shows whole."""
    target = request.gate.target
    pieces = gathered.pieces
    if target is None:
        gathered.reason = request.gate.why_off()
        pieces.append(Piece("state", f"Notebook mode is off: {gathered.reason}"))
        return set()
    shown: set[str] = set()
    try:
        notebooks = runtime.notebooks
        (cells, notebook), files = await asyncio.gather(
            notebooks.cells_and_context(target, request.chat.client_id),
            data_files(notebooks.root_dir, target),
        )
    except DocumentError as error:
        said = f"The notebook {target} cannot be read: {error.message}"
        label = f"Notebook {target}"
        pieces.append(Piece("notebook", said, target, label=label, topic="unreadable"))
    else:
        gathered.notebook = notebook
        around = [*await libraries(notebooks, target), *files]
        now = NotebookNow(cells, notebook, outputs_of(cells), around)
        pieces.append(Piece("notebook", path=target, notebook=now))
        shown = shown_whole(now)
    others = sorted(request.gate.attached.difference(request.gate.targets))
    if others:
        said = f"Also attached, but not active, so you have no access: {', '.join(others)}"
        pieces.append(Piece("state", said, topic="closed"))
    if request.gate.below is not None:
        said = f"The user wrote this in the cell id={request.gate.below}. Leave position out to"
        pieces.append(Piece("state", f"{said} add cells below it.", lasting=False))
    return shown


async def _lexical(runtime: Runtime, request: TurnRequest, gathered: Gathered) -> None:
    """Add the active Lexical document, and say which attached ones are closed."""
    targets = request.gate.lexical_targets
    for path in targets[:1]:
        from ...notebook.lexical.context import build_document_context

        label = f"Lexical document {path}"
        try:
            document = await runtime.notebooks.lexical.read(path, request.chat.client_id)
        except DocumentError as error:
            said = f"The Lexical document {path} cannot be read: {error.message}"
            gathered.pieces.append(Piece("file", said, path, label=label, topic="unreadable"))
            continue
        shown = build_document_context(document)
        gathered.pieces.append(Piece("file", shown.text, path, label=label, blocks=shown.seen))
    others = sorted(request.gate.lexical_attached.difference(targets))
    if others:
        said = f"Also attached, but not active, so you have no access: {', '.join(others)}"
        gathered.pieces.append(Piece("state", said, topic="closed documents"))


async def _files(runtime: Runtime, request: TurnRequest, gathered: Gathered) -> None:
    """Add the active text file and the attached ones."""
    paths = list(request.files)
    active = request.active_document
    if (
        active is not None
        and active.kind == "file"
        and not (active.path in paths or is_lexical(active.path))
    ):
        if await runtime.notebooks.text_files.why_closed(active.path):
            said = f"The active file {active.path} holds secrets: no access unless it is attached."
            gathered.pieces.append(Piece("state", said, topic="closed"))
        else:
            paths.insert(0, active.path)
    for path in paths:
        label = f"File {path}"
        try:
            file = await runtime.notebooks.file_context(path, request.chat.client_id)
        except DocumentError as error:
            said = f"The file {path} cannot be read: {error.message}"
            gathered.pieces.append(Piece("file", said, path, label=label))
            continue
        gathered.file = gathered.file or file
        if is_data(path) and request.location != "inline":
            # An inline chat proposes the whole file.
            shown = beginning(file.content)
            is_cut = file.truncated or len(shown) < len(file.content)
            file = file.model_copy(update={"content": shown, "truncated": is_cut})
        gathered.pieces.append(Piece("file", rendered_file(file), path, label=label, file=file))


def rendered_file(file: FileContext) -> PrivateText:
    """The text for a file; the content of a data file is private."""
    shown = render_file(file)
    content = data_part(file.path, file.content)
    head, found, tail = shown.rpartition(file.content)
    return text(head, content, tail) if found and content is not None else text(shown)


def outputs_of(cells: Sequence[PageCell]) -> dict[str, PrivateText]:
    """What the outputs say of the cells that a text can show with them."""
    few = len(cells) <= MOST_SHOWN
    shown = [cell for cell in cells if few or cell.selection_status != "unselected"]
    texts = {cell.id: render_outputs(cell.outputs)[0] for cell in shown if cell.outputs}
    return {cell_id: text for cell_id, text in texts.items() if text}


def shown_whole(now: NotebookNow) -> set[str]:
    """The ids of the cells whose whole source the rendered text shows."""
    shares = shares_of(now.cells, now.outputs)
    return {
        cell.id
        for cell in now.cells
        if cell.selection_status != "unselected"
        or (shares is not None and shares.sources[cell.id] == len(cell.source))
    }

"""The current context as one input item: what stands before the person's message, and only now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..notebook.context import render_attached, render_context, render_file
from ..notebook.document import DocumentError
from ..notebook.edits import source_hash
from ..protocol.context import (
    CellContext,
    ContextPart,
    ContextReply,
    FileContext,
    NotebookContext,
    PartKind,
)
from ..tools.context import SeenCells
from ..tools.drafts import Asking
from ..tools.outputs import ROW_DATA
from ..tools.private import Part, PrivateText, Refused, Sharing, Shown, private_parts, text, told
from ..tools.tables import looks_like_rows
from .attached import attached_outputs, attached_variables
from .datasets import attached_datasets
from .inline_context import asked_from, decided_on
from .references import hint, references
from .services import Services
from .targets import Submission

# Of the cells that are not selected, the rendered text holds this many characters each (DESIGN 6).
WHOLE_CELL_CHARACTERS = 2_000
WHOLE_NOTEBOOK_CHARACTERS = 50_000
DATA_SUFFIXES = frozenset(
    [".csv", ".tsv", ".tab", ".psv", ".jsonl", ".ndjson", ".geojson", ".arff", ".dat"]
)
"""Text files that hold rows of data; those of ``MAYBE_DATA`` do when they look like it."""
MAYBE_DATA = frozenset([".json", ".txt", ".xml", ".log", ""])
# A task with such a word is given the notebook's quality report, in Agent mode.
_REVIEW = re.compile(r"\b(analy[sz]e|review|audit)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Piece:
    """A part of the context before it is decided what of it may be sent."""

    kind: PartKind
    said: str | PrivateText
    path: str | None = None
    names: Sequence[str] = ()


async def gather(
    services: Services,
    about: Submission,
    seen: SeenCells | None = None,
    sharing: Sharing | None = None,
) -> ContextReply:
    """What a turn about this would send; cells shown whole are noted in ``seen``.

    ``sharing`` decides about rows of data that are in it; without one they are sent.
    """
    reply = ContextReply(text="", tokens=0, notebook_mode=about.gate.notebook_mode)
    target = about.gate.target
    pieces, shown = await _notebook(services, about, reply, seen)
    pieces += await _files(services, about, reply)
    pieces += [
        _Piece("dataset", said, names=[name])
        for name, said in await attached_datasets(services, about)
    ]
    for path, ids in about.cells.items():
        said = await _attached_cells(
            services, about, path, ids, shown if path == target else set(), seen
        )
        pieces.append(_Piece("cells", said, path, ids))
    for path, ids in about.outputs.items():
        pieces.append(
            _Piece("outputs", await attached_outputs(services, about, path, ids), path, ids)
        )
    for path, names in about.variables.items():
        pieces.append(
            _Piece("variables", await attached_variables(services, path, names), path, names)
        )
    if target is not None and about.gate.may_change and _REVIEW.search(about.text):
        quality = await _quality(services, target, about.request.client_id)
        pieces.append(_Piece("quality", quality, target))
    meant = references(services, about)
    if meant:
        names = [each.tool.name for each in meant]
        pieces.append(_Piece("references", hint(meant), names=names))
    place = asked_from(about)
    if place is not None:
        pieces.append(_Piece("state", place))
    decided = decided_on(about)
    if decided is not None:
        pieces.append(_Piece("state", decided))
    await _share(reply, pieces, sharing)
    return reply


async def _notebook(
    services: Services, about: Submission, reply: ContextReply, seen: SeenCells | None
) -> tuple[list[_Piece], set[str]]:
    """The notebook in front, and the ids of its cells that are shown whole."""
    target = about.gate.target
    if target is None:
        reply.reason = about.gate.why_off()
        return [_Piece("state", f"Notebook mode is off: {reply.reason}")], set()
    pieces: list[_Piece] = []
    shown: set[str] = set()
    try:
        notebook = await services.notebooks.context(target, about.request.client_id)
    except DocumentError as error:
        said = f"The notebook {target} cannot be read: {error.message}"
        pieces.append(_Piece("notebook", said, target))
    else:
        reply.notebook = notebook
        pieces.append(_Piece("notebook", render_context(notebook), target))
        shown = {cell.id for cell in shown_whole(notebook)}
        if seen is not None:
            for cell in shown_whole(notebook):
                seen.note_hash(target, cell.id, source_hash(cell.content))
    others = sorted(about.gate.attached.difference(about.gate.targets))
    if others:
        said = f"Attached too, but not the active tab, so closed to you: {', '.join(others)}"
        pieces.append(_Piece("state", said))
    if about.gate.below is not None:
        said = f"The person wrote this in the cell id={about.gate.below}. Leave position out to add"
        pieces.append(_Piece("state", f"{said} cells below it."))
    return pieces, shown


async def _files(services: Services, about: Submission, reply: ContextReply) -> list[_Piece]:
    """The text file in front and those that are attached."""
    paths = list(about.files)
    active = about.active_document
    if active is not None and active.kind == "file" and active.path not in paths:
        paths.insert(0, active.path)
    pieces = []
    for path in paths:
        try:
            file = await services.notebooks.file_context(path, about.request.client_id)
        except DocumentError as error:
            said = f"The file {path} cannot be read: {error.message}"
            pieces.append(_Piece("file", said, path))
            continue
        reply.file = reply.file or file
        pieces.append(_Piece("file", rendered_file(file), path))
    return pieces


async def _share(reply: ContextReply, pieces: Sequence[_Piece], sharing: Sharing | None) -> None:
    """Decide what may be sent, and write text, parts and sizes into the reply."""
    said = [text(piece.said) for piece in pieces]
    between = [part for each in said for part in ("\n\n", each)][1:]
    whole = text("<context>\n", *between, "\n</context>")
    refused = await _refused(whole, sharing)
    reply.text = str(told(whole, refused))
    reply.tokens = estimate(reply.text)
    for piece, each in zip(pieces, said, strict=True):
        written = str(told(each, refused))
        reply.parts.append(
            ContextPart(
                kind=piece.kind,
                path=piece.path,
                names=list(piece.names),
                text=written,
                tokens=estimate(written),
            )
        )


def rendered_file(file: FileContext) -> PrivateText:
    """The text for a file; where it is a file of data, its content is private."""
    shown = render_file(file)
    if not is_data_file(file.path, file.content):
        return text(shown)
    head, found, tail = shown.rpartition(file.content)
    if not found:
        return text(shown)
    rows = len(file.content.splitlines())
    return text(head, Part(file.content, ROW_DATA, f"{rows:,} lines of data"), tail)


def is_data_file(path: str, content: str) -> bool:
    """Whether a text file holds rows of data."""
    suffix = PurePosixPath(path).suffix.lower()
    return suffix in DATA_SUFFIXES or (suffix in MAYBE_DATA and looks_like_rows(content))


async def _refused(given: PrivateText, sharing: Sharing | None) -> Refused:
    """The kinds that may not be sent, of those in the context."""
    parts = private_parts(given)
    if sharing is None or not parts:
        return {}
    about = Asking("", "context", {}, "what is in the context")
    return await sharing.refused(parts, about, lambda refused: Shown(told(given, refused)))


async def _quality(services: Services, path: str, client_id: str | None) -> str:
    from ..workflows.quality.of_document import quality_of, rendered

    try:
        return rendered(await quality_of(services.notebooks, path, client_id))
    except DocumentError as error:
        return f"The quality of {path} could not be looked at: {error.message}"


async def _attached_cells(
    services: Services,
    about: Submission,
    path: str,
    ids: list[str],
    shown: set[str],
    seen: SeenCells | None,
) -> str:
    """The attached cells of a notebook. The person gave these, whatever tab is the active one."""
    try:
        document = await services.notebooks.open(path, about.request.client_id)
        cells = [cell for cell in (await document.read()).cells if cell.id in ids]
    except DocumentError as error:
        return f"The attached cells of {path} cannot be read: {error.message}"
    if seen is not None and path in about.gate.targets:
        seen.note(path, cells)
    said = [render_attached(path, cells, shown)] if cells else []
    gone = [each for each in ids if all(cell.id != each for cell in cells)]
    if gone:
        said.append(f"Attached, but no longer in {path}: the cells {', '.join(gone)}")
    return "\n".join(said)


def estimate(written: str) -> int:
    """Tokens of a text, estimated."""
    from ..models.tokens import estimate_tokens

    return estimate_tokens(written)


def shown_whole(notebook: NotebookContext) -> list[CellContext]:
    """The cells whose whole source the rendered text shows."""
    shown = list(notebook.selected_cells)
    cells = notebook.all_cells or []
    if sum(len(cell.content) for cell in cells) <= WHOLE_NOTEBOOK_CHARACTERS:
        shown += [cell for cell in cells if len(cell.content) <= WHOLE_CELL_CHARACTERS]
    return shown

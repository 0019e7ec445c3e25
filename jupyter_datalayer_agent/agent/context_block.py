"""The current context as one input item: what stands before the person's message, and only now."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from ..notebook.context import render_attached, render_context, render_file
from ..notebook.document import DocumentError
from ..notebook.edits import source_hash
from ..protocol.context import CellContext, ContextReply, FileContext, NotebookContext
from ..tools.context import SeenCells
from ..tools.drafts import Asking
from ..tools.outputs import ROW_DATA
from ..tools.private import Part, PrivateText, Sharing, Shown, private_parts, text, told
from ..tools.tables import looks_like_rows
from .datasets import attached_datasets
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


async def gather(
    services: Services,
    about: Submission,
    seen: SeenCells | None = None,
    sharing: Sharing | None = None,
) -> ContextReply:
    """What a turn about this would send; cells shown whole are noted in ``seen``.

    ``sharing`` decides about rows of data that are in it; without one they are sent.
    """
    parts: list[str] = []
    reply = ContextReply(text="", tokens=0, notebook_mode=about.gate.notebook_mode)
    target = about.gate.target
    shown: set[str] = set()
    if target is not None:
        try:
            notebook = await services.notebooks.context(target, about.request.client_id)
        except DocumentError as error:
            parts.append(f"The notebook {target} cannot be read: {error.message}")
        else:
            reply.notebook = notebook
            parts.append(render_context(notebook))
            shown = {cell.id for cell in shown_whole(notebook)}
            if seen is not None:
                for cell in shown_whole(notebook):
                    seen.note_hash(target, cell.id, source_hash(cell.content))
        others = sorted(about.gate.attached.difference(about.gate.targets))
        if others:
            parts.append(
                f"Attached too, but not the active tab, so closed to you: {', '.join(others)}"
            )
    else:
        reply.reason = about.gate.why_off()
        parts.append(f"Notebook mode is off: {reply.reason}")
    paths = list(about.files)
    active = about.active_document
    if active is not None and active.kind == "file" and active.path not in paths:
        paths.insert(0, active.path)
    for path in paths:
        try:
            file = await services.notebooks.file_context(path, about.request.client_id)
        except DocumentError as error:
            parts.append(f"The file {path} cannot be read: {error.message}")
            continue
        reply.file = reply.file or file
        parts.append(rendered_file(file))
    parts += await attached_datasets(services, about)
    for path, ids in about.cells.items():
        parts.append(
            await _attached_cells(
                services, about, path, ids, shown if path == target else set(), seen
            )
        )
    if target is not None and about.gate.may_change and _REVIEW.search(about.text):
        parts.append(await _quality(services, target, about.request.client_id))
    if about.references:
        parts.append(f"The person means these tools: {', '.join(about.references)}")
    between = [piece for part in parts for piece in ("\n\n", part)][1:]
    reply.text = await shared_text(text("<context>\n", *between, "\n</context>"), sharing)
    reply.tokens = estimate(reply.text)
    return reply


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


async def shared_text(given: PrivateText, sharing: Sharing | None) -> str:
    """The context with what may be sent of it."""
    parts = private_parts(given)
    if sharing is None or not parts:
        return str(given)
    about = Asking("", "context", {}, "the files in the context")
    refused = await sharing.refused(parts, about, lambda refused: Shown(told(given, refused)))
    return str(told(given, refused))


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

"""A turn's checkpoints in the database: written before each change, read for undo."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from typing import Any

from ...notebook.document import DocumentError
from ...notebook.edits.cell_state import CellAfterTurn
from ...notebook.edits.checkpoints import WHOLE_DOCUMENT, Recorded, Recorder
from ...notebook.edits.undo import CellRecord, Span, touched
from ...notebook.files.kinds import is_lexical
from ...notebook.files.restore import TextSpan
from ...notebook.files.text_files import TextFiles
from ...notebook.files.text_state import TextState
from ...notebook.service import NotebookService
from ...protocol.errors import AgentError
from ...protocol.requests import ChangedBlock
from ...store.records import CheckpointCell, CheckpointPart
from ...store.store import Store


def recorded(notebooks: NotebookService, store: Store, turn_id: str) -> NotebookService:
    """The service for one turn, which records its changes so that they can be reverted."""
    return notebooks.recording(Recorder(_StoredCheckpoints(store, turn_id)))


@dataclass(frozen=True)
class DocumentChanges:
    """A turn's changes to a document that are neither kept nor reverted.

    ``made``: the turn created the document. ``made_text`` is then the digest of a text file as the
    turn left it, None for a notebook. ``texts`` are the changes to a text file.
    """

    path: str
    spans: list[Span]
    made: bool
    made_text: str | None
    texts: list[TextSpan]

    @property
    def ids(self) -> list[str]:
        """The cells, and the document itself if the turn created it or changed its text."""
        whole = self.made or self.texts
        return [*touched(self.spans), *([WHOLE_DOCUMENT] if whole else [])]

    @property
    def is_text(self) -> bool:
        """Whether it is a text file."""
        return bool(self.texts) or self.made_text is not None


async def open_changes(store: Store, turn_id: str) -> list[DocumentChanges]:
    """The turn's changes that are neither kept nor reverted, by document."""
    spans: dict[str, list[Span]] = {}
    made: dict[str, str | None] = {}
    texts: dict[str, list[TextSpan]] = {}
    for stored in await store.checkpoints.open_spans(turn_id):
        cells = {cell.cell_id: cell for cell in stored.cells}
        whole = cells.pop(WHOLE_DOCUMENT, None)
        if whole is not None and whole.before is None:
            made[stored.path] = whole.left["text"]
        elif whole is not None:
            span = TextSpan(TextState.from_json(whole.before), TextState.from_json(whole.left))
            texts.setdefault(stored.path, []).append(span)
        spans.setdefault(stored.path, []).append(
            Span(
                order=stored.order,
                order_left=stored.order_left,
                moved=stored.moved,
                cells={each: _record(cell) for each, cell in cells.items()},
            )
        )
    return [
        DocumentChanges(path, parts, path in made, made.get(path), texts.get(path, []))
        for path, parts in spans.items()
    ]


def text_digest(text: str) -> str:
    """What is stored about a text file that a turn created."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class _StoredCheckpoints:
    """Stores a turn's checkpoints. If that fails, no change is made."""

    def __init__(self, store: Store, turn_id: str) -> None:
        self._store = store
        self._turn_id = turn_id

    async def keep(self, part: Recorded) -> None:
        orders = None if part.orders is None else (list(part.orders[0]), list(part.orders[1]))
        await self._save(
            CheckpointPart(
                path=part.path,
                span=part.span,
                orders=orders,
                moved=list(part.moved),
                added=[_stored(cell_id, record) for cell_id, record in part.added.items()],
                left={cell_id: _left(left) for cell_id, left in part.left.items()},
                dropped=list(part.dropped),
            )
        )

    async def next_span(self, path: str) -> int:
        try:
            return await self._store.checkpoints.next_span(self._turn_id, path)
        except AgentError as error:
            raise _not_recorded(error) from error

    async def made(self, path: str, text: str | None) -> None:
        left = {"text": None if text is None else text_digest(text)}
        cell = CheckpointCell(WHOLE_DOCUMENT, None, left)
        try:
            span = await self._store.checkpoints.next_span(self._turn_id, path)
            part = CheckpointPart(path=path, span=span, orders=([], []), added=[cell])
            await self._store.checkpoints.save(self._turn_id, part)
        except AgentError as error:
            raise DocumentError(
                "internal", f"{path} was made, but cannot be taken back: {error.message}"
            ) from error

    async def keep_text(
        self, path: str, span: int, before: TextState | None, left: TextState, *, is_new: bool
    ) -> None:
        """A digest is enough for a file that the turn created."""
        after = {"text": text_digest(left.raw)} if before is None else left.to_json()
        if not is_new:
            await self._save(CheckpointPart(path=path, span=span, left={WHOLE_DOCUMENT: after}))
            return
        cell = CheckpointCell(WHOLE_DOCUMENT, before.to_json() if before else None, after)
        await self._save(CheckpointPart(path=path, span=span, orders=([], []), added=[cell]))

    async def drop_text(self, path: str, span: int) -> None:
        await self._save(CheckpointPart(path=path, span=span, dropped=[WHOLE_DOCUMENT]))

    async def _save(self, part: CheckpointPart) -> None:
        try:
            await self._store.checkpoints.save(self._turn_id, part)
        except AgentError as error:
            raise _not_recorded(error) from error


def _not_recorded(error: AgentError) -> DocumentError:
    return DocumentError(
        "internal",
        f"Nothing was changed, because it could not be undone: {error.message}",
    )


def _left(left: CellAfterTurn | None) -> dict[str, Any] | None:
    return None if left is None else left.to_json()


def _stored(cell_id: str, record: CellRecord) -> CheckpointCell:
    return CheckpointCell(cell_id, record.before, _left(record.left))


def _record(cell: CheckpointCell) -> CellRecord:
    left = None if cell.left is None else CellAfterTurn.from_json(cell.left)
    return CellRecord(cell.before, left)


# Blocks of Lexical documents with changes of a turn that are neither kept nor reverted.


async def changed_blocks(store: Store, files: TextFiles, turn_id: str) -> list[ChangedBlock]:
    """The changed blocks of the current documents. All blocks of a document that the turn created
    are new; a document that cannot be read has none."""
    found: list[ChangedBlock] = []
    for changes in await open_changes(store, turn_id):
        if changes.made or not changes.texts or not is_lexical(changes.path):
            continue
        from ...notebook.lexical.context import turn_blocks
        from ...notebook.lexical.editor_state import NotLexical

        spans = [(each.before.content, each.left.content) for each in changes.texts]
        try:
            now = await files.read_own(changes.path)
            blocks = await asyncio.to_thread(turn_blocks, spans, now.content)
        except (DocumentError, NotLexical):
            continue
        found += [
            ChangedBlock(
                path=changes.path, op=each.op, index=each.index, before=list(each.before) or None
            )
            for each in blocks
        ]
    return found

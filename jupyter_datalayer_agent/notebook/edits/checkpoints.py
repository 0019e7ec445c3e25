"""Checkpoints: recorded before a turn changes a notebook, to restore exactly what it changed.

A ``Recorder`` precedes every edit and run of one turn. Its records are stored before the change is
made; the resulting state is known beforehand for edits, and read back after runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from ...protocol.cells import CellEdit, CellPosition, PageCell, PageNotebook
from ...protocol.renames import Rename
from ..document import DocumentError
from ..files.restore import TextKeeper, TextRecorder, TextSpan
from ..files.text_state import TextState
from ..locks import uncancelled
from ..same_cells import same_cells, text_id
from .batch import Cell, apply_edits, source_of
from .cell_state import CellAfterTurn, outputs_digest
from .undo import CellRecord, NotebookState, Span

# The cells of a checkpoint in a notebook whose file keeps no ids: each loading names them anew.


@dataclass(frozen=True)
class Names:
    """``now`` has the ids that cells have now by those that a checkpoint has for them."""

    now: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def recorded(cls, spans: Sequence[Span], cells: Sequence[PageCell]) -> Names:
        """Those of the cells that the spans are about. An id that was derived from a text that
        nobody changed is the one of that text still."""
        left = {each: record.left for span in spans for each, record in span.cells.items()}
        texts = {each: text_id(state.type, state.source) for each, state in left.items() if state}
        before = [(each, texts.get(each, each)) for each in spans[-1].order_left]
        present = [(cell.id, text_id(cell.type, cell.source)) for cell in cells]
        return cls(same_cells(before, present, named=()))

    def given(self, state: NotebookState, wanted: Collection[str]) -> NotebookState:
        """The state with the names of the checkpoint, and of its cells those ``wanted``."""
        recorded = {now: then for then, now in self.now.items()}
        cells = {recorded.get(each, each): cell for each, cell in state.cells.items()}
        return NotebookState(
            [recorded.get(each, each) for each in state.order],
            {each: {**cell, "id": each} for each, cell in cells.items() if each in wanted},
        )

    def edits(self, edits: Iterable[CellEdit]) -> list[CellEdit]:
        """Edits with the ids that the cells have now."""
        return [self._renamed(edit) for edit in edits]

    def _renamed(self, edit: CellEdit) -> CellEdit:
        changed: dict[str, object] = {"cell_id": self.now.get(edit.cell_id, edit.cell_id)}
        if edit.op in ("insert", "move"):
            changed["position"] = self._place(edit.position)
        return edit.model_copy(update=changed)

    def _place(self, position: CellPosition) -> CellPosition:
        after, before = position.after, position.before
        return CellPosition(
            at=position.at,
            after=after and self.now.get(after, after),
            before=before and self.now.get(before, before),
        )


log = logging.getLogger(__name__)

WHOLE_DOCUMENT = ""
"""In place of a cell's id: the document itself, which the turn created."""
READ_SECONDS = 10.0
# Errors with which a batch is refused: nothing of it was applied.
_REFUSED = ("stale", "not_found", "invalid_arguments", "not_allowed")


@dataclass(frozen=True)
class Recorded:
    """A part of a checkpoint: of one notebook, and of one span of the turn.

    ``orders`` are the ids before and after the span, given when they are new. ``added`` are cells
    that are new in the span, ``left`` those whose final state is new, ``dropped`` those that it
    turned out not to change.
    """

    path: str
    span: int
    orders: tuple[Sequence[str], Sequence[str]] | None = None
    moved: Sequence[str] = ()
    added: Mapping[str, CellRecord] = field(default_factory=dict)
    left: Mapping[str, CellAfterTurn | None] = field(default_factory=dict)
    dropped: Sequence[str] = ()


class CheckpointKeeper(TextKeeper, Protocol):
    """Where a turn's checkpoints are kept."""

    async def keep(self, part: Recorded) -> None:
        """Store a part before returning."""
        ...

    async def made(self, path: str, text: str | None) -> None:
        """The turn created this document with this ``text`` (None: a notebook)."""
        ...


class ReadsWhole(Protocol):
    """A notebook that whole cells can be read from."""

    @property
    def path(self) -> str: ...

    async def read(
        self, cell_ids: Sequence[str] | None = None, *, outputs: bool = False, whole: bool = False
    ) -> PageNotebook: ...


class CheckpointsInMemory:
    """Checkpoints in memory: for a change that is reverted at once, or never."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}
        self.texts: dict[str, list[TextSpan]] = {}

    async def keep(self, part: Recorded) -> None:
        """Keep a part."""
        spans = self._spans.setdefault(part.path, [])
        if part.span == len(spans):
            spans.append(Span([], []))
        span = spans[part.span]
        if part.orders is not None:
            span.order, span.order_left = (list(each) for each in part.orders)
            span.moved = list(part.moved)
        span.cells.update(part.added)
        for cell_id, left in part.left.items():
            span.cells[cell_id] = CellRecord(span.cells[cell_id].before, left)
        for cell_id in part.dropped:
            del span.cells[cell_id]

    async def next_span(self, path: str) -> int:
        """How many there are."""
        return len(self._spans.get(path, ())) + len(self.texts.get(path, ()))

    async def keep_text(
        self, path: str, span: int, before: TextState | None, left: TextState, *, is_new: bool
    ) -> None:
        """Keep a text file; one that is new is not reverted here."""
        if before is not None:
            spans = self.texts.setdefault(path, [])
            spans[span:] = [TextSpan(before, left)]

    async def drop_text(self, path: str, span: int) -> None:
        """Forget the last one."""
        self.texts.pop(path, None)

    async def made(self, path: str, text: str | None) -> None:
        """No document is created that would have to be reverted."""

    def spans(self, path: str) -> list[Span]:
        """The spans of a notebook, in order."""
        return self._spans.get(path, [])


@dataclass
class _Current:
    """The current span, with its number."""

    number: int
    span: Span


class Recorder:
    """Records what one turn is about to change. Its methods hold the notebook's lock."""

    def __init__(self, keeper: CheckpointKeeper) -> None:
        self._keeper = keeper
        self._current: dict[str, _Current] = {}
        self.texts = TextRecorder(keeper)

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        rename.rekey(self._current)
        self.texts.renamed(rename)

    async def made(self, path: str, text: str | None = None) -> None:
        """The turn created this document."""
        await self._keeper.made(path, text)

    @asynccontextmanager
    async def edit(
        self, document: ReadsWhole, edits: Sequence[CellEdit]
    ) -> AsyncIterator[Callable[[Collection[str]], Awaitable[None]]]:
        """Around an edit. Raises ``DocumentError`` if the batch does not fit the notebook.

        What it gives is called with the ids of cells that were altered as they were saved.
        """
        first = {edit.cell_id: edit.op for edit in reversed(edits)}
        touched = list(dict.fromkeys(edit.cell_id for edit in edits))
        there = [each for each in touched if first[each] != "insert"]
        order, cells = await _look(document, there)
        after = apply_edits([cells.get(each) or _stub(each) for each in order], edits)
        left = {cell["id"]: CellAfterTurn.of(cell) for cell in after.cells if cell["id"] in touched}
        moved = [edit.cell_id for edit in edits if edit.op == "move"]
        undo_record = await self._record(
            document.path,
            order,
            [cell["id"] for cell in after.cells],
            moved,
            {each: CellRecord(cells.get(each), left.get(each)) for each in touched},
        )
        try:
            yield partial(self._after_altered, document)
        except DocumentError as error:
            # After any other failure it is not known whether the batch was applied.
            if error.code in _REFUSED:
                await undo_record()
            raise

    async def _after_altered(self, document: ReadsWhole, altered: Collection[str]) -> None:
        current = self._current[document.path]
        _, cells = await _look(document, list(altered))
        left = {each: CellAfterTurn.of(cell) for each, cell in cells.items()}
        for cell_id, now in left.items():
            left[cell_id] = _left(current.span.cells[cell_id], now) or now
            record = replace(current.span.cells[cell_id], left=left[cell_id])
            current.span.cells[cell_id] = record
        part = Recorded(path=document.path, span=current.number, left=left)
        await self._keeper.keep(replace(part, moved=current.span.moved))

    @asynccontextmanager
    async def run(self, document: ReadsWhole, cell_ids: Sequence[str]) -> AsyncIterator[None]:
        """Around a run: what the cells showed before, and, however it ends, what they show then."""
        order, cells = await _look(document, list(dict.fromkeys(cell_ids)))
        running = {
            cell_id: CellRecord(cell, replace(CellAfterTurn.of(cell, ran=True), outputs=None))
            for cell_id, cell in cells.items()
            if cell["cell_type"] == "code" and source_of(cell).strip()
        }
        if not running:
            yield
            return
        known = self._current.get(document.path)
        await self._record(document.path, order, order, [], running)
        now = self._current[document.path]
        new = (
            set(running)
            if known is None or known.number != now.number
            else (set(running) - known.span.cells.keys())
        )
        try:
            yield
        finally:
            await uncancelled(self._after_run(document, list(running), new))

    async def _record(
        self,
        path: str,
        order: list[str],
        order_left: list[str],
        moved: list[str],
        records: dict[str, CellRecord],
    ) -> Callable[[], Awaitable[None]]:
        """Record what is about to be done; returns how to remove the record."""
        current = self._current.get(path)
        goes_on = current is not None and _goes_on(current.span, order, records)
        if current is None or not goes_on:
            number = await self._keeper.next_span(path) if current is None else current.number + 1
            current = _Current(number, Span(order=order, order_left=order))
        span = current.span
        added = {each: record for each, record in records.items() if each not in span.cells}
        known = {each: record for each, record in records.items() if each in span.cells}
        new = Span(
            order=span.order,
            order_left=order_left,
            moved=list(dict.fromkeys([*span.moved, *moved])),
            cells={
                **span.cells,
                **added,
                **{
                    each: CellRecord(span.cells[each].before, _left(span.cells[each], record.left))
                    for each, record in known.items()
                },
            },
        )
        part = Recorded(
            path=path,
            span=current.number,
            orders=None if goes_on and order_left == span.order_left else (span.order, order_left),
            moved=new.moved,
            added=added,
            left={each: new.cells[each].left for each in known},
        )
        await self._keeper.keep(part)
        self._current[path] = _Current(current.number, new)

        async def forget() -> None:
            await self._keeper.keep(
                Recorded(
                    path=path,
                    span=current.number,
                    orders=(span.order, span.order_left),
                    moved=span.moved,
                    left={each: span.cells[each].left for each in known},
                    dropped=list(added),
                )
            )
            self._current[path] = current

        return forget

    async def _after_run(self, document: ReadsWhole, ran: list[str], new: set[str]) -> None:
        current = self._current[document.path]
        try:
            _, cells = await asyncio.wait_for(_look(document, ran), READ_SECONDS)
        except (DocumentError, asyncio.TimeoutError) as error:
            # The result of the run stays unknown, and any outputs count as equal.
            log.warning("The outputs of %s were not recorded: %s", document.path, error)
            return
        dropped, left = [], {}
        for cell_id, cell in cells.items():
            record = current.span.cells[cell_id]
            assert record.left is not None
            # The source and type that ran: the user may type meanwhile.
            metadata = {**record.left.metadata, **_timing(cell)}
            now = replace(record.left, outputs=outputs_digest(cell), metadata=metadata)
            current.span.cells[cell_id] = replace(record, left=now)
            if (
                cell_id in new
                and record.before
                and now == CellAfterTurn.of(record.before, ran=True)
            ):
                dropped.append(cell_id)  # it was not reached, or is the same as before
                del current.span.cells[cell_id]
            else:
                left[cell_id] = now
        part = Recorded(path=document.path, span=current.number, left=left, dropped=dropped)
        await self._keeper.keep(replace(part, moved=current.span.moved))


async def _look(document: ReadsWhole, cell_ids: list[str]) -> tuple[list[str], dict[str, Cell]]:
    """The ids of all cells, and those of ``cell_ids`` that are there."""
    notebook = await document.read(cell_ids, whole=True)
    return list(notebook.order or ()), {
        cell.id: cell.cell for cell in notebook.cells if cell.cell is not None
    }


def _goes_on(span: Span, order: list[str], records: dict[str, CellRecord]) -> bool:
    """Whether the span's order, and its cells that are touched now, are as it left them."""
    if order != span.order_left:
        return False
    for cell_id, record in records.items():
        known = span.cells.get(cell_id)
        if known is None or (known.left is None and record.before is None):
            continue
        if known.left is None or not known.left.is_as_left(record.before):
            return False
    return True


def _left(known: CellRecord, left: CellAfterTurn | None) -> CellAfterTurn | None:
    """The state with ``ran`` kept: a cell that ran in a span has run in it."""
    if left is None or known.left is None or not known.left.ran:
        return left
    return replace(left, ran=True)


def _timing(cell: Cell) -> dict[str, Any]:
    metadata = cell.get("metadata", {})
    return {"execution": metadata["execution"]} if "execution" in metadata else {}


def _stub(cell_id: str) -> Cell:
    """A cell that a batch does not touch; only its place matters."""
    return {"cell_type": "raw", "id": cell_id, "metadata": {}, "source": ""}

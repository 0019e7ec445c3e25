"""The cells of a checkpoint in a notebook whose file keeps no ids: each loading names them anew."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...protocol.cells import CellEdit, CellPosition, PageCell
from ..same_cells import same_cells, text_id
from .undo import NotebookState, Span


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

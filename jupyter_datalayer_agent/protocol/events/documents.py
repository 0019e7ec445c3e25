"""Events about documents: their changes, undo, and what was found in them."""

from __future__ import annotations

from typing import Literal

from ..base import Wire
from ..quality import QualityReport
from ..tools import Change
from ..workflows import FixInfo
from .base import BaseEvent


class DocumentChanged(BaseEvent):
    """A document was changed by this turn, as read back; ``call_id`` is the call that did it."""

    type: Literal["document_changed"] = "document_changed"
    path: str
    changes: list[Change]
    call_id: str | None = None


class DocumentRenamed(BaseEvent):
    """What the session knows as ``old_path``, a document or a folder, is at ``path`` now. Earlier
    events have the newer path when they are read again."""

    type: Literal["document_renamed"] = "document_renamed"
    old_path: str
    path: str


class UndoConflict(Wire):
    """A cell that a turn changed and that was changed again since; sources, None where the cell
    did not, or does not, exist."""

    path: str
    cell_id: str
    before: str | None = None
    after: str | None = None
    now: str | None = None


class ChangesUndone(BaseEvent):
    """Changes of the turn ``of_turn_id`` were reverted: ``changes`` as they were made to the
    documents just now. ``conflicts`` were left as they are, for the user to decide.
    ``cell_ids`` are the cells that are settled by this; None means all of the turn's. ``files`` are
    the paths of the documents that are settled as a whole: text files, and what the turn created.
    ``note`` says what cannot be reverted: what the cells did in the kernel."""

    type: Literal["changes_undone"] = "changes_undone"
    of_turn_id: str
    changes: list[Change]
    conflicts: list[UndoConflict] = []
    cell_ids: list[str] | None = None
    files: list[str] | None = None
    note: str | None = None


class ChangesKept(BaseEvent):
    """The user keeps what the turn ``of_turn_id`` changed, or only some cells of it, and the
    documents ``files`` as a whole."""

    type: Literal["changes_kept"] = "changes_kept"
    of_turn_id: str
    cell_ids: list[str] | None = None
    files: list[str] | None = None


class CellsStale(BaseEvent):
    """Code cells whose outputs no longer follow from the sources above, in notebook order; the
    whole list each time."""

    type: Literal["cells_stale"] = "cells_stale"
    path: str
    cell_ids: list[str]


class FixesOffered(BaseEvent):
    """Fixes, found without a model, for a cell that failed in this turn."""

    type: Literal["fixes_offered"] = "fixes_offered"
    path: str
    cell_id: str
    fixes: list[FixInfo]


class QualityReported(BaseEvent):
    """No model could answer, and the message asks for the quality of the notebook ``path``: this
    is its report."""

    type: Literal["quality_reported"] = "quality_reported"
    path: str
    report: QualityReport

"""A locked cell keeps its text and stays, wherever its notebook is; it can be run and moved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.edits.batch import apply_edits, new_cell, source_hash
from jupyter_datalayer_agent.notebook.edits.checkpoints import CheckpointsInMemory, Recorder
from jupyter_datalayer_agent.protocol.cells import (
    CellPosition,
    DeleteCell,
    InsertCell,
    MoveCell,
    SetOutputs,
    UpdateCell,
)
from jupyter_datalayer_agent.services.builtin.notebook.service import edits_to_clean
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer

from ..support import ScriptedPage, code, markdown, world, write_notebook

NBGRADER = {"nbgrader": {"grade": False, "grade_id": "x", "locked": True, "solution": False}}
BOTH = {"editable": False, "deletable": False, **NBGRADER}
HASH = source_hash("1")
OUTPUT = {"output_type": "stream", "name": "stdout", "text": "x"}


def outcome(metadata: Any, edit: Any, **more: Any) -> str:
    """What a batch of this edit comes to in a notebook whose first cell has this metadata."""
    cells = [code("a", "1", metadata=metadata, **more), code("b", "2")]
    try:
        apply_edits(cells, [edit])
    except DocumentError as error:
        says_why = error.code == "not_allowed" and "Cell 1 (a) is locked" in error.message
        says_what_to_do = "Cell Metadata" in (error.hint or "")
        return "refused" if says_why and says_what_to_do else repr(error)
    return "done"


UPDATE = UpdateCell(cell_id="a", base_hash=HASH, source="3")
RETYPE = UpdateCell(cell_id="a", base_hash=HASH, type="markdown")
DELETE = DeleteCell(cell_id="a", base_hash=HASH)
CLEARED = UpdateCell(
    cell_id="a", base_hash=HASH, source="1", type="code", cell=new_cell("a", "code", "1")
)
ALLOWED = [
    MoveCell(cell_id="a", position=CellPosition(at="end")),
    SetOutputs(cell_id="a", outputs=[]),
    UpdateCell(cell_id="a", base_hash=HASH, source="1"),
    CLEARED,
]


@pytest.mark.parametrize(
    ("metadata", "edits", "deletes"),
    [
        ({"editable": False}, "refused", "done"),
        ({"deletable": False}, "done", "refused"),
        (NBGRADER, "refused", "refused"),
        (BOTH, "refused", "refused"),
        ({"editable": True, "deletable": True, "nbgrader": {"locked": False}}, "done", "done"),
        ({"editable": None, "deletable": "no", "nbgrader": "locked"}, "done", "done"),
        ({"nbgrader": {"solution": True, "grade": True}}, "done", "done"),
        ({}, "done", "done"),
    ],
)
def test_a_lock_is_about_the_text_of_a_cell_and_about_the_cell(
    metadata: Any, edits: str, deletes: str
) -> None:
    assert outcome(metadata, UPDATE) == edits
    assert outcome(metadata, RETYPE) == edits
    assert outcome(metadata, DELETE) == deletes
    for edit in ALLOWED:
        assert outcome(metadata, edit, outputs=[OUTPUT]) == "done"


def test_a_batch_with_a_locked_cell_is_refused_whole() -> None:
    cells = [code("a", "1", metadata=BOTH), code("b", "2")]
    other = UpdateCell(cell_id="b", base_hash=source_hash("2"), source="4")
    with pytest.raises(DocumentError):
        apply_edits(cells, [other, UPDATE])


def test_a_locked_cell_can_be_restored() -> None:
    """Undo of a deletion that came before the lock was known."""
    cell = code("a", "1", metadata=BOTH)
    insert = InsertCell(
        cell_id="a", type="code", source="1", position=CellPosition(at="start"), cell=cell
    )
    assert apply_edits([code("b", "2")], [insert]).cells[0] == cell


def test_cleaning_leaves_locked_empty_cells_and_clears_their_outputs() -> None:
    cells = [code("a", "", metadata=BOTH), code("b", ""), code("c", "1", metadata=BOTH)]
    cells[2]["outputs"] = [OUTPUT]
    edits = edits_to_clean(cells, ["outputs", "empty-cells", "execution-counts"])
    assert [(each.op, each.cell_id) for each in edits] == [("delete", "b"), ("update", "c")]


async def test_the_server_refuses_it_before_a_page_is_asked(tmp_path: Any) -> None:
    cells = [code("a", "1", metadata=BOTH)]
    async with world(tmp_path) as w:
        write_notebook(w.root, cells)
        page = ScriptedPage(w.pages).connect().open("a.ipynb", cells)
        document = await w.service.recording(Recorder(CheckpointsInMemory())).open("a.ipynb")
        for edit in (UPDATE, RETYPE, DELETE):
            with pytest.raises(DocumentError, match="is locked"):
                await document.edit([edit])
        assert "notebook.edit" not in page.methods()


@pytest.mark.parametrize("metadata", [BOTH, NBGRADER, {"editable": False, "deletable": False}])
def test_update_and_deletion_of_a_locked_cell_in_a_closed_notebook_are_refused(
    server: RunningServer, model: ScriptedModelServer, metadata: Any
) -> None:
    file = server.root / "locked.ipynb"
    cells = [code("a", "secret = 1", metadata=metadata), markdown("b", "# Title")]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    file.write_text(json.dumps(content))
    before = file.read_bytes()
    model.script(
        Call("getNotebookCells"),
        Calls([Call("updateNotebookCell", {"cellId": "a", "content": "secret = 2"})]),
        Calls([Call("updateNotebookCell", {"cellId": "a", "type": "raw"})]),
        Calls([Call("deleteNotebookCells", {"cellIds": ["b", "a"]})]),
        Say("They are locked."),
    )
    reply = server.post(
        "chat",
        {
            "message": "Change it",
            "mode": "agent",
            "approval": "never",
            "attachments": [{"kind": "notebook", "path": "locked.ipynb"}],
            "activeNotebook": "locked.ipynb",
        },
    )
    refused = [call["output"]["error"] for call in reply["toolCalls"][1:]]
    assert [each["code"] for each in refused] == ["not_allowed"] * 3
    assert all("Cell 1 (a) is locked" in each["message"] for each in refused)
    assert reply["changes"] == []
    assert file.read_bytes() == before

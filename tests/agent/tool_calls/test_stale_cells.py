"""A turn that changes a cell notifies the page which cells are stale, and then that none is."""

from __future__ import annotations

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer


def test_a_turn_sends_which_cells_are_stale(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    cells = [new_code_cell("x = 1", id="load"), new_code_cell("print(x)", id="show")]
    nbformat.write(new_notebook(cells=cells), server.root / "stale.ipynb")
    model.script(
        Call("getNotebookCells"),
        Call("runNotebookCells", {"all": True}),
        Call("updateNotebookCell", {"cellId": "load", "content": "x = 2"}),
        Call("runNotebookCells", {"cellIds": ["load"], "includeDependents": True}),
        Say("Done."),
    )
    body = {"message": "@stale.ipynb change x", "mode": "agent", "activeNotebook": "stale.ipynb"}
    events = list(server.stream("chat/stream", body))
    stale = [event["cellIds"] for event in events if event["type"] == "cells_stale"]
    assert stale == [["load", "show"], []]
    outputs = [event["output"] for event in events if event["type"] == "tool_call_output"]
    assert '"staleCells":["load","show"]' in outputs[2]
    assert "staleCells" not in outputs[3]
    final = nbformat.read(server.root / "stale.ipynb", as_version=4)
    assert final.cells[1].outputs[0].text == "2\n"

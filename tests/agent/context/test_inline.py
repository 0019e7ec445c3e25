"""Messages from the inline chat: read tools and proposals only, in every mode."""

from __future__ import annotations

import shutil
from typing import get_args

import nbformat
import pytest

from jupyter_datalayer_agent.protocol.base import Mode
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer

PROPOSAL = "```python cell=load\ncars = 1\n```"


@pytest.mark.parametrize("mode", get_args(Mode))
def test_an_inline_message_reads_and_proposes_and_changes_nothing(
    server: RunningServer, model: ScriptedModelServer, mode: str
) -> None:
    path = server.root / "inline.ipynb"
    shutil.copy(server.root / "cars.ipynb", path)
    before = nbformat.read(path, as_version=4)
    cell = before.cells[0]
    forbidden = Call("updateNotebookCell", {"cellId": cell.id, "content": "changed"})
    model.script(Calls([Call("getNotebookCells"), forbidden]), Say(PROPOSAL))
    reply = server.post(
        "chat",
        {
            "message": "Shorter",
            "mode": mode,
            "location": "inline",
            "activeNotebook": "inline.ipynb",
            "cellId": cell.id,
            "selection": "```\nCars",
        },
    )
    request = model.requests[0]
    assert reply["notebookMode"] == "read-only"
    assert {"getNotebookCells", "getCellOutputs"} <= set(request.tool_names)
    assert not {"updateNotebookCell", "addNotebookCell", "executeCode"} & set(request.tool_names)
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "error"]
    assert "proposal" in reply["toolCalls"][1]["output"]["error"]["hint"]
    assert reply["reply"] == PROPOSAL
    assert nbformat.read(path, as_version=4) == before
    # Where the user asks from, and what is selected there, between fences that it cannot close.
    assert f"asks from the cell id={cell.id}" in request.text
    assert "````\n```\nCars\n````" in request.text
    assert "# Inline chat" in request.text


def test_the_inline_part_of_the_prompt_goes_to_no_other_place(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Yes."))
    server.post("chat", {"message": "Well?", "mode": "edit", "activeNotebook": None})
    assert "# Inline chat" not in model.requests[0].text

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


@pytest.mark.parametrize("opening", ["<think>\n", ""])
def test_a_proposal_behind_thinking_is_all_that_the_inline_chat_gets(
    server: RunningServer, model: ScriptedModelServer, opening: str
) -> None:
    """Case 29: the page makes a diff of the text, whose first block must be the proposal's."""
    path = server.root / "thinking.ipynb"
    shutil.copy(server.root / "cars.ipynb", path)
    cell_id = nbformat.read(path, as_version=4).cells[0].id
    plan = "Secret plan:\n```python cell=other\nwrong = 1\n```"
    proposal = PROPOSAL.replace("load", cell_id)
    model.script(Say(f"{opening}{plan}\n</think>\n\n{proposal}", chunk=3), Say("Yes."))
    body = {
        "message": "Shorter",
        "mode": "edit",
        "location": "inline",
        "activeNotebook": "thinking.ipynb",
        "cellId": cell_id,
    }
    reply = server.post("chat", body)
    assert reply["reply"] == proposal
    # What the page shows as it streams, with what it is told to take back.
    shown: dict[str, str] = {}
    thought = ""
    [turn] = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    for event in turn["events"]:
        if event["type"] == "text_delta":
            shown[event["itemId"]] = shown.get(event["itemId"], "") + event["delta"]
        elif event["type"] == "reasoning_delta":
            thought += event["delta"]
        elif event["type"] == "item_discarded":
            shown.pop(event["itemId"], None)
    assert list(shown.values()) == [proposal]
    assert thought.strip() == plan
    server.post("chat", {**body, "message": "Sure?", "sessionId": reply["sessionId"]})
    assert proposal.split("\n")[1] in model.requests[1].text
    assert "Secret plan" not in model.requests[1].text

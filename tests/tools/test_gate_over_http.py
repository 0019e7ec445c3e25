"""The eight rows of the gate: what the model was in fact sent, and what a forbidden call does."""

from __future__ import annotations

import shutil
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.planning import of_type, plan_of
from tests.support.sessions import turns

READS = {"getNotebookCells", "getCellOutputs", "getNotebookQuality"}
CHANGES = {
    "addNotebookCell",
    "updateNotebookCell",
    "runNotebookCells",
    "deleteNotebookCells",
    "moveNotebookCell",
}
ROWS = [
    (["a.ipynb"], "a.ipynb", "ask", "read-only"),
    (["a.ipynb"], "a.ipynb", "edit", "read-only"),
    (["a.ipynb"], "a.ipynb", "agent", "full"),
    (["a.ipynb", "b.ipynb"], "b.ipynb", "ask", "read-only"),
    (["a.ipynb", "b.ipynb"], "b.ipynb", "agent", "full"),
    (["a.ipynb"], "b.ipynb", "agent", "off"),
    (["a.ipynb", "b.ipynb"], None, "agent", "off"),
    ([], "a.ipynb", "agent", "off"),
]


@pytest.fixture
def notebooks(server: RunningServer) -> RunningServer:
    for name in ("a.ipynb", "b.ipynb"):
        shutil.copy(server.root / "cars.ipynb", server.root / name)
    return server


def sources(server: RunningServer, name: str) -> list[str]:
    return [cell.source for cell in nbformat.read(server.root / name, as_version=4).cells]


def refused(server: RunningServer, reply: dict[str, Any]) -> set[str]:
    """What the calls lacked that the gate refused, as a user is shown them."""
    [turn] = turns(server, reply["sessionId"], include="events")
    calls = of_type(turn["events"], "tool_call_output")
    lacking = [call for call in calls if call.get("needs")]
    assert all(call["summary"].startswith("Not done: ") for call in lacking)
    return {call["needs"] for call in lacking}


@pytest.mark.parametrize(("attached", "active", "mode", "expected"), ROWS)
def test_row(
    notebooks: RunningServer,
    model: ScriptedModelServer,
    attached: list[str],
    active: str | None,
    mode: str,
    expected: str,
) -> None:
    forbidden = Call("addNotebookCell", {"type": "markdown", "content": "added"})
    model.script(Calls([Call("getNotebookCells"), forbidden]), Say("Done."))
    reply = notebooks.post(
        "chat",
        {
            "message": "Add a cell",
            "mode": mode,
            "attachments": [{"kind": "notebook", "path": path} for path in attached],
            "activeNotebook": active,
        },
    )
    sent = set(model.requests[0].tool_names)
    assert reply["notebookMode"] == expected
    # In Agent mode they are sent in any case: a notebook may be created in mid-turn.
    assert sent & READS == (READS if expected != "off" or mode == "agent" else set())
    assert sent & CHANGES == (CHANGES if mode == "agent" else set())
    read, add = reply["toolCalls"]
    assert read["status"] == ("error" if expected == "off" else "ok")
    assert add["status"] == ("ok" if expected == "full" else "error")
    for name in ("a.ipynb", "b.ipynb"):
        wanted = ["# Cars", "added"] if expected == "full" and name == active else ["# Cars"]
        assert sources(notebooks, name) == wanted
    if expected == "off":
        assert "No active notebook found" in read["output"]["error"]["message"]
        assert refused(notebooks, reply) == {"notebook"}
    elif expected == "read-only":
        assert add["output"]["error"]["code"] == "not_allowed"
        assert "Agent mode" in add["output"]["error"]["message"]
        assert refused(notebooks, reply) == {"mode"}


def test_peers_02_another_notebook_is_refused_by_path(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    call = Call("addNotebookCell", {"type": "markdown", "content": "x", "path": "b.ipynb"})
    model.script(call, Say("Done."))
    reply = notebooks.post(
        "chat", {"message": "@a.ipynb add", "mode": "agent", "activeNotebook": "a.ipynb"}
    )
    assert reply["toolCalls"][0]["output"]["error"]["code"] == "not_allowed"
    assert sources(notebooks, "b.ipynb") == ["# Cars"]


def test_agent_prefix_makes_it_agent_mode_on_the_active_notebook(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    add = Call("addNotebookCell", {"type": "markdown", "content": "hi"})
    model.script(plan_of("Say hi"), add, Say("Done."))
    reply = notebooks.post(
        "chat", {"message": "AGENT: say hi", "mode": "ask", "activeNotebook": "a.ipynb"}
    )
    assert (reply["mode"], reply["notebookMode"]) == ("agent", "full")
    assert sources(notebooks, "a.ipynb") == ["# Cars", "hi"]


def test_inline_chat_in_agent_mode_only_reads(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("addNotebookCell", {"type": "markdown", "content": "hi"}), Say("Done."))
    reply = notebooks.post(
        "chat",
        {"message": "hi", "mode": "agent", "activeNotebook": "a.ipynb", "location": "inline"},
    )
    assert reply["notebookMode"] == "read-only"
    assert reply["toolCalls"][0]["output"]["error"]["code"] == "not_allowed"
    assert sources(notebooks, "a.ipynb") == ["# Cars"]


def test_a_notebook_that_the_agent_made_is_a_target_in_later_turns_too(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Call("createNotebook", {"name": "made"}),
        Call("addNotebookCell", {"type": "code", "content": "40 + 2", "run": True}),
        Say("Made."),
        Call("getNotebookCells", {"includeOutputs": True}),
        Say("Read."),
    )
    first = notebooks.post("chat", {"message": "make one", "mode": "agent"})
    assert [call["status"] for call in first["toolCalls"]] == ["ok", "ok"], first
    second = notebooks.post(
        "chat", {"message": "read it", "mode": "ask", "sessionId": first["sessionId"]}
    )
    output: Any = second["toolCalls"][0]["output"]["output"]
    assert output["cells"][0]["outputs"] == "42"


def test_listing_shows_the_reason_of_what_is_not_enabled(notebooks: RunningServer) -> None:
    listed = notebooks.get("tools", mode="ask", path="a.ipynb", attached="true")
    tools = {tool["name"]: tool for tool in listed["tools"]}
    assert tools["getNotebookCells"]["enabled"]
    assert tools["getNotebookCells"]["label"]["action"] == "Read cells"
    assert not tools["addNotebookCell"]["enabled"]
    assert "Agent mode" in tools["addNotebookCell"]["reason"]
    assert tools["addNotebookCell"]["aliases"] == ["insertCell"]


def test_a_direct_call_takes_an_explicit_path_as_attached_and_active(
    notebooks: RunningServer,
) -> None:
    added = notebooks.post(
        "tools/insertCell", {"arguments": {"source": "first", "index": 0}, "path": "a.ipynb"}
    )
    assert added["ok"], added
    assert sources(notebooks, "a.ipynb") == ["first", "# Cars"]
    refused = notebooks.post(
        "tools/insert_cell",
        {"arguments": {"source": "x"}, "path": "a.ipynb", "mode": "ask"},
    )
    assert refused["error"]["code"] == "not_allowed"

"""Undo and keep over HTTP: what a turn did to a notebook on disk, taken back by an op."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Gate, Say, ScriptedModelServer

OUTPUT = {
    "output_type": "execute_result",
    "data": {"text/plain": "6", "text/html": "<b>6</b>"},
    "metadata": {},
    "execution_count": 7,
}


def write_notebook(path: Path) -> Any:
    """A notebook with everything that a cell may hold; as nbformat reads it again."""
    new = nbformat.v4
    picture = {"a.png": {"image/png": "iVBORw0KGgo="}}
    notebook = new.new_notebook(
        cells=[
            new.new_markdown_cell("# Title", id="title", attachments=picture),
            new.new_code_cell(
                "x = 6\nx",
                id="six",
                outputs=[nbformat.from_dict(OUTPUT)],
                execution_count=7,
                metadata={"tags": ["mine"]},
            ),
            new.new_code_cell("y = 1", id="one"),
            new.new_raw_cell("raw", id="raw", metadata={"format": "text/plain"}),
            new.new_markdown_cell("The end", id="end"),
        ],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
    )
    nbformat.write(notebook, path)
    return read(path)


def read(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


EVERYTHING = [
    Call("getNotebookCells", {"includeOutputs": True}),
    Calls(
        [
            Call("updateNotebookCell", {"cellId": "six", "content": "x = 21\nx", "run": True}),
            Call("addNotebookCell", {"type": "code", "content": "z = x * 2\nz", "run": True}),
            Call("updateNotebookCell", {"cellId": "end", "type": "code", "content": "1 + 1"}),
            Call("deleteNotebookCells", {"cellIds": ["title", "one"]}),
            Call("moveNotebookCell", {"cellId": "raw", "position": "start"}),
        ]
    ),
    Call("getNotebookCells"),
    Call("updateNotebookCell", {"cellId": {"cell": "z = x"}, "content": "z = 3"}),
    Call("runNotebookCells", {"all": True}),
    Say("Done."),
]


def ask(server: RunningServer, message: str, **more: Any) -> Any:
    """A turn in Agent mode on ``a.ipynb``."""
    body = {"message": message, "mode": "agent", "approval": "never"} | more
    return server.post("chat", body)


def act(server: RunningServer, session: str, op: dict[str, Any], *ends: str) -> Any:
    """Submit an op and wait for the event that answers it."""
    last = server.get(f"sessions/{session}")["lastSeq"]
    server.post(f"sessions/{session}/ops", op)
    for event in server.stream(f"sessions/{session}/events?after={last}"):
        if event["type"] in (*ends, "error"):
            return event
    raise AssertionError("The stream ended.")


def undo(server: RunningServer, reply: Any, **more: Any) -> Any:
    op = {"type": "undo", "turnId": reply["turnId"], **more}
    return act(server, reply["sessionId"], op, "changes_undone")


def states(server: RunningServer, reply: Any) -> list[str]:
    route = f"sessions/{reply['sessionId']}/turns/{reply['turnId']}/changes"
    answer: list[str] = server.get(route)["states"]
    return answer


@pytest.fixture
def on_notebook(server: RunningServer, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A new notebook under the root, and what makes a message be about it."""
    name = f"{tmp_path.name}.ipynb"
    write_notebook(server.root / name)
    yield {
        "attachments": [{"kind": "notebook", "path": name}],
        "activeNotebook": name,
    }


def path_of(server: RunningServer, on_notebook: dict[str, Any]) -> Path:
    return server.root / on_notebook["activeNotebook"]


def test_a_turn_that_did_everything_is_taken_back_exactly(
    server: RunningServer, model: ScriptedModelServer, on_notebook: dict[str, Any]
) -> None:
    path = path_of(server, on_notebook)
    before = read(path)
    model.script(*EVERYTHING)
    reply = ask(server, "Change everything", **on_notebook)
    changed = read(path)
    assert [call["status"] for call in reply["toolCalls"]] == ["ok"] * 9, reply["toolCalls"]
    assert [cell.id for cell in changed.cells][0] == "raw"
    assert set(states(server, reply)) == {"open"}

    event = undo(server, reply)

    assert event["type"] == "changes_undone", event
    assert event["turnId"] == event["ofTurnId"] == reply["turnId"]
    assert event["conflicts"] == []
    assert "cellIds" not in event
    assert "kernel" in event["note"]
    assert read(path).cells == before.cells
    assert set(states(server, reply)) == {"undone"}
    again = undo(server, reply)
    assert (again["type"], again["code"]) == ("error", "invalid_request")
    assert "already taken back" in again["message"]
    assert read(path).cells == before.cells

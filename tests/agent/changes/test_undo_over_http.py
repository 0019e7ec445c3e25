"""Undo and keep over HTTP: what a turn did to a notebook on disk, taken back by an op."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Gate, Say, ScriptedModelServer
from tests.support.page import submit_in_page

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
    submit_in_page(server, session, op)
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
def on_notebook(server: RunningServer, tmp_path: Path) -> dict[str, Any]:
    """A new notebook under the root, and what makes a message be about it."""
    name = f"{tmp_path.name}.ipynb"
    write_notebook(server.root / name)
    return {
        "attachments": [{"kind": "notebook", "path": name}],
        "activeNotebook": name,
    }


def path_of(server: RunningServer, on_notebook: dict[str, Any]) -> Path:
    return server.root / on_notebook["activeNotebook"]


def test_a_turn_that_did_everything_is_undone_exactly(
    server: RunningServer, model: ScriptedModelServer, on_notebook: dict[str, Any]
) -> None:
    path = path_of(server, on_notebook)
    before = read(path)
    model.script(*EVERYTHING)
    reply = ask(server, "Change everything", **on_notebook)
    changed = read(path)
    assert [call["status"] for call in reply["toolCalls"]] == ["ok"] * 9, reply["toolCalls"]
    assert changed.cells[0].id == "raw"
    assert set(states(server, reply)) == {"open"}
    route = f"sessions/{reply['sessionId']}/turns/{reply['turnId']}/changes"
    assert "before" not in server.get(route)
    was = {
        each["cellId"]: each.get("cell") for each in server.get(f"{route}?include=before")["before"]
    }
    assert was["six"]["outputs"] == before.cells[1]["outputs"]
    assert was["six"]["metadata"]["tags"] == ["mine"]
    assert [cell for cell in changed.cells if was.get(cell.id, cell) is None] != []

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
    assert "already undone" in again["message"]
    assert read(path).cells == before.cells


def test_it_is_undone_by_a_server_that_was_killed_and_started_again(tmp_path: Path) -> None:
    with (
        ScriptedModelServer(*EVERYTHING, Say("Understood.")) as model,
        RunningServer(tmp_path, api_base=model.base_url) as server,
    ):
        path = server.root / "a.ipynb"
        before = write_notebook(path)
        about = {
            "attachments": [{"kind": "notebook", "path": "a.ipynb"}],
            "activeNotebook": "a.ipynb",
        }
        reply = ask(server, "Change everything", **about)
        assert read(path).cells != before.cells
        server.kill()
        server.start()
        event = undo(server, reply)
        assert event["conflicts"] == []
        assert read(path).cells == before.cells
        server.kill()
        server.start()
        assert "already undone" in undo(server, reply)["message"]
        turns = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
        assert [e["type"] for e in turns[0]["events"]].count("changes_undone") == 1
        # The model believes what it did until it is notified.
        server.post("chat", {"message": "Go on", "sessionId": reply["sessionId"]})
        assert "The user took changes of yours back" in model.requests[-1].text


def test_a_server_that_is_killed_in_mid_turn_can_take_back_what_was_done(tmp_path: Path) -> None:
    with (
        ScriptedModelServer(
            Call("getNotebookCells"),
            Call("deleteNotebookCells", {"cellIds": ["six"]}),
            Gate(Say("Never said.")),
        ) as model,
        RunningServer(tmp_path, api_base=model.base_url) as server,
    ):
        path = server.root / "a.ipynb"
        before = write_notebook(path)
        session = server.post("sessions", {})["id"]
        request = {
            "message": "Delete it",
            "mode": "agent",
            "approval": "never",
            "attachments": [{"kind": "notebook", "path": "a.ipynb"}],
            "activeNotebook": "a.ipynb",
        }
        op = {"type": "user_message", "request": request}
        submit_in_page(server, session, op)
        model.wait_for(model.at_gate, timeout=60)
        turn_id = server.get(f"sessions/{session}")["runningTurnId"]
        reply = {"sessionId": session, "turnId": turn_id}
        running = undo(server, reply)
        assert (running["type"], running["code"]) == ("error", "turn_in_progress")
        server.kill()
        server.start()
        assert len(read(path).cells) == 4
        assert undo(server, reply)["conflicts"] == []
        assert read(path).cells == before.cells
        model.release()


def test_what_the_user_wrote_since_is_kept_until_they_decide(
    server: RunningServer, model: ScriptedModelServer, on_notebook: dict[str, Any]
) -> None:
    path = path_of(server, on_notebook)
    model.script(
        Call("getNotebookCells"),
        Call("updateNotebookCell", {"cellId": "one", "content": "y = 2"}),
        Call("updateNotebookCell", {"cellId": "end", "content": "Changed"}),
        Say("Done."),
    )
    reply = ask(server, "Change two", **on_notebook)
    notebook = read(path)
    notebook.cells[2].source = "y = 3  # mine"
    nbformat.write(notebook, path)

    event = undo(server, reply)
    assert [(each["cellId"], each["now"]) for each in event["conflicts"]] == [
        ("one", "y = 3  # mine")
    ]
    assert event["cellIds"] == ["end"]
    assert states(server, reply) == ["open", "undone"]
    sources = {cell.id: cell.source for cell in read(path).cells}
    assert (sources["one"], sources["end"]) == ("y = 3  # mine", "The end")

    event = undo(server, reply, cellIds=["one"], overwrite=True)
    assert event["conflicts"] == []
    assert {cell.id: cell.source for cell in read(path).cells}["one"] == "y = 1"
    assert states(server, reply) == ["undone", "undone"]


def test_kept_changes_are_not_offered_any_more(
    server: RunningServer, model: ScriptedModelServer, on_notebook: dict[str, Any]
) -> None:
    model.script(
        Call("addNotebookCell", {"type": "markdown", "content": "New"}),
        Say("Done."),
    )
    reply = ask(server, "Add one", **on_notebook)
    op = {"type": "keep", "turnId": reply["turnId"]}
    event = act(server, reply["sessionId"], op, "changes_kept")
    assert (event["type"], event["ofTurnId"]) == ("changes_kept", reply["turnId"])
    assert states(server, reply) == ["kept"]
    assert "already kept" in undo(server, reply)["message"]


def test_an_op_about_no_turn_of_the_session_is_not_found(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Hello."))
    elsewhere = server.post("chat", {"message": "hello"})["turnId"]
    session = server.post("sessions", {})["id"]
    for kind in ("undo", "keep"):
        for turn_id in ("nothing", elsewhere):
            op = {"type": kind, "turnId": turn_id}
            answer = server.request("POST", f"sessions/{session}/ops", json=op)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_a_notebook_that_a_turn_made_and_filled_is_gone_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Call("createNotebook", {"name": "made-by-a-turn"}),
        Call("addNotebookCell", {"type": "code", "content": "1 + 1", "run": True}),
        Say("Done."),
    )
    reply = ask(server, "Make a notebook")
    assert len(read(server.root / "made-by-a-turn.ipynb").cells) == 1
    assert states(server, reply) == ["open", "open"]
    event = undo(server, reply)
    assert event["changes"] == [{"path": "made-by-a-turn.ipynb", "op": "delete"}]
    assert not (server.root / "made-by-a-turn.ipynb").exists()
    assert states(server, reply) == ["undone", "undone"]

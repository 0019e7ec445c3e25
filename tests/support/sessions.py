"""What the tests of sessions share: ops and their answers, and turns that change a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.page import submit_in_page


def act(server: RunningServer, session: str, op: dict[str, Any], *ends: str) -> dict[str, Any]:
    """Submit an op and wait for the event that answers it, or an error."""
    last = server.get(f"sessions/{session}")["lastSeq"]
    submit_in_page(server, session, op)
    for event in server.stream(f"sessions/{session}/events?after={last}"):
        if event["type"] in (*ends, "error"):
            return dict(event)
    raise AssertionError("The stream ended.")


def turns(server: RunningServer, session: str, **more: Any) -> list[dict[str, Any]]:
    """The session's turns."""
    found: list[dict[str, Any]] = server.get(f"sessions/{session}/turns", **more)["turns"]
    return found


def chat(
    server: RunningServer, model: ScriptedModelServer, *exchanges: tuple[str, str]
) -> tuple[str, list[str]]:
    """A conversation of these messages and answers; the ids of the session and its turns."""
    session = None
    ids = []
    for message, answer in exchanges:
        model.script(Say(answer))
        reply = server.post("chat", {"message": message, "sessionId": session})
        session = reply["sessionId"]
        ids.append(reply["turnId"])
    assert session is not None
    return session, ids


def new_notebook(path: Path, *sources: str) -> None:
    """A notebook of code cells, whose ids are ``c0``, ``c1``, …"""
    cells = [
        nbformat.v4.new_code_cell(source, id=f"c{number}") for number, source in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, path)


def sources(path: Path) -> list[str]:
    """The sources of a notebook's cells, in order; the notebook must be valid."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return [cell.source for cell in notebook.cells]


def edit(
    server: RunningServer,
    model: ScriptedModelServer,
    path: str,
    *calls: Call | Calls,
    session: str | None = None,
    message: str = "Change it",
) -> dict[str, Any]:
    """A turn that reads the notebook and makes these calls, without asking; its reply."""
    model.script(Call("getNotebookCells"), *calls, Say("Changed."))
    reply: dict[str, Any] = server.post(
        "chat",
        {
            "message": message,
            "sessionId": session,
            "mode": "agent",
            "approval": "never",
            "attachments": [{"kind": "notebook", "path": path}],
            "activeNotebook": path,
        },
    )
    assert {call["status"] for call in reply["toolCalls"]} == {"ok"}, reply
    return reply

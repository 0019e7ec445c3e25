"""Line ends in cells: an edit finds its text whatever they are, and writes line feeds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.edits.batch import apply_edits, source_hash
from jupyter_datalayer_agent.protocol.cells import UpdateCell
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.sessions import act

from ..support import code, insert, markdown

CRLF = "a = 1\r\nb = 2\r\nc = 3"
OTHER = "x = 1\r\ny = 2\rz = 3"
PATH = "lines.ipynb"


def update(cell: dict[str, Any], source: str) -> UpdateCell:
    return UpdateCell(cell_id=cell["id"], base_hash=source_hash(cell["source"]), source=source)


@pytest.mark.parametrize("source", ["a\r\nb\r\n", "a\rb\r", "a\nb\r\n", "a\nb\n"])
def test_what_is_written_has_line_feeds(source: str) -> None:
    cell = code("a", "1")
    edited = apply_edits([cell], [update(cell, source), insert("b", source)])
    assert [each["source"] for each in edited.cells] == ["a\nb\n", "a\nb\n"]


@pytest.mark.parametrize("source", [CRLF, CRLF.replace("\r\n", "\n"), CRLF.replace("\r\n", "\r")])
def test_a_source_that_differs_in_its_line_ends_alone_is_no_change(source: str) -> None:
    cell = code("a", CRLF)
    edited = apply_edits([cell], [update(cell, source)])
    assert edited.cells == [cell]
    assert edited.changes == []


def chat(server: RunningServer, message: str = "Change it") -> Any:
    attached = [{"kind": "notebook", "path": PATH}]
    body = {"message": message, "mode": "agent", "attachments": attached, "activeNotebook": PATH}
    return server.post("chat", body)


def sources(server: RunningServer) -> list[str]:
    cells = json.loads((server.root / PATH).read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells]


def write(server: RunningServer, *cells: Any) -> None:
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (server.root / PATH).write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a = 1\nb = 2", "a = 10\nb = 20", "a = 10\nb = 20\nc = 3"),
        ("a = 1\r\nb = 2", "a = 10\r\nb = 20", "a = 10\nb = 20\nc = 3"),
        ("b = 2", "b = 20", "a = 1\nb = 20\nc = 3"),
        ("c = 3", "c = 3\r\n\r\nd = 4", "a = 1\nb = 2\nc = 3\n\nd = 4"),
    ],
)
def test_an_edit_in_a_closed_notebook_matches_over_line_ends_and_can_be_undone(
    server: RunningServer, model: ScriptedModelServer, old: str, new: str, expected: str
) -> None:
    write(server, code("a", CRLF), code("other", OTHER), markdown("m", OTHER))
    edits = [{"oldString": old, "newString": new}]
    model.script(
        Calls([Call("updateNotebookCell", {"cellId": "a", "edits": edits})]),
        Calls([Call("addNotebookCell", {"content": "a=6\r\nprint(a*7)", "run": True})]),
        Say("Done."),
    )
    reply = chat(server)
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok"]
    assert sources(server) == [expected, OTHER, OTHER, "a=6\nprint(a*7)"]
    assert "42" in json.dumps(reply["toolCalls"][1]["output"])

    undo = {"type": "undo", "turnId": reply["turnId"]}
    act(server, reply["sessionId"], undo, "changes_undone")
    assert sources(server) == [CRLF, OTHER, OTHER]


def test_whole_content_is_stored_with_line_feeds_and_said_to_be_unchanged_where_it_is(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write(server, code("a", CRLF), code("b", "b"))
    before = (server.root / PATH).read_bytes()
    model.script(
        Calls([Call("updateNotebookCell", {"cellId": "a", "content": "a = 1\nb = 2\nc = 3"})]),
        Say("Nothing to do."),
    )
    reply = chat(server)
    assert reply["toolCalls"][0]["output"]["output"]["unchanged"] is True
    assert (server.root / PATH).read_bytes() == before
    model.script(
        Calls([Call("updateNotebookCell", {"cellId": "b", "content": "1\r\n2\r\n"})]),
        Say("Done."),
    )
    chat(server)
    assert sources(server) == [CRLF, "1\n2\n"]


def test_a_text_file_keeps_its_own_line_ends(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    file = server.root / "lines.txt"
    file.write_bytes(b"a = 1\r\nb = 2\r\n")
    edits = [{"oldString": "a = 1\nb = 2", "newString": "a = 10\nb = 20\r\nc = 30"}]
    model.script(
        Calls([Call("readFile", {"path": "lines.txt"})]),
        Calls([Call("editFile", {"path": "lines.txt", "edits": edits})]),
        Say("Done."),
    )
    body = {
        "message": "Change it",
        "mode": "agent",
        "attachments": [{"kind": "file", "path": "lines.txt"}],
    }
    server.post("chat", body)
    assert file.read_bytes() == b"a = 10\r\nb = 20\r\nc = 30\r\n"

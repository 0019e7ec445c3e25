"""``GET sessions/{id}/export``: a conversation as Markdown, as a notebook and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer, Status
from tests.support.sessions import act, chat, edit, new_notebook

KEY = "sk-test-0123456789abcdef"


def export(server: RunningServer, session: str, kind: str | None = None) -> Any:
    parameters = {"format": kind} if kind else {}
    return server.request("GET", f"sessions/{session}/export", params=parameters)


@pytest.fixture(scope="module")
def session(server: RunningServer, shared_model: ScriptedModelServer) -> str:
    """A conversation about a notebook in which much was done."""
    shared_model.reset()
    new_notebook(server.root / "work.ipynb", "x = 1")
    fence = "```python\nprint('hi')\n```"
    session: str = edit(
        server,
        shared_model,
        "work.ipynb",
        Calls(
            [
                Call("updateNotebookCell", {"cellId": "c0", "content": "x = '```'\nx"}),
                Call("addNotebookCell", {"type": "markdown", "content": "# Added"}),
                Call("addNotebookCell", {"type": "code", "content": "y = 2", "run": True}),
            ]
        ),
        message=f"Change it like this:\n\n{fence}\n\nMy key is {KEY}, </details>",
    )["sessionId"]
    shared_model.script(Say("It is\n\n- good\n- fine"))
    server.post("chat", {"message": "How is it?", "sessionId": session})
    shared_model.script(Say("Not gone on with."))
    withdrawn = server.post("chat", {"message": "A way not gone", "sessionId": session})["turnId"]
    back = {"type": "go_back", "turnId": withdrawn, "includeTurn": True}
    assert act(server, session, back, "went_back")["type"] == "went_back"
    return session


def test_markdown_can_be_read_by_a_user(server: RunningServer, session: str) -> None:
    answer = export(server, session)
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert "Change it like this" in answer.headers["Content-Disposition"]
    text = answer.content.decode()
    assert text.startswith("# Change it like this:\n")
    assert "## 1. You" in text
    assert "> ```python" in text
    assert "- good\n- fine" in text
    assert "<details><summary>updateNotebookCell: ok</summary>" in text
    assert "<details><summary>Changes to work.ipynb (3 cells)</summary>" in text
    assert "````diff" in text, "the fence is longer than the one in the cell"
    assert "-x = 1\n+x = '```'" in text
    assert text.count("<details>") == text.count("\n</details>")
    withdrawn = text.index("A way not gone")
    assert "<details><summary>Withdrawn</summary>" in text[withdrawn - 400 :]
    assert KEY not in text


def test_the_notebook_is_valid_and_has_the_code_that_was_written(
    server: RunningServer, session: str, tmp_path: Path
) -> None:
    answer = export(server, session, "ipynb")
    path = tmp_path / "export.ipynb"
    path.write_bytes(answer.content)
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    cells = [(cell.cell_type, cell.source) for cell in notebook.cells]
    assert cells[0][1].startswith("# Change it like this:")
    assert cells[1][1].startswith("## 1. You\n\n> Change it like this:")
    assert cells[2:] == [
        ("code", "x = '```'\nx"),
        ("markdown", "# Added"),
        ("code", "y = 2"),
        ("markdown", "Changed.\n\n*3 changes · 1 run*"),
        ("markdown", "## 2. You\n\n> How is it?"),
        (
            "markdown",
            "It is\n\n- good\n- fine\n\n*Nothing was changed or run in this turn.*",
        ),
    ]
    mark = notebook.cells[2].metadata["datalayer_agent"]
    assert (mark["path"], mark["cellId"], mark["op"]) == ("work.ipynb", "c0", "update")
    assert KEY not in answer.text


def test_json_has_everything_but_keys(server: RunningServer, session: str) -> None:
    answer = export(server, session, "json")
    data = json.loads(answer.content)
    assert data["version"] == 1
    assert data["session"]["id"] == session
    listed = server.get(f"sessions/{session}/turns")["turns"]
    assert [turn["id"] for turn in data["turns"]] == [turn["id"] for turn in listed]
    assert data["turns"][0]["toolCalls"] == listed[0]["toolCalls"]
    assert data["turns"][0]["changes"] == listed[0]["changes"]
    assert "withdrawnAt" in data["turns"][2]
    assert KEY not in answer.text
    assert "[key]" in data["turns"][0]["message"]


@pytest.mark.parametrize("kind", ["md", "ipynb", "json"])
def test_an_empty_session_and_one_with_a_strange_title_can_be_exported(
    server: RunningServer, kind: str
) -> None:
    title = 'Ünï "code"\n<b>/../x</b> 数据'
    made = server.post("sessions", {"title": title})["id"]
    answer = export(server, made, kind)
    assert answer.ok
    name = answer.headers["Content-Disposition"]
    assert name.endswith(f".{kind}")
    assert "/" not in name
    assert "\n" not in name
    if kind == "ipynb":
        nbformat.validate(nbformat.reads(answer.text, as_version=4))


def test_a_long_conversation_is_exported_whole_and_a_failed_turn_says_so(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, _ = chat(server, model, ("One", "1"), ("Two", "2"))
    model.script(Status(401, body={"error": {"message": "Who are you?"}}))
    body = {"message": "Three", "sessionId": session}
    assert server.request("POST", "chat", json=body).status_code == 502
    text = export(server, session, "md").content.decode()
    assert [text.index(f"## {number}. You") for number in (1, 2, 3)]
    assert "This turn failed." in text


def test_an_unknown_format_or_session_is_an_error(server: RunningServer, session: str) -> None:
    assert export(server, session, "pdf").status_code == 400
    assert export(server, "s_no", "md").status_code == 404

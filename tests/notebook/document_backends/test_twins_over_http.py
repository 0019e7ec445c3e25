"""Whole turns where the server has jupytext or a save hook, without a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.notebook.support import code, write_notebook
from tests.support.beside import with_package
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.planning import of_type
from tests.support.sessions import act, turns

from .test_jupytext import MARKDOWN, PAIRED, PERCENT, later

HOOK = """
def double_quotes(model, **_):
    if model["type"] == "notebook":
        for cell in model["content"]["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = "".join(cell["source"]).replace("'", '"')

c.FileContentsManager.pre_save_hook = double_quotes
"""


@pytest.fixture(scope="module")
def scripted() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as model:
        yield model


@pytest.fixture(scope="module")
def jupytext(
    tmp_path_factory: pytest.TempPathFactory, scripted: ScriptedModelServer
) -> Iterator[RunningServer]:
    """A server with jupytext."""
    folder = tmp_path_factory.mktemp("jupytext")
    environment = with_package("jupytext")
    with RunningServer(
        folder, api_base=scripted.base_url, environment=environment, own_interpreter=True
    ) as server:
        yield server


def ask(server: RunningServer, path: str, kind: str = "notebook", **more: Any) -> dict[str, Any]:
    body = {
        "message": "Go on",
        "mode": "agent",
        "attachments": [{"kind": kind, "path": path}],
        "activeNotebook": path if kind == "notebook" else None,
        **more,
    }
    reply = server.post("chat", body)
    assert isinstance(reply, dict)
    return reply


def statuses(reply: dict[str, Any]) -> list[str]:
    return [call["status"] for call in reply["toolCalls"]]


def test_12_a_change_by_hand_in_the_twin_reaches_the_model_and_stays(
    jupytext: RunningServer, scripted: ScriptedModelServer
) -> None:
    write_notebook(
        jupytext.root, [code("a", "x = 1"), code("b", "y = 2")], "p.ipynb", metadata=PAIRED
    )
    scripted.script(Call("updateNotebookCell", {"cellId": "a", "content": "x = 10"}), Say("Done."))
    first = ask(jupytext, "p.ipynb")
    twin = jupytext.root / "p.py"
    twin.write_text(twin.read_text().replace("y = 2", "y = 22  # by hand"))
    later(twin)
    scripted.script(
        Call("getNotebookCells"),
        Call("updateNotebookCell", {"cellId": "a", "content": "x = 100"}),
        Say("Done."),
    )
    second = ask(jupytext, "p.ipynb", sessionId=first["sessionId"])

    assert (statuses(first), statuses(second)) == (["ok"], ["ok", "ok"])
    assert "by hand" in scripted.requests[-3].text
    assert "y = 22  # by hand" in twin.read_text()
    assert "x = 100" in twin.read_text()


@pytest.mark.parametrize(("name", "text"), [("j.py", PERCENT), ("j.md", MARKDOWN)])
def test_13_a_text_notebook_takes_a_cell_runs_it_and_is_undone_after_a_restart(
    jupytext: RunningServer, scripted: ScriptedModelServer, name: str, text: str
) -> None:
    file = jupytext.root / name
    file.write_text(text)
    scripted.script(
        Call("addNotebookCell", {"content": "print(x * 2)", "position": "end"}),
        Call("runNotebookCells", {"all": True}),
        Say("Done."),
    )
    reply = ask(jupytext, name)
    asked = scripted.requests[-3].text
    results = scripted.requests[-1].text
    changed = file.read_text()
    session, turn = reply["sessionId"], reply["turnId"]
    jupytext.kill()
    jupytext.start()
    undone = act(jupytext, session, {"type": "undo", "turnId": turn}, "changes_undone")

    assert statuses(reply) == ["ok", "ok"]
    assert "x = 41" in asked
    assert "82" in results
    assert "print(x * 2)" in changed
    assert undone["type"] == "changes_undone", undone
    assert undone["conflicts"] == []
    assert "print(x * 2)" not in file.read_text()
    assert "print(x + 1)" in file.read_text()


def test_a_script_that_is_attached_as_a_file_is_a_file(
    jupytext: RunningServer, scripted: ScriptedModelServer
) -> None:
    file = jupytext.root / "tool.py"
    file.write_text("def f():\n    return 1\n")
    edits = [{"oldString": "return 1", "newString": "return 2"}]
    scripted.script(
        Calls(
            [
                Call("readFile", {"path": "tool.py"}),
            ]
        ),
        Call("editFile", {"path": "tool.py", "edits": edits}),
        Say("Done."),
    )
    reply = ask(jupytext, "tool.py", "file")

    assert statuses(reply) == ["ok", "ok"]
    assert file.read_text() == "def f():\n    return 2\n"


def test_39_a_formatted_cell_is_reported_as_such_and_runs(
    tmp_path: Path, scripted: ScriptedModelServer
) -> None:
    config = tmp_path / "home" / "config"
    config.mkdir(parents=True)
    (config / "jupyter_server_config.py").write_text(HOOK)
    with RunningServer(tmp_path, api_base=scripted.base_url) as server:
        write_notebook(server.root, [code("a", "1")])
        scripted.script(
            Call("addNotebookCell", {"content": "print('hi')", "run": True}), Say("Done.")
        )
        first = ask(server, "a.ipynb")
        result = scripted.requests[-1].text
        added = json.loads((server.root / "a.ipynb").read_text())["cells"][1]
        change = {"cellId": added["id"], "content": "print('ho')", "run": True}
        scripted.script(Call("updateNotebookCell", change), Say("Done."))
        second = ask(server, "a.ipynb", sessionId=first["sessionId"])
        [turn, _] = turns(server, first["sessionId"], include="events")
        [shown] = of_type(turn["events"], "tool_call_output")
        undone = act(
            server,
            first["sessionId"],
            {"type": "undo", "turnId": second["turnId"]},
            "changes_undone",
        )
        sources = [
            "".join(cell["source"])
            for cell in json.loads((server.root / "a.ipynb").read_text())["cells"]
        ]

    assert (statuses(first), statuses(second)) == (["ok"], ["ok"])
    assert shown["summary"].startswith("Added cell 2, which was reformatted on save · ran cell 2")
    assert "reformattedOnSave" in result
    assert 'print(\\"hi\\")' in result or 'print(\\\\\\"hi' in result
    assert added["outputs"][0]["text"] == ["hi\n"]
    assert undone["conflicts"] == []
    assert sources == ["1", 'print("hi")']


def names(folder: Path) -> list[str]:
    """Those of the user's files in it."""
    return sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))


def test_the_other_file_of_a_pair_is_followed_where_jupytext_renames_it(
    jupytext: RunningServer, scripted: ScriptedModelServer
) -> None:
    server = jupytext
    old, new = server.root / "pair", server.root / "other"
    for each in (old, new):
        each.mkdir()
    write_notebook(server.root, [code("a", "x = 1")], "pair/p.ipynb", metadata=PAIRED)
    change = Call("updateNotebookCell", {"cellId": "a", "content": "x = 10"})
    scripted.script(change, Say("Done."))
    assert statuses(ask(server, "pair/p.ipynb")) == ["ok"]
    edits = [{"oldString": "x = 10", "newString": "x = 11"}]
    edit = Call("editFile", {"path": "pair/p.py", "edits": edits})
    scripted.script(Call("readFile", {"path": "pair/p.py"}), edit, Say("Done."))
    second = ask(server, "pair/p.py", "file")
    assert statuses(second) == ["ok", "ok"], second["toolCalls"]

    answer = server.request("PATCH", "/api/contents/pair/p.ipynb", json={"path": "other/q.ipynb"})
    assert answer.ok
    assert names(old) == []
    assert names(new) == ["q.ipynb", "q.py"]
    session = second["sessionId"]
    (turn,) = turns(server, session)
    assert {each["path"] for each in turn["changes"]} == {"other/q.py"}
    # Attached, and named by the model, by the name that it had.
    edit = Call(
        "editFile", {"path": "pair/p.py", "edits": [{"oldString": "11", "newString": "12"}]}
    )
    scripted.script(Call("readFile", {"path": "pair/p.py"}), edit, Say("Done."))
    third = ask(server, "pair/p.py", "file", sessionId=session)
    assert statuses(third) == ["ok", "ok"], third["toolCalls"]
    assert "x = 12" in (new / "q.py").read_text()
    for turn_id in (third["turnId"], second["turnId"]):
        undone = act(server, session, {"type": "undo", "turnId": turn_id}, "changes_undone")
        assert undone["type"] == "changes_undone"
    assert "x = 10" in (new / "q.py").read_text()
    assert names(old) == []

    # By the text file's name, too.
    answer = server.request("PATCH", "/api/contents/other/q.py", json={"path": "pair/r.py"})
    assert answer.ok
    scripted.script(Call("getNotebookCells"), Say("Done."))
    fourth = ask(server, "other/q.ipynb")
    assert "x = 10" in str(fourth["toolCalls"]), fourth["toolCalls"]
    assert names(old) == ["r.ipynb", "r.py"]
    assert names(new) == []

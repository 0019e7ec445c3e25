"""What code waits for the user in Agent mode, and what the user is shown of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer

ENDS = ("turn_completed", "turn_aborted")
FOLDER = "approvals"
PATH = f"{FOLDER}/asked.ipynb"


@pytest.fixture
def notebook(server: RunningServer) -> Iterator[RunningServer]:
    """A server with a notebook in a folder of its own, with ``cars.csv`` beside it, and without a
    kernel."""
    folder = server.root / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "cars.csv").write_text("mpg\n18\n", encoding="utf-8")
    write(server, ["import os as system\nOUT = 'cars.csv'"])
    yield server
    for each in server.get("/api/sessions"):
        server.request("DELETE", f"/api/sessions/{each['id']}")


def write(
    server: RunningServer, cells: list[str], language: str = "python", path: str = PATH
) -> None:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    made.metadata["language_info"] = {"name": language}
    nbformat.write(made, server.root / path)


def asked(
    server: RunningServer, model: ScriptedModelServer, *calls: Call, path: str = PATH
) -> list[dict[str, Any]]:
    """The approval requests of these calls; all are denied."""
    model.script(*calls, Say("Done."))
    session = server.post("sessions", {})["id"]
    request = {
        "message": "go",
        "mode": "agent",
        "sessionId": session,
        "attachments": [{"kind": "notebook", "path": path}],
        "activeNotebook": path,
    }
    found = []
    for event in server.stream("chat/stream", request):
        if event["type"] == "approval_requested":
            found.append(event)
            decision = {"type": "approval_decision", "decision": "deny"}
            approval = {**decision, "approvalId": event["approvalId"]}
            server.post(f"sessions/{session}/ops", approval)
        if event["type"] in ENDS:
            assert event["type"] == "turn_completed"
            return found
    raise AssertionError("the turn has no end")


def adding(code: str) -> Call:
    return Call("addNotebookCell", {"type": "code", "content": code, "run": True})


def unwatch(server: RunningServer, model: ScriptedModelServer) -> None:
    """Let the notebook have a kernel in which the guard cannot be installed, as is known then."""
    lose = {"code": "get_ipython().kernel.control_thread = None"}
    assert server.post("tools/executeCode", {"arguments": lose, "path": PATH})["ok"]
    assert asked(server, model, Call("executeCode", {"code": "1"})) == []


def test_what_the_guard_sees_asks_while_it_runs_and_names_the_file_with_its_line(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    [event] = asked(notebook, model, adding("f = 1\nopen('cars.csv', 'w').close()"))
    assert event["reason"] == "Cell 2 wants to overwrite cars.csv (line 2)"
    assert event["act"]["target"] == "cars.csv"
    assert event["act"]["kind"] == "overwrites files"
    assert event["act"]["cellId"]
    assert (notebook.root / FOLDER / "cars.csv").read_text(encoding="utf-8") == "mpg\n18\n"


def test_without_a_guard_it_asks_before_and_names_the_file_with_its_line(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    unwatch(notebook, model)
    [event] = asked(notebook, model, adding("f = 1\nopen('cars.csv', 'w').close()"))
    assert event["reason"] == "The new cell overwrites cars.csv (line 2)"
    assert event["kinds"] == ["overwrites files"]
    assert event["destructive"]
    assert len(nbformat.read(notebook.root / PATH, as_version=4).cells) == 1
    assert (notebook.root / FOLDER / "cars.csv").read_text(encoding="utf-8") == "mpg\n18\n"


def test_what_turns_out_to_have_no_guard_does_not_run_unasked(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    lose = {"code": "get_ipython().kernel.control_thread = None"}
    assert notebook.post("tools/executeCode", {"arguments": lose, "path": PATH})["ok"]
    remove = "import os\nos.remove('cars.csv')"
    [event] = asked(notebook, model, Call("executeCode", {"code": remove}))
    assert event["reason"] == (
        "The kernel cannot ask while this runs. The code removes cars.csv (line 2)"
    )
    assert event["code"] == [{"subject": "The code", "source": remove}]
    assert "Not run: it needs approval here. The user declined." in model.requests[-1].text
    assert (notebook.root / FOLDER / "cars.csv").exists()
    # From then on it is known before.
    [event] = asked(notebook, model, Call("executeCode", {"code": remove}))
    assert event["reason"] == "The code removes cars.csv (line 2)"


def test_cells_that_turn_out_to_have_no_guard_are_one_question(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    write(notebook, ["import os", "os.remove('cars.csv')", "open('cars.csv', 'w')"])
    lose = {"code": "get_ipython().kernel.control_thread = None"}
    assert notebook.post("tools/executeCode", {"arguments": lose, "path": PATH})["ok"]
    [event] = asked(notebook, model, Call("runNotebookCells", {"all": True}))
    assert event["reason"] == (
        "The kernel cannot ask while this runs. Cell 2 removes cars.csv (line 1); "
        "Cell 3 overwrites cars.csv (line 1)"
    )
    assert (notebook.root / FOLDER / "cars.csv").exists()


def test_a_new_file_reading_and_plotting_do_not_ask(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    plain = "text = open('cars.csv').read()\nopen('new.csv', 'w').write(text)"
    assert asked(notebook, model, adding(plain), Call("executeCode", {"code": "print(1)"})) == []
    assert (notebook.root / FOLDER / "new.csv").exists()


def test_the_names_that_other_cells_give_count(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    unwatch(notebook, model)
    code = "system.remove(OUT)"
    ran = Call("executeCode", {"code": code})
    found = asked(notebook, model, adding(code), ran)
    assert [each["reason"] for each in found] == [
        "The new cell removes cars.csv (line 1)",
        "The code removes cars.csv (line 1)",
    ]


def test_each_cell_of_a_run_is_named_by_its_number_and_its_code_is_shown(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    rest = "if x:\n    !rm cars.csv"
    write(notebook, ["import os", "!rm cars.csv", "x = 1", rest])
    [event] = asked(notebook, model, Call("runNotebookCells", {"all": True}))
    assert event["reason"] == ("Cell 2 removes cars.csv (line 1); Cell 4 removes cars.csv (line 2)")
    assert [(each["subject"], each["source"]) for each in event["code"]] == [
        ("Cell 2", "!rm cars.csv"),
        ("Cell 4", rest),
    ]


def test_every_target_is_named(notebook: RunningServer, model: ScriptedModelServer) -> None:
    lines = [f"!rm many/{number}.csv" for number in range(200)]
    [event] = asked(notebook, model, adding("\n".join(lines)))
    named = ", ".join(f"many/{number}.csv (line {number + 1})" for number in range(200))
    assert event["reason"] == f"The new cell removes {named}"


def test_a_changed_cell_is_looked_into_as_it_will_be(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    cell = nbformat.read(notebook.root / PATH, as_version=4).cells[0].id
    update = {"cellId": cell, "content": "import os\n!rm cars.csv", "run": True}
    calls = [Call("getNotebookCells", {}), Call("updateNotebookCell", update)]
    [event] = asked(notebook, model, *calls)
    assert event["reason"] == "The changed cell removes cars.csv (line 2)"
    update = {"cellId": cell, "content": "!rm cars.csv", "type": "markdown", "run": True}
    calls = [Call("getNotebookCells", {}), Call("updateNotebookCell", update)]
    assert asked(notebook, model, *calls) == []


@pytest.mark.parametrize(
    ("language", "code", "reason"),
    [
        ("R", "file.remove('cars.csv')", "The new cell removes cars.csv (line 1)"),
        ("julia", 'rm("cars.csv")', "The new cell removes cars.csv (line 1)"),
        ("bash", "sort x > cars.csv", "The new cell overwrites cars.csv (line 1)"),
        ("scala", "1 + 1", "The new cell is in scala, which is not checked: 1 + 1 (line 1)"),
        ("R", "!is.na(x)", None),
        ("bash", "cat cars.csv", None),
    ],
)
def test_the_notebooks_language_decides(
    notebook: RunningServer,
    model: ScriptedModelServer,
    language: str,
    code: str,
    reason: str | None,
) -> None:
    path = f"{FOLDER}/{language}.ipynb"  # a notebook without a kernel
    write(notebook, ["1"], language, path)
    found = asked(notebook, model, adding(code), path=path)
    assert [each["reason"] for each in found] == ([] if reason is None else [reason])


def test_of_a_change_only_what_is_new_is_shown(notebook: RunningServer) -> None:
    def reason(*changes: dict[str, str]) -> Any:
        return notebook.post("acts", {"path": PATH, "changes": list(changes)}).get("reason")

    assert reason({"before": "!ls", "after": "!ls\nx = 1"}) is None
    after = "!ls\nsystem.remove(OUT)"
    assert reason({"before": "!ls", "after": after}) == "It removes cars.csv (line 2)"
    assert reason({"after": "open('new.csv', 'w')"}) is None
    assert reason({"after": "%pip install y"}) == (
        "It installs or removes packages: %pip install y (line 1)"
    )

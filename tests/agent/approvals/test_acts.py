"""Code that waits while it runs: what it is about to do beyond the kernel, as it really is."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer

ENDS = ("turn_completed", "turn_aborted")
FOLDERS = itertools.count()
# The analysis of the code does not see what this removes.
HIDDEN = "import os\nvars(os)['re' + 'move']('cars.csv')"

Decide = Callable[[dict[str, Any]], dict[str, Any]]


def deny(event: dict[str, Any]) -> dict[str, Any]:
    return {"decision": "deny", "feedback": "I need it"}


def approve(event: dict[str, Any]) -> dict[str, Any]:
    return {"decision": "approve"}


def for_session(event: dict[str, Any]) -> dict[str, Any]:
    return {"decision": "approve_for_session"}


class Folder:
    """A folder of the server with a notebook, and ``cars.csv`` beside it."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.name = f"acts{next(FOLDERS)}"
        self.path = server.root / self.name
        self.path.mkdir()
        self.notebook = f"{self.name}/acts.ipynb"
        self.cars = self.path / "cars.csv"
        self.cars.write_text("mpg\n18\n", encoding="utf-8")
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1")])
        nbformat.write(made, server.root / self.notebook)


@pytest.fixture
def folder(server: RunningServer) -> Folder:
    return Folder(server)


class Turn:
    """A turn whose approvals are decided: what was asked, and the outputs of its calls."""

    def __init__(
        self, folder: Folder, model: ScriptedModelServer, decide: Decide, *calls: Call
    ) -> None:
        server = folder.server
        model.script(*calls, Say("Done."))
        self.asked: list[dict[str, Any]] = []
        self.outputs: list[dict[str, Any]] = []
        self.session = server.post("sessions", {})["id"]
        request = {
            "message": "go",
            "mode": "agent",
            "sessionId": self.session,
            "attachments": [{"kind": "notebook", "path": folder.notebook}],
            "activeNotebook": folder.notebook,
        }
        for event in server.stream("chat/stream", request):
            if event["type"] == "approval_requested":
                self.asked.append(event)
                decision = {"type": "approval_decision", "approvalId": event["approvalId"]}
                server.post(f"sessions/{self.session}/ops", {**decision, **decide(event)})
            if event["type"] == "tool_call_output":
                self.outputs.append(event)
            self.end = event["type"]
        assert self.end == "turn_completed"

    @property
    def reasons(self) -> list[str]:
        return [event["reason"] for event in self.asked]


def adding(code: str) -> Call:
    return Call("addNotebookCell", {"type": "code", "content": code, "run": True})


def test_what_the_code_hides_asks_with_its_real_target(
    folder: Folder, model: ScriptedModelServer
) -> None:
    turn = Turn(folder, model, deny, adding(HIDDEN))
    assert turn.reasons == ["Cell 2 wants to delete cars.csv (line 2)"]
    assert folder.cars.exists()
    [output] = turn.outputs
    assert output["status"] == "error"
    assert "PermissionError" in str(output["output"])
    assert "I need it" in str(output["output"])


def test_what_is_approved_is_carried_out(folder: Folder, model: ScriptedModelServer) -> None:
    turn = Turn(folder, model, approve, adding(HIDDEN))
    assert len(turn.asked) == 1
    assert not folder.cars.exists()
    assert turn.outputs[0]["status"] == "ok"


def test_an_approval_for_the_session_is_for_that_target(
    folder: Folder, model: ScriptedModelServer
) -> None:
    again = "open('cars.csv', 'x').close()\n" + HIDDEN
    other = HIDDEN.replace("cars.csv", "acts.ipynb.bak")
    (folder.path / "acts.ipynb.bak").write_text("x", encoding="utf-8")
    turn = Turn(folder, model, for_session, adding(HIDDEN), adding(again), adding(other))
    assert [reason.partition(" wants to ")[2] for reason in turn.reasons] == [
        "delete cars.csv (line 2)",
        "delete acts.ipynb.bak (line 2)",
    ]


LOOP = "import os\nfor i in range({}, {}):\n    vars(os)['re' + 'move'](f'many/{{i}}')"


def _many(folder: Folder) -> list[Path]:
    files = [folder.path / "many" / str(i) for i in range(40)]
    files[0].parent.mkdir()
    for each in files:
        each.write_text("x", encoding="utf-8")
    return files


def test_many_files_are_a_few_questions_and_the_last_one_covers_the_rest(
    folder: Folder, model: ScriptedModelServer
) -> None:
    files = _many(folder)
    first, other = adding(LOOP.format(0, 20)), adding(LOOP.format(20, 40))
    turn = Turn(folder, model, for_session, first, other)
    assert turn.reasons == [
        *(f"Cell 2 wants to delete many/{i} (line 3)" for i in range(3)),
        "Cell 2 wants to delete many/3 and other files in many/ (line 3)",
    ]
    assert not any(each.exists() for each in files)


def test_commands_approved_before_the_run_are_not_all_commands(
    folder: Folder, model: ScriptedModelServer
) -> None:
    named = "".join(f"!echo {i}\n" for i in range(3))
    hidden = "import os\nfor i in range(3, 9): vars(os)['sys' + 'tem'](f'echo {i}')"
    turn = Turn(folder, model, approve, adding(named + hidden))
    assert turn.reasons[0].startswith("The new cell runs a shell command: !echo 0 (line 1), !echo")
    assert [reason.partition(" wants to ")[2] for reason in turn.reasons[1:]] == [
        *(f"run echo {i} (line 5)" for i in range(3, 6)),
        "run echo 6 and other commands (line 5)",
    ]


def test_what_was_approved_before_the_run_covers_no_other_kind_of_act(
    folder: Folder, model: ScriptedModelServer
) -> None:
    hidden = "import os\nvars(os)['re' + 'move']('cars.csv')"
    turn = Turn(folder, model, approve, adding(f"!echo cars.csv\n{hidden}"))
    assert len(turn.reasons) == 2
    assert turn.reasons[1] == "Cell 2 wants to delete cars.csv (line 3)"


def test_the_users_own_code_is_not_asked_about(folder: Folder, model: ScriptedModelServer) -> None:
    ran = Call("executeCode", {"code": HIDDEN})
    turn = Turn(
        folder, model, deny, adding("def theirs():\n    " + HIDDEN.replace("\n", "; ")), ran
    )
    assert turn.reasons == ["The code wants to delete cars.csv (line 2)"]
    own = {"arguments": {"code": "theirs()"}, "path": folder.notebook}
    assert folder.server.post("tools/executeCode", own)["ok"]
    assert not folder.cars.exists()


def test_what_was_approved_before_the_run_is_not_asked_again(
    folder: Folder, model: ScriptedModelServer
) -> None:
    turn = Turn(folder, model, approve, adding("%pip --version\n!rm cars.csv\n!echo hello"))
    [reason] = turn.reasons
    assert "The new cell removes cars.csv (line 2)" in reason
    assert not folder.cars.exists()


def test_time_that_code_waits_is_no_time_of_its_run(
    folder: Folder, model: ScriptedModelServer
) -> None:
    def later(event: dict[str, Any]) -> dict[str, Any]:
        time.sleep(4)
        return approve(event)

    (cell,) = [adding("z = 3")]
    run = Call("runNotebookCells", {"all": True, "timeoutSeconds": 2})
    code = adding(HIDDEN)
    turn = Turn(folder, model, later, cell, Call(code.name, {**code.arguments, "run": False}), run)
    assert [output["status"] for output in turn.outputs] == ["ok", "ok", "ok"]
    assert not folder.cars.exists()


OTHERS = [f"no{number}" for number in range(8)]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (",print 1\nimport os\nos.remove('cars.csv')", 3),
        (
            "import os\n"
            f"for name in {[*OTHERS, 'cars.csv']}:\n"
            "    if os.path.exists(name):\n"
            "        os.remove(name)",
            4,
        ),
    ],
    ids=["line of IPython's", "nine names"],
)
def test_what_the_text_hides_asks_with_its_real_target(
    folder: Folder, model: ScriptedModelServer, code: str, line: int
) -> None:
    turn = Turn(folder, model, deny, adding(code))
    assert turn.reasons == [f"Cell 2 wants to delete cars.csv (line {line})"]
    assert folder.cars.exists()


@pytest.mark.parametrize("change", ["import os\nos.chdir('elsewhere')", "%cd elsewhere"])
def test_in_another_folder_the_whole_path_is_asked_about(
    folder: Folder, model: ScriptedModelServer, change: str
) -> None:
    elsewhere = folder.path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "cars.csv").write_text("x", encoding="utf-8")
    calls = [
        Call("executeCode", {"code": change}),
        adding("import os\nos.remove('cars.csv')"),
        adding("!rm cars.csv"),
    ]
    answers = iter([deny, approve, deny])
    turn = Turn(folder, model, lambda event: next(answers)(event), *calls)
    assert turn.reasons == [
        f"Cell 2 wants to delete {elsewhere / 'cars.csv'} (line 2)",
        "The new cell removes cars.csv (line 1)",
        f"Cell 3 wants to run rm cars.csv in {elsewhere} (line 1)",
    ]
    assert (elsewhere / "cars.csv").exists()


def test_a_variable_of_the_kernel_is_asked_about_with_its_real_value(
    folder: Folder, model: ScriptedModelServer
) -> None:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f = 'junk.txt'")])
    nbformat.write(made, folder.server.root / folder.notebook)
    theirs = {"arguments": {"code": "f = 'cars.csv'"}, "path": folder.notebook}
    assert folder.server.post("tools/executeCode", theirs)["ok"]
    answers = iter([deny, approve, deny])
    turn = Turn(
        folder,
        model,
        lambda event: next(answers)(event),
        adding("import os\nos.remove(f)"),
        adding("!rm $f"),
    )
    assert turn.reasons == [
        "Cell 2 wants to delete cars.csv (line 2)",
        "The new cell removes $f (line 1)",
        "Cell 3 wants to run rm cars.csv (line 1)",
    ]
    assert folder.cars.exists()


def test_a_module_that_the_agent_wrote_asks_what_it_does_when_it_is_imported(
    folder: Folder, model: ScriptedModelServer
) -> None:
    written = {"path": f"{folder.name}/tidy.py", "content": "import os\nos.remove('cars.csv')"}
    turn = Turn(folder, model, deny, Call("writeFile", written), adding("import tidy"))
    assert turn.reasons == ["Cell 2 wants to delete cars.csv (line 1)"]
    assert folder.cars.exists()


def test_the_way_to_the_servers_token_asks(folder: Folder, model: ScriptedModelServer) -> None:
    data = folder.server.environment["JUPYTER_DATA_DIR"]
    find = "from jupyter_server.serverapp import list_running_servers\nlist(list_running_servers())"
    code = (
        f"import os, socket\nfor each in (lambda: exec({find!r}),\n"
        "    lambda: open(f'/proc/{os.getppid()}/environ').read(),\n"
        f"    lambda: open({data!r} + '/datalayer-agent/agent.db', 'rb'),\n"
        f"    lambda: open({data!r} + '/datalayer-agent/new.json', 'w'),\n"
        f"    lambda: socket.create_connection(('127.0.0.1', {folder.server.port})).close()):\n"
        "    try:\n        each()\n    except PermissionError as error:\n        print('denied')\n"
    )
    turn = Turn(folder, model, deny, adding(code))
    asked = " ".join(turn.reasons)
    for part in ("jpserver-", "/environ", "agent.db", "new.json", f"port {folder.server.port}"):
        assert part in asked, turn.reasons
    assert str(turn.outputs[0]["output"]).count("denied") == 5

"""Undo and keep of a turn's changes to text files, over HTTP; and how a turn may change them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.notebook.lexical.convert import empty_document
from tests.agent.changes.test_undo_over_http import act, ask, states, undo
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.planning import of_type
from tests.support.sessions import turns

BEFORE = (
    b"\xef\xbb\xbf" + "".join(f"line {number}\r\n" for number in range(1, 13)).encode() + b"end"
)


class Folder:
    """A folder under the root, in which a turn works."""

    def __init__(self, server: RunningServer, model: ScriptedModelServer, name: str) -> None:
        self.server, self.model, self.name = server, model, name
        self.path = server.root / name
        self.path.mkdir()

    def __call__(self, name: str) -> str:
        return f"{self.name}/{name}"

    def turn(self, *calls: Any, **more: Any) -> Any:
        self.model.script(*calls, Say("Done."))
        return ask(self.server, "Do it", **more)

    def edit(self, name: str, old: str, new: str) -> Call:
        edits = [{"oldString": old, "newString": new}]
        return Call("editFile", {"path": self(name), "edits": edits})

    def read(self, name: str) -> Call:
        return Call("readFile", {"path": self(name)})

    def write(self, name: str, content: str) -> Call:
        return Call("writeFile", {"path": self(name), "content": content})


@pytest.fixture
def folder(server: RunningServer, model: ScriptedModelServer, tmp_path: Path) -> Folder:
    return Folder(server, model, tmp_path.name)


def test_edits_of_a_turn_are_undone_byte_for_byte(folder: Folder) -> None:
    file = folder.path / "a.txt"
    file.write_bytes(BEFORE)
    reply = folder.turn(
        folder.read("a.txt"),
        folder.edit("a.txt", "line 2\n", "two\nand more\n"),
        folder.edit("a.txt", "end", "the end"),
    )
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok", "ok"]
    assert b"two\r\nand more\r\n" in file.read_bytes()
    assert file.read_bytes().endswith(b"the end")
    assert states(folder.server, reply) == ["open", "open"]
    event = undo(folder.server, reply)
    assert file.read_bytes() == BEFORE
    assert event["files"] == [folder("a.txt")]
    assert states(folder.server, reply) == ["undone", "undone"]


def test_what_the_user_changed_since_stays(folder: Folder) -> None:
    file = folder.path / "a.txt"
    file.write_bytes(BEFORE)
    reply = folder.turn(folder.read("a.txt"), folder.edit("a.txt", "line 2\n", "two\nand more\n"))
    mine = file.read_bytes().replace(b"line 9", b"my line").replace(b"end", b"my end")
    file.write_bytes(mine)
    event = undo(folder.server, reply)
    assert event["conflicts"] == []
    assert file.read_bytes() == BEFORE.replace(b"line 9", b"my line").replace(b"end", b"my end")


def test_the_same_lines_are_a_conflict_that_the_user_decides(folder: Folder) -> None:
    file = folder.path / "a.txt"
    file.write_text("one\ntwo\nthree\n")
    reply = folder.turn(folder.read("a.txt"), folder.edit("a.txt", "two", "2"))
    file.write_text("one\n22\nthree\n")
    event = undo(folder.server, reply)
    [conflict] = event["conflicts"]
    assert (conflict["before"], conflict["after"], conflict["now"]) == (
        "one\ntwo\nthree\n", "one\n2\nthree\n", "one\n22\nthree\n",
    )  # fmt: skip
    assert file.read_text() == "one\n22\nthree\n"
    assert states(folder.server, reply) == ["open"]
    op = {"cellIds": [""], "paths": [folder("a.txt")], "overwrite": True}
    undo(folder.server, reply, **op)
    assert file.read_text() == "one\ntwo\nthree\n"


def test_what_the_user_changed_between_two_edits_stays(folder: Folder) -> None:
    file = folder.path / "a.txt"
    file.write_text("".join(f"{number}\n" for number in range(20)))
    between = f"open({str(file)!r}, 'a').write('mine\\n'); 1"
    reply = folder.turn(
        folder.read("a.txt"),
        folder.edit("a.txt", "3\n4\n", "three\n4\n"),
        Call("executeCode", {"code": between}),
        folder.edit("a.txt", "5\n6\n", "five\n6\n"),  # stale: the model is shown it anew
        folder.edit("a.txt", "5\n6\n", "five\n6\n"),
    )
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok", "ok", "error", "ok"]
    assert reply["toolCalls"][3]["output"]["error"]["code"] == "stale"
    undo(folder.server, reply)
    assert file.read_text() == "".join(f"{number}\n" for number in range(20)) + "mine\n"


def test_a_created_file_is_removed_only_if_it_is_as_it_was_left(folder: Folder) -> None:
    reply = folder.turn(
        folder.write("a.md", "# A\n"), folder.edit("a.md", "A", "B"), folder.write("b.md", "b")
    )
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok", "ok"]
    assert (folder.path / "a.md").read_text() == "# B\n"
    (folder.path / "b.md").write_text("b, and mine")
    event = undo(folder.server, reply)
    assert not (folder.path / "a.md").exists()
    assert [each["path"] for each in event["conflicts"]] == [folder("b.md")]
    assert (folder.path / "b.md").read_text() == "b, and mine"
    keep = {"type": "keep", "turnId": reply["turnId"], "cellIds": [""], "paths": [folder("b.md")]}
    kept = act(folder.server, reply["sessionId"], keep, "changes_kept")
    assert kept["files"] == [folder("b.md")]
    assert sorted(states(folder.server, reply)) == ["kept", "undone", "undone"]


def test_a_file_that_is_no_text_any_more_keeps_no_other_from_being_undone(folder: Folder) -> None:
    for name in ("a.txt", "b.txt"):
        (folder.path / name).write_text("one\n")
    reply = folder.turn(
        Calls([folder.read("a.txt"), folder.read("b.txt")]),
        Calls([folder.edit("a.txt", "one", "1"), folder.edit("b.txt", "one", "1")]),
        folder.write("new.bin", "text"),
    )
    for name in ("b.txt", "new.bin"):
        (folder.path / name).write_bytes(b"PK\x00\x01")
    event = undo(folder.server, reply)
    assert (folder.path / "a.txt").read_text() == "one\n"
    assert [each["path"] for each in event["conflicts"]] == [folder("b.txt"), folder("new.bin")]
    assert all("is binary (4 bytes)" in each["now"] for each in event["conflicts"])
    assert (folder.path / "b.txt").read_bytes() == b"PK\x00\x01"
    undo(folder.server, reply, overwrite=True)
    assert (folder.path / "b.txt").read_text() == "one\n"
    assert not (folder.path / "new.bin").exists()


def test_one_file_of_a_turn_is_undone_alone(folder: Folder) -> None:
    for name in ("a.txt", "b.txt"):
        (folder.path / name).write_text("one\n")
    reply = folder.turn(
        Calls([folder.read("a.txt"), folder.read("b.txt")]),
        Calls([folder.edit("a.txt", "one", "1"), folder.edit("b.txt", "one", "1")]),
    )
    event = undo(folder.server, reply, paths=[folder("b.txt")])
    assert (event["cellIds"], event["files"]) == ([], [folder("b.txt")])
    assert (folder.path / "a.txt").read_text() == "1\n"
    assert (folder.path / "b.txt").read_text() == "one\n"
    assert states(folder.server, reply) == ["open", "undone"]


def test_a_file_that_was_deleted_since_can_be_restored(folder: Folder) -> None:
    file = folder.path / "a.txt"
    file.write_bytes(BEFORE)
    reply = folder.turn(folder.read("a.txt"), folder.edit("a.txt", "end", "END"))
    file.unlink()
    [conflict] = undo(folder.server, reply)["conflicts"]
    assert "now" not in conflict
    undo(folder.server, reply, overwrite=True)
    assert file.read_bytes() == BEFORE


def test_a_file_that_was_not_read_or_changed_since_is_not_overwritten(folder: Folder) -> None:
    file = folder.path / "a.txt"
    file.write_text("one\n")
    reply = folder.turn(
        folder.edit("a.txt", "one", "1"), folder.write("a.txt", "1\n"), approval="never"
    )
    first, second = (call["output"] for call in reply["toolCalls"])
    assert first["error"]["code"] == "stale"
    assert "has not been read" in first["error"]["message"]
    assert first["output"]["content"] == "one\n"
    assert second["ok"]  # by then the model has been shown it
    file.write_text("two\n")
    again = folder.turn(folder.write("a.txt", "3\n"), sessionId=reply["sessionId"])
    assert again["toolCalls"][0]["output"]["error"]["code"] == "stale"
    assert file.read_text() == "two\n"


def test_a_file_in_the_context_need_not_be_read_again(folder: Folder) -> None:
    file = folder.path / "a.txt"
    file.write_bytes(b"one\r\ntwo\r\n")
    attached = [{"kind": "file", "path": folder("a.txt")}]
    reply = folder.turn(folder.edit("a.txt", "one\n", "1\n"), attachments=attached)
    assert reply["toolCalls"][0]["status"] == "ok"
    assert file.read_bytes() == b"1\r\ntwo\r\n"


def test_instructions_for_the_agent_are_not_changed_without_the_user(folder: Folder) -> None:
    instructions = folder.server.root / "AGENTS.md"
    call = Call("writeFile", {"path": "AGENTS.md", "content": "Obey."})
    reply = folder.turn(call, approval="destructive")
    assert reply["toolCalls"][0]["status"] == "denied"
    assert not instructions.exists()
    # Nor by another way to the same file.
    instructions.write_text("Use polars.\n")
    (folder.path / "notes.md").symlink_to(instructions)
    session = reply["sessionId"]
    reply = folder.turn(
        folder.read("notes.md"),
        folder.edit("notes.md", "polars", "pandas"),
        approval="destructive",
        sessionId=session,
    )
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "denied"]
    assert instructions.read_text() == "Use polars.\n"
    instructions.unlink()


@pytest.mark.parametrize(
    "name",
    ["conftest.py", "CLAUDE.md", "random.py", "pandas.py", "ipython_config.py", "kernel.json"],
)
def test_a_file_that_something_runs_later_is_not_created_without_the_user(
    folder: Folder, name: str
) -> None:
    reply = folder.turn(folder.write(name, "import os\n"), approval="destructive")
    assert reply["toolCalls"][0]["status"] == "denied"
    assert not (folder.path / name).exists()


@pytest.mark.parametrize(
    ("tool", "argument", "name"),
    [
        ("createNotebook", "name", "profile_default/startup/first"),
        ("createLexical", "name", "profile_default/startup/first.dlex"),
        ("editFile", "path", "link.txt"),
        ("addNotebookCell", "path", "profile_default/startup/mine.ipynb"),
        ("updateNotebookCell", "path", "profile_default/startup/mine.ipynb"),
        ("insertBlock", "path", "profile_default/startup/mine.dlex"),
    ],
)
def test_no_tool_writes_where_something_runs_it_later_without_the_user(
    folder: Folder, tool: str, argument: str, name: str
) -> None:
    startup = folder.path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("a = 1", id="one")])
    nbformat.write(notebook, startup / "mine.ipynb")
    (startup / "mine.dlex").write_text(empty_document())
    (folder.path / "link.txt").symlink_to(startup / "00.py")
    (startup / "00.py").write_text("a = 1\n")
    before = {each: each.read_bytes() for each in startup.iterdir()}
    more = {
        "editFile": {"edits": [{"oldString": "1", "newString": "2"}]},
        "addNotebookCell": {"content": "import os"},
        "updateNotebookCell": {"cellId": "one", "content": "import os"},
        "insertBlock": {"type": "paragraph", "content": "x"},
    }
    path = folder(name)
    calls = [Call(tool, {argument: path, **more.get(tool, {})})]
    at_hand: dict[str, Any] = {}
    if name.endswith((".ipynb", "mine.dlex")):
        kind = "notebook" if name.endswith(".ipynb") else "file"
        at_hand = {"attachments": [{"kind": kind, "path": path}], "activeNotebook": path}
    if tool == "editFile":
        calls.insert(0, folder.read("link.txt"))
    reply = folder.turn(*calls, approval="destructive", **at_hand)
    assert reply["toolCalls"][-1]["status"] == "denied"
    assert {each: each.read_bytes() for each in startup.iterdir()} == before


@pytest.mark.parametrize("name", ["cars_random.py", "agents.txt", "package/random.py"])
def test_a_file_with_a_name_like_one_of_those_is_created(folder: Folder, name: str) -> None:
    (folder.path / "package").mkdir(exist_ok=True)
    (folder.path / "package" / "__init__.py").touch()
    reply = folder.turn(folder.write(name, "x = 1\n"), approval="destructive")
    assert reply["toolCalls"][0]["status"] == "ok"


def test_overwriting_asks_with_the_diff_and_a_new_file_does_not(folder: Folder) -> None:
    file = folder.path / "a.txt"
    file.write_text("one\n")
    session = folder.server.post("sessions", {})["id"]
    folder.model.script(
        folder.read("a.txt"), folder.write("new.txt", "new"), folder.write("a.txt", "two\n"),
        Say("Done."),
    )  # fmt: skip
    body = {"message": "x", "mode": "agent", "approval": "destructive", "sessionId": session}
    asked = []
    for event in folder.server.stream("chat/stream", body):
        if event["type"] == "approval_requested":
            asked.append(event)
            assert file.read_text() == "one\n"
            op = {
                "type": "approval_decision",
                "approvalId": event["approvalId"],
                "decision": "deny",
            }
            folder.server.post(f"sessions/{session}/ops", op)
    [question] = asked
    assert question["reason"] == f"Overwrites {folder('a.txt')}"
    [change] = question["changes"]
    assert (change["before"], change["after"]) == ("one\n", "two\n")
    assert file.read_text() == "one\n"
    assert (folder.path / "new.txt").read_text() == "new"


def test_the_page_shows_what_was_changed_in_plain_words(folder: Folder) -> None:
    (folder.path / "a.py").write_text("x = 1\n")
    reply = folder.turn(
        folder.read("a.py"), folder.edit("a.py", "1", "2"), folder.write("notes.md", "# N\n")
    )
    [turn] = turns(folder.server, reply["sessionId"], include="events")
    outputs = of_type(turn["events"], "tool_call_output")
    assert [each["summary"] for each in outputs] == [
        f"Read {folder('a.py')}", f"Changed {folder('a.py')}", f"Created {folder('notes.md')}",
    ]  # fmt: skip
    changed = of_type(turn["events"], "document_changed")
    assert [each["changes"][0]["op"] for each in changed] == ["update", "create"]
    route = f"sessions/{reply['sessionId']}/turns/{reply['turnId']}/changes"
    answer = folder.server.get(route)
    assert "-x = 1\n+x = 2" in answer["diffs"][0]


def test_ask_mode_reads_and_is_not_sent_what_changes(folder: Folder) -> None:
    (folder.path / "a.py").write_text("x = 1\n")
    reply = folder.turn(folder.read("a.py"), folder.edit("a.py", "1", "2"), mode="ask")
    sent = set(folder.model.requests[0].tool_names)
    assert {"listFiles", "readFile"} <= sent
    assert not {"editFile", "writeFile"} & sent
    read, edit = reply["toolCalls"]
    assert (read["status"], edit["status"]) == ("ok", "error")
    assert (folder.path / "a.py").read_text() == "x = 1\n"


def test_secrets_are_open_only_where_the_user_attached_that_file(folder: Folder) -> None:
    for name in ("a.pem", "b.pem"):
        (folder.path / name).write_text("hunter2\n")
    calls = Calls([folder.read("a.pem"), folder.read("b.pem")])
    attached = [{"kind": "file", "path": folder("a.pem")}]
    reply = folder.turn(calls, attachments=attached)
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "error"]
    later = folder.turn(folder.read("a.pem"), sessionId=reply["sessionId"])
    assert later["toolCalls"][0]["status"] == "error"


def test_rows_of_a_data_file_follow_the_setting(folder: Folder) -> None:
    (folder.path / "people.csv").write_text("name,age\nAda,36\nGrace,85\n")
    session = folder.server.post("sessions", {"settings": {"rowData": "never"}})["id"]
    reply = folder.turn(
        folder.read("people.csv"), folder.edit("people.csv", "Ada,37", "x"), sessionId=session
    )
    assert "Ada" in str(reply["toolCalls"][0]["output"])
    assert "Grace" not in str(folder.model.requests[-1].body)
    assert "3 lines of data withheld by the setting" in str(folder.model.requests[-1].body)

"""Renamed documents over HTTP: between turns, in the middle of one, and after a restart."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import pytest

from tests.agent.changes.test_undo_over_http import states, undo
from tests.agent.session.test_two_tabs import new_session, two_tabs
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, RecordedRequest, Say, ScriptedModelServer
from tests.support.page import FakePage


@pytest.fixture
def folder(server: RunningServer, tmp_path: Path) -> str:
    """A folder of this test's own under the root."""
    (server.root / tmp_path.name).mkdir()
    return tmp_path.name


@pytest.fixture
def own_server(tmp_path: Path, model: ScriptedModelServer) -> Iterator[RunningServer]:
    """A server that can be stopped."""
    with RunningServer(tmp_path, api_base=model.base_url) as running:
        yield running


EDIT = {"path": "data/notes.txt", "edits": [{"oldString": "one", "newString": "two"}]}


def make(server: RunningServer, path: str, *sources: str) -> str:
    new = nbformat.v4
    cells = [new.new_code_cell(source, id=f"own{n}") for n, source in enumerate(sources)]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new.new_notebook(cells=cells, metadata={"kernelspec": spec})
    nbformat.write(notebook, server.root / path)
    return path


def sources(server: RunningServer, path: str) -> list[str]:
    return [cell.source for cell in nbformat.read(server.root / path, as_version=4).cells]


def rename(server: RunningServer, old: str, new: str) -> None:
    answer = server.request("PATCH", f"/api/contents/{old}", json={"path": new})
    assert answer.ok, answer.text


def ask(server: RunningServer, message: str, path: str, **more: Any) -> Any:
    about = {"attachments": [{"kind": "notebook", "path": path}], "activeNotebook": path}
    body = {"message": message, "mode": "agent", "approval": "never", **about, **more}
    return server.post("chat", body)


def then(do: Callable[[], None], step: Any) -> Callable[[RecordedRequest], Any]:
    """A step before which something happens."""

    def answer(request: RecordedRequest) -> Any:
        do()
        return step

    return answer


def add(source: str, **more: Any) -> Call:
    return Call("addNotebookCell", {"type": "code", "content": source, **more})


def test_a_new_notebook_that_is_renamed_is_the_one_that_all_turns_are_about(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    old, new, newest = (f"{folder}/{name}.ipynb" for name in ("Untitled", "sales", "final"))
    make(server, old)
    model.script(
        add("one = 1"), Say("Done."),
        add("two = 2"), Say("Done."),
        add("three = 3"),
        then(lambda: rename(server, new, newest), add("four = 4", path=new)),
        Say("Done."),
    )  # fmt: skip
    first = ask(server, "One", old)
    session = first["sessionId"]
    rename(server, old, new)
    ask(server, "Two", new, sessionId=session)
    third = ask(server, "Three and four", new, sessionId=session)

    assert [call["status"] for call in third["toolCalls"]] == ["ok", "ok"], third["toolCalls"]
    assert sources(server, newest) == ["one = 1", "two = 2", "three = 3", "four = 4"]
    assert {change["path"] for change in third["changes"]} == {newest}
    for turn in server.get(f"sessions/{session}/turns")["turns"]:
        assert {change["path"] for change in turn["changes"]} == {newest}

    event = undo(server, first)
    assert event["type"] == "changes_undone", event
    assert {change["path"] for change in event["changes"]} == {newest}
    assert sources(server, newest) == ["two = 2", "three = 3", "four = 4"]
    names = [path.name for path in (server.root / folder).glob("*.ipynb")]
    assert names == ["final.ipynb"]


def test_the_next_context_says_the_new_name_and_the_old_one_still_means_the_notebook(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    old, new = f"{folder}/a.ipynb", f"{folder}/moved/b.ipynb"
    (server.root / folder / "moved").mkdir()
    make(server, old, "x = 1")
    model.script(add("y = 2"), Say("Done."))
    first = ask(server, "One", old)
    rename(server, old, new)
    model.script(
        Call("updateNotebookCell", {"path": old, "cellId": "own0", "content": "x = 3"}),
        Say("Done."),
    )
    second = ask(server, "Two", new, sessionId=first["sessionId"])
    assert [call["status"] for call in second["toolCalls"]] == ["ok"], second["toolCalls"]
    assert sources(server, new) == ["x = 3", "y = 2"]
    assert f"[{old} was renamed. Its path is now {new}.]" in model.requests[-1].text
    assert not (server.root / old).exists()


@pytest.mark.parametrize("restart", [False, True])
def test_earlier_turns_are_undone_under_the_new_name(
    own_server: RunningServer, model: ScriptedModelServer, restart: bool
) -> None:
    server = own_server
    for each in ("data", "other"):
        (server.root / each).mkdir()
    make(server, "data/a.ipynb", "x = 1")
    make(server, "data/b.ipynb", "x = 1")
    (server.root / "data/notes.txt").write_text("one\n")
    change = {"cellId": "own0", "content": "x = 2"}
    model.script(
        Call("updateNotebookCell", change),
        Call("readFile", {"path": "data/notes.txt"}),
        Call("editFile", EDIT),
        Say("Done."),
        Call("updateNotebookCell", change),
        Say("Done."),
    )
    first = ask(server, "One", "data/a.ipynb")
    second = ask(server, "Two", "data/b.ipynb")
    assert (server.root / "data/notes.txt").read_text() == "two\n", first["toolCalls"]

    rename(server, "data", "other/renamed")
    if restart:
        server.stop()
        server.start()
    rename(server, "other/renamed/a.ipynb", "c.ipynb")

    for reply in (first, second):
        assert undo(server, reply)["type"] == "changes_undone"
        assert set(states(server, reply)) == {"undone"}
    assert sources(server, "c.ipynb") == sources(server, "other/renamed/b.ipynb") == ["x = 1"]
    assert (server.root / "other/renamed/notes.txt").read_text() == "one\n"
    assert not (server.root / "data").exists()


def test_swapped_names_stay_with_their_notebooks(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    a, b, between = (f"{folder}/{name}.ipynb" for name in "abt")
    make(server, a, "a = 1")
    make(server, b, "b = 1")
    change = {"cellId": "own0"}
    model.script(
        Call("updateNotebookCell", {**change, "content": "a = 2"}), Say("Done."),
        Call("updateNotebookCell", {**change, "content": "b = 2"}), Say("Done."),
    )  # fmt: skip
    first, second = ask(server, "One", a), ask(server, "Two", b)
    rename(server, a, between)
    rename(server, b, a)
    rename(server, between, b)
    undo(server, first)
    assert (sources(server, a), sources(server, b)) == (["b = 2"], ["a = 1"])
    undo(server, second)
    assert (sources(server, a), sources(server, b)) == (["b = 1"], ["a = 1"])


def test_a_new_notebook_of_the_old_name_is_another_one(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    a, b = f"{folder}/a.ipynb", f"{folder}/b.ipynb"
    make(server, a, "x = 1")
    change = {"cellId": "own0", "content": "x = 2"}
    model.script(Call("updateNotebookCell", change), Say("Done."))
    first = ask(server, "One", a)
    rename(server, a, b)
    make(server, a, "new = 1")
    model.script(Call("updateNotebookCell", {"path": a, **change}), Say("No."))
    second = ask(server, "Two", b, sessionId=first["sessionId"])
    assert "is not the attached, active notebook" in str(second["toolCalls"][0]["output"])
    undo(server, first)
    assert (sources(server, a), sources(server, b)) == (["new = 1"], ["x = 1"])


def test_what_replaced_a_changed_notebook_is_not_reverted_in_its_place(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    a, b = f"{folder}/a.ipynb", f"{folder}/b.ipynb"
    make(server, a, "mine = 1")
    model.script(Call("createNotebook", {"name": b}), add("made = 1", path=b), Say("Done."))
    reply = ask(server, "Make one", a)
    assert (server.root / b).exists(), reply["toolCalls"]
    assert server.request("DELETE", f"/api/contents/{b}").ok
    rename(server, a, b)
    assert undo(server, reply)["type"] == "error"
    assert sources(server, b) == ["mine = 1"]


def test_outputs_of_a_run_land_in_the_notebook_that_is_renamed_meanwhile(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    old, new = f"{folder}/a.ipynb", f"{folder}/b.ipynb"
    flag = server.root / folder / "go"
    wait = (
        "import os, time\nprint('began', flush=True)\n"
        f"while not os.path.exists({str(flag)!r}):\n    time.sleep(0.01)\nprint('ended')"
    )
    make(server, old, wait, "print('after')")
    run = {"cellIds": ["own0", "own1"]}
    model.script(Call("runNotebookCells", run), Call("runNotebookCells", run), Say("Done."))

    def rename_when_it_runs() -> None:
        # As the output has it, and not the source.
        while '"began\\n"' not in (server.root / old).read_text():
            pass
        rename(server, old, new)
        flag.touch()

    renaming = threading.Thread(target=rename_when_it_runs)
    renaming.start()
    reply = ask(server, "Run", old)
    renaming.join()
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok"], reply["toolCalls"]
    cells = nbformat.read(server.root / new, as_version=4).cells
    assert [cell.outputs[0].text for cell in cells] == ["began\nended\n", "after\n"]
    # In the same kernel: the second run counts on.
    assert [cell.execution_count for cell in cells] == [3, 4]
    assert not (server.root / old).exists()
    kernels = [each for each in server.get("/api/sessions") if folder in each["path"]]
    assert [each["path"] for each in kernels] == [new]
    assert undo(server, reply)["type"] == "changes_undone"
    assert not (server.root / old).exists()


@pytest.mark.parametrize("restart", [False, True])
def test_a_message_that_waits_is_about_the_notebook_under_its_new_name(
    own_server: RunningServer, model: ScriptedModelServer, restart: bool
) -> None:
    server, old, new = own_server, "a.ipynb", "b.ipynb"
    make(server, old)
    about = {"attachments": [{"kind": "notebook", "path": old}], "activeNotebook": old}
    about |= {"mode": "agent", "approval": "never"}
    model.script(Gate(Say("One two three", chunk=4), after=1), add("x = 1"), Say("Done."))
    session = new_session(server)
    with two_tabs(server, session) as (tab, _):
        tab.say("One", **about)
        tab.wait_for("text_delta")
        tab.say("Two", **about)
        waiting = tab.wait_for("op_queued")["opId"]
        rename(server, old, new)
        if restart:
            tab.submit({"type": "interrupt", "hold": True})
            tab.wait_for("turn_aborted")
        else:
            model.release()
            tab.wait_for("turn_completed")
            tab.wait_for("turn_completed")
    if restart:
        server.stop()
        server.start()
        with two_tabs(server, session) as (tab, _):
            tab.submit({"type": "send_now", "opId": waiting})
            tab.wait_for("turn_completed")
    assert sources(server, new) == ["x = 1"]
    assert not (server.root / old).exists()
    assert f"Its path is now {new}" in model.requests[1].text


def test_an_edit_does_not_bring_a_deleted_or_moved_file_back(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    path = make(server, f"{folder}/a.ipynb", "x = 1")
    gone = server.root / folder / "elsewhere"
    model.script(
        Call("getNotebookCells"),
        then(lambda: (server.root / path).rename(gone) and None, add("y = 2")),
        Say("No."),
    )
    reply = ask(server, "Edit", path)
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "error"]
    assert "listFiles" in str(reply["toolCalls"][1]["output"])
    assert not (server.root / path).exists()


def test_sessions_are_notified_and_events_are_read_again_with_the_new_path(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    old, new = f"{folder}/ä b.ipynb", f"{folder}/ö.ipynb"
    make(server, old)
    model.script(add("x = 1"), Say("Done."))
    reply = ask(server, "One", old)
    session = reply["sessionId"]
    last = server.get(f"sessions/{session}")["lastSeq"]
    rename(server, old, new)
    events = server.stream(f"sessions/{session}/events?after={last}")
    event = next(each for each in events if each["type"] == "document_renamed")
    assert (event["oldPath"], event["path"]) == (old, new)
    turns = server.get(f"sessions/{session}/turns", include="events")["turns"]
    changed = [each for each in turns[0]["events"] if each["type"] == "document_changed"]
    assert [(each["path"], each["changes"][0]["path"]) for each in changed] == [(new, new)]
    assert server.get(f"sessions/{session}")["settings"].get("notebook") == new


def test_a_page_is_notified_and_read_by_the_name_that_it_knows(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    old, new = f"{folder}/a.ipynb", f"{folder}/b.ipynb"
    make(server, old, "x = 1")
    asked: list[str] = []

    def answer(request: Any) -> Any:
        asked.append(request["params"]["path"])
        cells = [{"id": "own0", "index": 0, "type": "code", "source": "x = 9", "hash": "0"}]
        result = {"path": request["params"]["path"], "cells": cells}
        return {"ok": True, "result": result}

    def state(path: str, known_until: int) -> dict[str, Any]:
        notebook = {"path": path, "cellCount": 1}
        known = {"renamesKnownUntil": known_until}
        return {"type": "editor_state", "notebooks": [notebook], **known}

    def read(path: str) -> str:
        model.script(Call("getNotebookCells"), Say("Done."))
        return str(ask(server, "Read", path, mode="ask", clientId="page-r")["toolCalls"])

    with FakePage(server, "page-r", answer) as page:
        page.send(state(old, 0))
        assert "x = 9" in read(old)
        rename(server, old, new)
        message = page.wait_for("file_renamed")
        assert (message["oldPath"], message["path"]) == (old, new)
        # It was on its way before the page knew.
        page.send(state(old, 0))
        assert "x = 9" in read(new)
        page.send(state(new, message["renamesKnownUntil"]))
        # Another notebook by the old name, of which the file says more than this page.
        make(server, old, "y = 1")
        assert "y = 1" in read(old)
        assert set(asked) == {old, new}
        assert asked.index(new) == asked.count(old)


OLD, NEW = "Untitled.ipynb", "ä 50%.ipynb"


def use(server: RunningServer, model: ScriptedModelServer, session: str, path: str) -> Any:
    """A turn whose message and model still name the notebook by an older path."""
    change = {"path": path, "cellId": "own0", "content": "x = 2"}
    model.script(Call("updateNotebookCell", change), Say("Done."))
    return ask(server, "Two", path, sessionId=session)


def test_an_old_name_means_the_renamed_notebook_after_a_restart(
    own_server: RunningServer, model: ScriptedModelServer
) -> None:
    server = own_server
    (server.root / "moved").mkdir()
    make(server, OLD, "x = 1")
    model.script(Say("Seen."))
    session = ask(server, "One", OLD)["sessionId"]
    rename(server, OLD, "case.ipynb")
    rename(server, "case.ipynb", "Case.ipynb")
    rename(server, "Case.ipynb", f"moved/{quote(NEW)}")
    rename(server, "moved", "folder")
    server.stop()
    server.start()
    second = use(server, model, session, OLD)
    assert [call["status"] for call in second["toolCalls"]] == ["ok"], second["toolCalls"]
    assert sources(server, f"folder/{quote(NEW)}") == ["x = 2"]
    assert not (server.root / OLD).exists()
    # A new notebook of the old name is that one; when it was deleted, no other takes its place.
    make(server, OLD, "new = 1")
    third = use(server, model, session, OLD)
    assert [call["status"] for call in third["toolCalls"]] == ["ok"], third["toolCalls"]
    assert sources(server, OLD) == ["x = 2"]
    assert server.request("DELETE", f"/api/contents/{OLD}").ok
    server.stop()
    server.start()
    body = {"message": "Three", "sessionId": session, "mode": "agent"}
    attached = [{"kind": "notebook", "path": OLD}]
    refused = server.request(
        "POST", "/datalayer-agent/chat", json={**body, "attachments": attached}
    )
    assert refused.status_code == 404, refused.text


def test_two_servers_on_one_database_know_each_others_renames(
    own_server: RunningServer, tmp_path: Path, model: ScriptedModelServer
) -> None:
    make(own_server, OLD, "x = 1")
    model.script(Say("Seen."))
    session = ask(own_server, "One", OLD)["sessionId"]
    with (
        FakePage(own_server) as page,
        RunningServer(tmp_path, api_base=model.base_url) as other,
    ):
        assert other.root == own_server.root
        rename(other, OLD, NEW)
        content = nbformat.read(own_server.root / NEW, as_version=4)
        known = {"renamesKnownUntil": page.renames_known_until}
        saved = {"type": "notebook", "format": "json", "content": content, **known}
        refused = own_server.request("PUT", f"/api/contents/{OLD}", json=saved)
        assert refused.status_code == 409, refused.text
        message = page.wait_for("file_renamed")
        assert (message["oldPath"], message["path"]) == (OLD, NEW)
        assert not (own_server.root / OLD).exists()
    reply = use(own_server, model, session, OLD)
    assert [call["status"] for call in reply["toolCalls"]] == ["ok"], reply["toolCalls"]
    assert sources(own_server, NEW) == ["x = 2"]


def test_a_later_rename_by_another_server_is_followed_after_one_of_the_same_name(
    own_server: RunningServer, tmp_path: Path, model: ScriptedModelServer
) -> None:
    make(own_server, OLD, "x = 0")
    rename(own_server, OLD, "first.ipynb")
    make(own_server, OLD, "x = 1")
    with (
        FakePage(own_server) as page,
        RunningServer(tmp_path, api_base=model.base_url) as other,
    ):
        rename(other, OLD, NEW)
        content = nbformat.read(own_server.root / NEW, as_version=4)
        known = {"renamesKnownUntil": page.renames_known_until}
        saved = {"type": "notebook", "format": "json", "content": content, **known}
        assert own_server.request("PUT", f"/api/contents/{OLD}", json=saved).status_code == 409
        message = page.wait_for("file_renamed")
        assert (message["oldPath"], message["path"]) == (OLD, NEW)


def test_a_page_knows_of_renames_of_a_clock_that_was_ahead(
    own_server: RunningServer, tmp_path: Path
) -> None:
    server = own_server
    make(server, OLD, "x = 1")
    content = nbformat.read(server.root / OLD, as_version=4)
    rename(server, OLD, NEW)
    server.stop()
    database = tmp_path / "home" / "data" / "datalayer-agent" / "agent.db"
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE document_renames SET at = at + 86400000")
    server.start()
    with FakePage(server) as page:
        known = {"renamesKnownUntil": page.renames_known_until}
        saved = {"type": "notebook", "format": "json", "content": content, **known}
        made = server.request("PUT", f"/api/contents/{OLD}", json=saved)
        assert made.status_code == 201, made.text
        # And of what is renamed from now on, it is told.
        rename(server, OLD, "later.ipynb")
        assert page.wait_for("file_renamed")["renamesKnownUntil"] > page.renames_known_until
        refused = server.request("PUT", f"/api/contents/{OLD}", json=saved)
        assert "later.ipynb" in refused.json()["message"]


@pytest.mark.parametrize("restart", [False, True])
def test_a_page_that_was_away_hears_of_every_rename_in_order(
    own_server: RunningServer, restart: bool
) -> None:
    server = own_server
    (server.root / "f").mkdir()
    for path in ("a.ipynb", "b.ipynb", "f/c.ipynb", "gone.ipynb"):
        make(server, path, "x = 1")
    with FakePage(server, "page-away") as page:
        rename(server, "a.ipynb", "seen.ipynb")
        page.renames_known_until = page.wait_for("file_renamed")["renamesKnownUntil"]
        page.break_off()
    missed = [
        ("seen.ipynb", "t.ipynb"), ("b.ipynb", "seen.ipynb"), ("t.ipynb", "b.ipynb"), ("f", "g"),
        ("g/c.ipynb", "d.ipynb"),
    ]  # fmt: skip
    for old, new in missed:
        rename(server, old, new)
    assert server.request("DELETE", "/api/contents/gone.ipynb").ok
    if restart:
        # It remembers no page.
        server.stop()
        server.start()
    known = page.renames_known_until
    with FakePage(server, "page-away", renames_known_until=known) as page:
        heard = [(each["oldPath"], each["path"]) for each in page.missed]
        assert [each["type"] for each in page.missed] == ["file_renamed"] * 5
        assert heard == missed
        page.leave()
    # Another page was loaded after that, and so is this one again.
    for again in (FakePage(server, "page-new"), FakePage(server, "page-away")):
        with again as page:
            assert page.missed == []
            last = page.renames_known_until
    with FakePage(server, "page-away", renames_known_until=last) as page:
        assert page.missed == []


@pytest.mark.parametrize("restart", [False, True])
def test_a_page_that_does_not_know_of_a_rename_does_not_make_the_old_file_again(
    own_server: RunningServer, restart: bool
) -> None:
    server = own_server
    make(server, "a.ipynb", "x = 1")
    content = nbformat.read(server.root / "a.ipynb", as_version=4)

    def save(path: str, **more: Any) -> Any:
        model = {"type": "notebook", "format": "json", "content": content, **more}
        return server.request("PUT", f"/api/contents/{path}", json=model)

    with FakePage(server) as page:
        before = {"renamesKnownUntil": page.renames_known_until}
        assert save("a.ipynb", **before).ok
        rename(server, "a.ipynb", "b.ipynb")
        now = {"renamesKnownUntil": page.wait_for("file_renamed")["renamesKnownUntil"]}
    if restart:
        server.stop()
        server.start()
    refused = save("a.ipynb", **before)
    assert refused.status_code == 409
    assert "b.ipynb" in refused.json()["message"]
    assert not (server.root / "a.ipynb").exists()
    assert save("b.ipynb", **before).ok
    # Whoever knows of the rename means a new file, and so do programs.
    for known in (now, {}):
        assert save("a.ipynb", **known).status_code == 201
        assert save("a.ipynb", **before).ok
        (server.root / "a.ipynb").unlink()


def test_a_text_file_that_is_renamed_in_a_turn_is_edited_under_its_new_name(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    old, new = f"{folder}/notes 1.txt", f"{folder}/Notes 100%.txt"
    (server.root / old).write_text("one\n")
    edit = {"path": old, "edits": [{"oldString": "one", "newString": "two"}]}
    model.script(
        Call("readFile", {"path": old}),
        then(lambda: rename(server, old, quote(new)), Call("editFile", edit)),
        Say("Done."),
    )
    body = {"message": "Edit", "mode": "agent", "approval": "never"}
    reply = server.post("chat", {**body, "attachments": [{"kind": "file", "path": old}]})
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok"], reply["toolCalls"]
    renamed = server.root / quote(new)
    assert renamed.read_text() == "two\n"
    assert {change["path"] for change in reply["changes"]} == {quote(new)}
    assert undo(server, reply)["type"] == "changes_undone"
    assert renamed.read_text() == "one\n"
    assert not (server.root / old).exists()


def test_a_rename_outside_jupyter_makes_no_old_file_again(
    server: RunningServer, model: ScriptedModelServer, folder: str
) -> None:
    old, new = f"{folder}/a.ipynb", f"{folder}/b.ipynb"
    make(server, old, "x = 1")
    change = {"cellId": "own0", "content": "x = 2"}
    model.script(Call("updateNotebookCell", change), Say("Done."))
    first = ask(server, "One", old)
    (server.root / old).rename(server.root / new)
    # The notebook that a session remembers is none any more; attached by its new name it is.
    body = {"message": "Two", "mode": "agent", "sessionId": first["sessionId"]}
    attached = {"attachments": [{"kind": "notebook", "path": old}], "activeNotebook": old}
    refused = server.request("POST", "/datalayer-agent/chat", json={**body, **attached})
    assert refused.status_code == 404
    assert "does not exist" in refused.text
    event = undo(server, first)
    assert event["type"] == "error"
    assert not (server.root / old).exists()
    model.script(Call("updateNotebookCell", {**change, "content": "x = 3"}), Say("Done."))
    third = ask(server, "Three", new, sessionId=first["sessionId"])
    assert [call["status"] for call in third["toolCalls"]] == ["ok"]
    assert sources(server, new) == ["x = 3"]
    assert not (server.root / old).exists()

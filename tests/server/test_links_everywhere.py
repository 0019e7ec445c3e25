"""Every entry at which a request opens a file of the project's folder, with what a stranger may
have put there: links, pipes, devices and huge files.

A file outside the root, or one that holds secrets, reaches neither the model nor the reply, nothing
outside is written, and the server goes on; a link within the root is followed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
import requests

from tests.support.jupyter import CLIENT, RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.page import submit_in_page

v4: Any = nbformat.v4
SECRET = "outsideofthisroot"
WITHIN = "withinthisroot"
SLOWEST = 60.0
"""Seconds after which a request counts as stuck: what waits for a pipe waits for ever, and a busy
machine takes over 6 s for a join of two files."""
LARGE = 30_000_000
KINDS = (".txt", ".csv", ".ipynb", ".dlex", ".py", ".json", ".md", ".html", ".jsonl")
FOLDER = ""
"""The kind of a folder."""


def text_of(suffix: str, word: str) -> str:
    """A file of this kind that has the word in all that is shown of it."""
    if suffix == ".ipynb":
        code = v4.new_code_cell(f"{word} = 1", id="c0")
        code.outputs = [v4.new_output("stream", text=word)]
        notes = v4.new_markdown_cell(f"# {word}", id="c1")
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        made = v4.new_notebook(cells=[code, notes], metadata={"kernelspec": kernel})
        return json.dumps(made)
    if suffix == ".dlex":
        text = {"type": "text", "text": word, "format": 0, "version": 1}
        node = {"type": "paragraph", "children": [text], "version": 1}
        return json.dumps({"root": {"type": "root", "children": [node], "version": 1}})
    if suffix == ".json":
        return json.dumps({"mcpServers": {word: {"command": word}}})
    return f"{word},{word}2\n1,2\n3,4\n"


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("links")
    environment = {"A_KEY": SECRET}
    with RunningServer(folder, api_base=shared_model.base_url, environment=environment) as running:
        shared_model.script(Say("Ready."))
        running.post("chat", {"message": "hello"})
        _fill(running.root, folder / "outside")
        yield running


def _fill(root: Path, outside: Path) -> None:
    outside.mkdir()
    (root / "within").mkdir()
    (root / ".aws").mkdir()
    (root / "folder").symlink_to(outside)
    (root / "linked").symlink_to("within")
    for kind in (".csv", ".ipynb"):
        (root / f"own{kind}").write_text(text_of(kind, WITHIN))
    for suffix in KINDS:
        (outside / f"secret{suffix}").write_text(text_of(suffix, SECRET))
        (root / "within" / f"real{suffix}").write_text(text_of(suffix, WITHIN))
        # Whatever is there is a secret.
        (root / ".aws" / f"secret{suffix}").write_text(text_of(suffix, SECRET))
    for suffix in (FOLDER, *KINDS):
        (root / f"link{suffix}").symlink_to(outside / f"secret{suffix}" if suffix else outside)
        (root / f"environ{suffix}").symlink_to("/proc/self/environ")
        (root / f"zero{suffix}").symlink_to("/dev/zero")
        os.mkfifo(root / f"fifo{suffix}")
        (root / f"loop{suffix}").symlink_to(f"pool{suffix}")
        (root / f"pool{suffix}").symlink_to(f"loop{suffix}")
        (root / f"shown{suffix}").symlink_to(f".aws/secret{suffix}")
        (root / f"dangling{suffix}").symlink_to(outside / f"new{suffix}")
        if suffix in (".txt", ".dlex", ".py", ".json"):
            with (root / f"large{suffix}").open("w") as file:
                file.write(text_of(suffix, "large"))
                file.write(" " * LARGE)
        (root / f"inside{suffix}").symlink_to(f"within/real{suffix}" if suffix else "within")


ATTACKS = ("link", "folder/secret", "environ", "zero", "fifo", "loop", "dangling", "shown", "large")


def _request(server: RunningServer, method: str, route: str, **options: Any) -> requests.Response:
    headers = {"Authorization": f"token {server.token}", "X-Datalayer-Agent-Client": CLIENT}
    address = f"{server.url}datalayer-agent/{route}"
    return requests.request(method, address, headers=headers, timeout=SLOWEST, **options)


def _stored(server: RunningServer) -> str:
    """All that the conversations so far have stored, which is all that pages are sent of them."""
    rows: list[Any] = []
    for file in server.folder.rglob("*.db"):
        with closing(sqlite3.connect(file)) as database:
            for (name,) in database.execute(TABLES).fetchall():
                rows += database.execute(f'SELECT * FROM "{name}"')
    return "".join(str(value) for row in rows for value in row)


TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"


class Case(NamedTuple):
    """An entry: ``ask`` sends requests about a path and returns all that came back. ``opens``: what
    it is called where the entries are listed. ``follows``: a link within the root is tried, too,
    which takes no kernel."""

    name: str
    kind: str
    ask: Callable[[RunningServer, str], str]
    opens: str = ""
    follows: bool = True


def _tool(
    name: str, kind: str, parameter: str = "path", follows: bool = True, **arguments: Any
) -> Case:
    def ask(server: RunningServer, path: str) -> str:
        body = {"arguments": {parameter: path, **arguments}, "mode": "agent"}
        return _request(server, "POST", f"tools/{name}", json=body).text

    return Case(name, kind, ask, f"{name} {parameter}", follows)


def _action(name: str, parameter: str, kind: str, follows: bool = True, **parameters: Any) -> Case:
    def ask(server: RunningServer, path: str) -> str:
        service, _, action = name.partition("/")
        value = [path, "own.ipynb"] if parameter == "notebooks" else path
        body = {"parameters": {**parameters, parameter: value}}
        route = f"services/{service}/actions/{action}"
        return "".join(
            _request(server, "POST", f"{route}/{each}", json=body).text
            for each in ("dry-run", "run")
        )

    return Case(f"{name} {parameter}", kind, ask, f"{name} {parameter}", follows)


def _get(route: str, kind: str, **query: str) -> Case:
    def ask(server: RunningServer, path: str) -> str:
        return _request(server, "GET", route, params={"path": path, **query}).text

    return Case(f"GET {route}", kind, ask)


def _post(route: str, kind: str, body: Callable[[str], Any], follows: bool = True) -> Case:
    def ask(server: RunningServer, path: str) -> str:
        return _request(server, "POST", route, json=body(path)).text

    return Case(f"POST {route}", kind, ask, follows=follows)


def _chat(
    name: str, kind: str, body: Callable[[str], dict[str, Any]], follows: bool = True
) -> Case:
    case = _post(
        "chat", kind, lambda path: {"message": "Why?", "mode": "agent", **body(path)}, follows
    )
    return case._replace(name=f"chat with {name}")


def _attached(what: str, kind: str, follows: bool = True, **more: str) -> Case:
    def body(path: str) -> dict[str, Any]:
        return {"attachments": [{"kind": what, "path": path, **more}]}

    return _chat(f"{what} {kind}", kind, body, follows)


def _in_place(name: str, kind: str, route: str) -> Case:
    """A file that is read by its name, which is a link to the path."""

    def ask(server: RunningServer, path: str) -> str:
        file = server.root / name
        file.symlink_to(path)
        try:
            body = {"message": "Why?", "mode": "ask"}
            answers = [_request(server, "GET", route), _request(server, "POST", "chat", json=body)]
            return "".join(each.text for each in answers)
        finally:
            file.unlink()

    return Case(name, kind, ask)


TOOLS = [
    _tool("readFile", ".txt"),
    _tool("listFiles", FOLDER),
    _tool("editFile", ".txt", edits=[{"oldString": "1", "newString": "5"}]),
    _tool("writeFile", ".txt", content="new"),
    _tool("getNotebookCells", ".ipynb", includeOutputs=True),
    _tool("getCellOutputs", ".ipynb", cellId="c0"),
    _tool("getNotebookQuality", ".ipynb"),
    _tool("addNotebookCell", ".ipynb", content="x = 1", type="code"),
    _tool("updateNotebookCell", ".ipynb", cellId="c0", content="x = 2"),
    _tool("moveNotebookCell", ".ipynb", cellId="c0", position="end"),
    _tool("deleteNotebookCells", ".ipynb", cellIds=["c1"]),
    _tool("runNotebookCells", ".ipynb", follows=False, all=True),
    _tool("executeCode", ".ipynb", follows=False, code="1"),
    _tool("selectKernel", ".ipynb", follows=False, kernelName="python3"),
    _tool("createNotebook", ".ipynb", "name"),
    _tool("createLexical", ".dlex", "name"),
    _tool("readAllBlocks", ".dlex"),
    _tool("readBlock", ".dlex", follows=False, blockId="x"),
    _tool("listAvailableBlocks", ".dlex"),
    _tool("insertBlock", ".dlex", content="new"),
    _tool("insertBlocks", ".dlex", blocks=[{"content": "new"}]),
    _tool("updateBlock", ".dlex", follows=False, blockId="x", content="new"),
    _tool("deleteBlocks", ".dlex", follows=False, blockIds=["x"]),
    _tool("runBlock", ".dlex", follows=False, blockId="x"),
    _tool("runAllBlocks", ".dlex", follows=False),
]
ACTIONS = [
    _action("notebook/export", "notebook", ".ipynb", format="html", target="made.html"),
    _action("notebook/export", "target", ".html", False, notebook="own.ipynb", format="html"),
    _action("notebook/clean", "notebook", ".ipynb"),
    _action("notebook/split", "notebook", ".ipynb", cell=2),
    _action("notebook/merge", "notebooks", ".ipynb", target="merged.ipynb"),
    _action("notebook/merge", "target", ".ipynb", False, notebooks=["own.ipynb", "own.ipynb"]),
    _action("notebook/to-script", "notebook", ".ipynb", target="made.py"),
    _action("notebook/to-script", "target", ".py", False, notebook="own.ipynb"),
    _action("notebook/from-script", "script", ".py", target="made.ipynb"),
    _action("notebook/from-script", "target", ".ipynb", False, script="within/real.py"),
    _action("notebook/quality", "notebook", ".ipynb"),
    _action("lexical/to-lexical", "notebook", ".ipynb", target="made.dlex"),
    _action("lexical/to-lexical", "target", ".dlex", False, notebook="own.ipynb"),
    _action("lexical/from-lexical", "document", ".dlex", format="markdown", target="made.md"),
    _action(
        "lexical/from-lexical",
        "target",
        ".md",
        False,
        document="within/real.dlex",
        format="markdown",
    ),
    _action("data/register", "data", ".csv"),
    _action("data/convert", "data", ".csv", format="jsonl", target="made.jsonl"),
    _action("data/convert", "target", ".jsonl", False, data="own.csv", format="jsonl"),
    _action("data/sample", "data", ".csv", rows=1),
    _action("data/sample", "target", ".csv", False, data="own.csv", rows=1),
    _action("data/join", "data", ".csv", other="own.csv", keys=[WITHIN]),
    _action("data/join", "other", ".csv", data="own.csv", keys=[WITHIN], target="joined.csv"),
    _action("data/join", "target", ".csv", False, data="own.csv", other="own.csv", keys=[WITHIN]),
    _action("data/profile", "data", ".csv", False),
    _action("data/profile", "notebook", ".ipynb", False, data="none.csv"),
    _action("data/write-table", "target", ".csv", False, table="t", format="csv"),
    _action("environment/check-requirements", "file", ".txt", False),
    _action("environment/write-requirements", "target", ".txt", False),
    _action("jupyterlab/open", "path", ".txt", False),
    _action("visualize/charts", "data", ".csv", False),
    _action("visualize/charts", "notebook", ".ipynb", False, data="none.csv"),
    _action("model/train", "data", ".csv", False),
    _action("model/train", "notebook", ".ipynb", False, data="none.csv"),
    _action("report/write", "data", ".csv", False),
    _action("report/write", "notebook", ".ipynb", False, data="none.csv"),
]
CHANGE = {"before": "", "after": "x = 1"}
OTHERS = [
    _attached("file", ".txt"),
    _attached("file", ".csv"),
    _attached("file", ".dlex"),
    _attached("file", ".ipynb"),
    _attached("notebook", ".ipynb"),
    _attached("cell", ".ipynb", cellId="c0"),
    _attached("output", ".ipynb", cellId="c0"),
    _attached("variable", ".ipynb", follows=False, name="x"),
    _chat("a mention", ".txt", lambda path: {"message": f"What is in @{path}?"}),
    _chat("a notebook", ".ipynb", lambda path: {"activeNotebook": path, "location": "panel"}),
    _chat("a document", ".dlex", lambda path: {"activeNotebook": path, "location": "panel"}),
    _get("context", ".ipynb"),
    _get("quality", ".ipynb"),
    _get("variables", ".ipynb"),
    _get("fixes", ".ipynb", cellId="c0"),
    _get("tools", ".ipynb", attached="true"),
    _post("acts", ".ipynb", lambda path: {"path": path, "changes": [CHANGE]}),
    _post("next-cell", ".ipynb", lambda path: {"path": path, "cellId": "c0"}),
    _post("fixes", ".ipynb", lambda path: {"path": path, "cellId": "c0"}),
    _post("scratchpad", ".ipynb", lambda path: {"path": path, "cells": [{"content": "new"}]}),
    _post("tutorials/pandas-basics", FOLDER, lambda path: {"folder": path}),
    _post(
        "workflows/exploratory-data-analysis",
        ".csv",
        lambda path: {"parameters": {"data": path}},
        follows=False,
    ),
    _post(
        "workflows/data-analysis-notebook",
        ".ipynb",
        lambda path: {"parameters": {"notebook": path}},
        follows=False,
    ),
    _in_place("mcp.json", ".json", "mcp-servers"),
    _in_place("AGENTS.md", ".txt", "instructions"),
]
CASES = [*ACTIONS, *TOOLS, *OTHERS]


def test_every_tool_and_action_that_takes_a_path_is_tried(server: RunningServer) -> None:
    """A new one is added to the lists above."""
    paths = {
        f"{tool['name']} {name}"
        for tool in server.get("tools")["tools"]
        for name in tool["parameters"]["properties"]
        if name == "path" or (name == "name" and tool["name"].startswith("create"))
    }
    kinds = ("notebook", "data", "path", "new-path")
    for service in server.get("services")["services"]:
        for action in service["actions"]:
            for name, schema in action["parameters"]["properties"].items():
                if schema.get("kind") in kinds or name == "notebooks":
                    paths.add(f"{service['id']}/{action['id']} {name}")
    assert paths == {each.opens for each in CASES if each.opens}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_path_leads_out(server: RunningServer, model: ScriptedModelServer, case: Case) -> None:
    root, outside = server.root, server.folder / "outside"
    before = {each.name: each.read_bytes() for each in outside.iterdir()}
    for attack in ATTACKS:
        path = attack + case.kind
        if path != "folder/secret" and not os.path.lexists(root / path):
            continue
        if (case.name, attack) == ("mcp.json", "shown"):
            continue  # The user is shown its servers, without values, and asked; its own name is
            # that of a file with secrets.
        model.reset()
        model.script(*[Say("Done.")] * 3)
        made = set(root.rglob("*"))
        answer = case.ask(server, path)
        new = [each for each in set(root.rglob("*")) - made if each.is_file()]
        written = "".join(each.read_text(errors="replace") for each in new)
        sent = "".join(each.text for each in model.requests)
        assert SECRET not in answer + sent + written, attack
        assert "internal error" not in answer.lower(), (attack, answer)
    assert _request(server, "GET", "health").ok
    assert SECRET not in _stored(server)
    assert {each.name: each.read_bytes() for each in outside.iterdir()} == before


@pytest.mark.parametrize(
    "case", [each for each in CASES if each.follows], ids=lambda case: case.name
)
def test_a_link_within_the_root_is_followed(
    server: RunningServer, model: ScriptedModelServer, case: Case
) -> None:
    model.script(*[Say("Done.")] * 3)
    answer = case.ask(server, f"inside{case.kind}")
    assert '"error"' not in answer
    assert (server.root / f"inside{case.kind}").is_symlink()


def test_what_is_stored_would_have_what_was_read(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("readFile", {"path": "inside.txt"}), Say("Done."))
    server.post("chat", {"message": "Why?", "mode": "ask"})
    assert WITHIN in _stored(server)


def test_jupyters_checkpoint_is_not_written_where_a_link_leads(server: RunningServer) -> None:
    folder = server.root / "linked checkpoints"
    folder.mkdir()
    (folder / ".ipynb_checkpoints").symlink_to(server.folder / "outside")
    answer = _tool("createNotebook", "", "name").ask(server, f"{folder.name}/new.ipynb")
    assert ".ipynb_checkpoints/new-checkpoint.ipynb is a link that leads out" in answer
    assert not (server.folder / "outside/new-checkpoint.ipynb").exists()
    assert not (folder / "new.ipynb").exists()


def test_an_upload_does_not_leave_the_root(server: RunningServer) -> None:
    place = server.root / ".datalayer"
    moved = place.rename(server.root / "moved") if place.exists() else None
    place.symlink_to(server.folder / "outside")
    try:
        file = {"file": ("a.csv", "a,b\n1,2\n")}
        answer = _request(server, "POST", "upload", files=file)
    finally:
        place.unlink()
        if moved is not None:
            moved.rename(place)
    assert (answer.status_code, "is a link" in answer.text) == (403, True), answer.text
    assert not (server.folder / "outside/datasets").exists()


def test_an_undo_does_not_follow_a_link_that_took_the_files_place(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    """Of a file that was edited, one that was made, and a notebook."""
    outside = server.folder / "outside"
    for name in ("edited.txt", "noted.ipynb"):
        (server.root / name).write_text(text_of(Path(name).suffix, "before"))
    edits = [{"oldString": "1", "newString": "5"}]
    model.script(
        Call("readFile", {"path": "edited.txt"}),
        Call("editFile", {"path": "edited.txt", "edits": edits}),
        Call("writeFile", {"path": "made.txt", "content": "made"}),
        Call("updateNotebookCell", {"cellId": "c0", "content": "after = 1"}),
        Say("Done."),
    )
    attached = {"kind": "notebook", "path": "noted.ipynb"}
    body = {"activeNotebook": "noted.ipynb", "attachments": [attached], "approval": "never"}
    reply = server.post("chat", {"message": "Do it", "mode": "agent", **body})
    assert [each["status"] for each in reply["toolCalls"]] == ["ok"] * 4, reply["toolCalls"]
    left = {}
    for name in ("edited.txt", "made.txt", "noted.ipynb"):
        left[name] = (server.root / name).read_bytes()
        (server.root / name).rename(outside / name)
        (server.root / name).symlink_to(outside / name)
    submit_in_page(server, reply["sessionId"], {"type": "undo", "turnId": reply["turnId"]})
    assert {name: (outside / name).read_bytes() for name in left} == left
    for name in left:
        (outside / name).unlink()
        (server.root / name).unlink(missing_ok=True)
    assert _request(server, "GET", "health").ok

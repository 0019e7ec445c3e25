"""Cells, outputs, variables and tools that a message refers to, by what the model received."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer

PATH = "refs.ipynb"
SECRET = "tulip-7319"
CODE = f"""
import json, time
import pandas as pd
cars = pd.DataFrame({{"name": ["{SECRET}"] * 3, "n": [1, 2, 3]}})
total = 42
words = ["a", "b"]
def clean(frame, strict=False): ...
class Slow:
    def __repr__(self):
        raise AssertionError("its own form was asked for")
slow = Slow()
_hidden = 1
Out_is_mine = globals
"""
CELLS = {"define": CODE, "prints": 'print("crocus-" + "2214")', "table": "cars"}
VARIABLES = [{"kind": "variable", "path": PATH, "name": name} for name in ("cars", "total", "gone")]


def attach(kind: str, **values: str) -> dict[str, str]:
    return {"kind": kind, "path": PATH, **values}


@pytest.fixture(scope="module")
def notebook(server: RunningServer) -> RunningServer:
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in CELLS.items()]
    metadata = {"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), server.root / PATH)
    run = server.post("tools/runNotebookCells", {"path": PATH, "arguments": {"all": True}})
    assert run["ok"], run
    return server


def asked(server: RunningServer, model: ScriptedModelServer, **values: Any) -> tuple[Any, str]:
    """The reply to a message with these values, and the context that the model was sent."""
    model.script(Say("Ok."))
    reply = server.post("chat", {"message": "What?", "activeNotebook": PATH, **values})
    texts = [each["content"] for each in model.requests[-1].body["messages"]]
    return reply, next(str(each) for each in reversed(texts) if "<context>" in str(each))


def test_variables_are_sent_by_name_type_and_short_form(notebook: RunningServer) -> None:
    reply = notebook.get("variables", path=PATH)
    assert reply["status"] == "ok"
    found = {each["name"]: each for each in reply["variables"]}
    assert found["total"] == {"name": "total", "type": "int", "short": "42"}
    assert found["words"]["shape"] == [2]
    assert found["cars"]["type"] == "pandas.DataFrame"
    assert found["cars"]["shape"] == [3, 2]
    assert found["cars"]["columns"][1] == "n: int64"
    assert found["clean"]["short"] == "clean(frame, strict=False)"
    assert found["slow"] == {"name": "slow", "type": "Slow", "short": ""}
    assert not {"pd", "json", "_hidden", "In", "Out", "exit", "get_ipython"} & found.keys()


def test_reading_variables_leaves_no_trace_in_the_kernel(notebook: RunningServer) -> None:
    def state() -> str:
        code = "print(sorted(globals()), get_ipython().execution_count, len(In))"
        result = notebook.post("tools/executeCode", {"path": PATH, "arguments": {"code": code}})
        return str(result["output"])

    before = state()
    notebook.get("variables", path=PATH)
    assert state() == before


def test_a_kernel_that_works_is_not_waited_for(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    began, go = notebook.root / "began", notebook.root / "go"
    os.mkfifo(began)
    os.mkfifo(go)
    code = "open('began', 'w').close()\nwith open('go') as gate: gate.read()"
    with ThreadPoolExecutor(1) as threads:
        body = {"path": PATH, "arguments": {"code": code}}
        running = threads.submit(notebook.post, "tools/executeCode", body)
        began.read_text()  # until the kernel has opened it
        try:
            reply = notebook.get("variables", path=PATH)
            _, context = asked(notebook, model, attachments=VARIABLES)
        finally:
            go.write_text("go")
        assert running.result()["ok"], "what runs there is not disturbed"
    assert reply == {
        "status": "busy",
        "reason": "The kernel is busy: its variables cannot be read now.",
        "variables": [],
        "leftOut": 0,
    }
    assert "The attached variables cars, total, gone of refs.ipynb: The kernel is busy" in context


def test_variables_without_a_python_kernel_are_not_known(notebook: RunningServer) -> None:
    cell = nbformat.v4.new_code_cell("1")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), notebook.root / "none.ipynb")
    assert notebook.get("variables", path="none.ipynb")["status"] == "no_kernel"
    # A kernel of another language, by its specification; the process behind it does not matter.
    folder = Path(notebook.environment["JUPYTER_DATA_DIR"]) / "kernels" / "other"
    folder.mkdir(parents=True)
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Other",
        "language": "R",
    }
    (folder / "kernel.json").write_text(json.dumps(spec))
    session = {"path": "none.ipynb", "type": "notebook", "name": "", "kernel": {"name": "other"}}
    made = notebook.post("/api/sessions", session)
    reply = notebook.get("variables", path="none.ipynb")
    assert reply["status"] == "not_known"
    assert reply["reason"] == "Variables are known for Python kernels, not for R."
    assert notebook.request("DELETE", f"/api/sessions/{made['id']}").ok


def test_attached_outputs_and_variables_reach_the_model(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    given = [*VARIABLES, attach("output", cellId="prints"), attach("output", cellId="old")]
    _, context = asked(notebook, model, attachments=given)
    assert "cars: pandas.DataFrame, shape 3 x 2, columns name: " in context
    assert SECRET in context
    assert "total: int\n```\n42\n```" in context
    assert "Attached, but not in the kernel: gone" in context
    assert "[2] code id=prints, its output\n```\ncrocus-2214\n```" in context
    assert "Attached, but no longer in refs.ipynb: the cells old" in context


def test_to_attach_a_variable_does_not_attach_its_notebook(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    reply, context = asked(notebook, model, attachments=VARIABLES[:1])
    assert reply["notebookMode"] == "off"
    assert "Notebook mode is off" in context


@pytest.mark.parametrize("kept", ["rowData", "outputs"])
def test_what_is_in_variables_is_withheld_where_the_user_says_so(
    notebook: RunningServer, model: ScriptedModelServer, kept: str
) -> None:
    session = notebook.post("sessions", {"settings": {kept: "never"}})["id"]
    given = [*VARIABLES, attach("output", cellId="prints"), attach("output", cellId="table")]
    _, context = asked(notebook, model, attachments=given, sessionId=session)
    assert "cars: pandas.DataFrame, shape 3 x 2, columns name: " in context, "that is no data"
    rows = context.partition("Attached variables")[2]
    assert SECRET not in rows
    assert "withheld by the setting]" in rows
    assert ("42" in rows) is (kept == "rowData")
    assert ("crocus-2214\n" in context) is (kept == "rowData")


def test_a_tool_that_is_meant_reaches_the_model_as_a_hint(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    given = {
        "attachments": [attach("notebook")],
        "toolReferences": ["getCellOutputs", "read_all_cells", "nothing"],
        "message": "Use #runNotebookCells for #1 of #mytopic",
    }
    reply, context = asked(notebook, model, mode="ask", **given)
    meant = "getCellOutputs, getNotebookCells, runNotebookCells"
    assert f"The user means these tools: {meant}\n" in context
    assert "Not available now: runNotebookCells changes or runs something" in context
    warnings = warned(notebook, reply)
    assert [each["code"] for each in warnings] == ["tool_not_in_mode"]
    assert warnings[0]["message"] == (
        "#runNotebookCells changes or runs something, which Ask mode does not. "
        "Switch to Agent mode to use it."
    )
    assert "runNotebookCells" not in [
        each["function"]["name"] for each in model.requests[-1].body["tools"]
    ], "to name a tool does not enable it"

    reply, context = asked(notebook, model, mode="agent", **given)
    assert "Not available" not in context
    assert warned(notebook, reply) == []

    reply, context = asked(notebook, model, mode="agent", toolReferences=["getCellOutputs"])
    assert [each["code"] for each in warned(notebook, reply)] == ["tool_needs_notebook"]


def warned(server: RunningServer, reply: Any) -> list[Any]:
    turns = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    return [each for each in turns[-1]["events"] if each["type"] == "warning"]


def test_the_preview_shows_the_size_of_each_part(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    (notebook.root / "notes.txt").write_text("Horsepower is brake horsepower.")
    given = [
        attach("notebook"),
        {"kind": "file", "path": "notes.txt"},
        attach("cell", cellId="table"),
        attach("output", cellId="prints"),
        *VARIABLES[:2],
    ]
    shown = notebook.get(
        "context",
        attachments=json.dumps(given),
        activeNotebook=PATH,
        toolReferences=json.dumps(["getCellOutputs", "listKernels"]),
    )
    parts = shown["parts"]
    assert [each["kind"] for each in parts] == [
        "notebook", "file", "cells", "outputs", "variables", "references"
    ]  # fmt: skip
    assert [each.get("path") for each in parts] == [PATH, "notes.txt", PATH, PATH, PATH, None]
    assert parts[4]["names"] == ["cars", "total"]
    body = "\n\n".join(each["text"] for each in parts)
    assert shown["text"] == f"<context>\nAs of turn 1.\n\n{body}\n</context>"
    assert all(each["tokens"] > 0 for each in parts)
    assert abs(sum(each["tokens"] for each in parts) - shown["tokens"]) < 20

    tools = ["getCellOutputs", "listKernels"]
    asked(notebook, model, attachments=given, toolReferences=tools)
    said = [
        each["content"] for each in model.requests[-1].body["messages"] if each["role"] == "user"
    ]
    assert said[-1].startswith(shown["text"]), "the message itself follows"

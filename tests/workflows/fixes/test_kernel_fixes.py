"""A notebook without a kernel: which one is offered, in its own language, and what runs then."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.notebook.support import BASH_SPEC, code, install_spec, write_notebook
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import of_type, plan_of
from tests.support.sessions import turns

# Never started: whether it could be does not matter here.
OTHER = {"argv": [sys.executable, "-m", "nothing", "-f", "{connection_file}"]}
SPECS = {
    "bash": BASH_SPEC,
    "ir": {**OTHER, "display_name": "R", "language": "R"},
    "julia-1.9": {**OTHER, "display_name": "Julia 1.9", "language": "julia"},
    "julia-1.10": {**OTHER, "display_name": "Julia 1.10", "language": "julia"},
    "project": {**OTHER, "display_name": "Project", "language": "python"},
}
GONE = {"name": "gone", "display_name": "Gone"}


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    for name, spec in SPECS.items():
        install_spec(folder / "home" / "data" / "kernels", name, spec)
    with RunningServer(folder, api_base=shared_model.base_url) as running:
        yield running


def fixes(server: RunningServer, cell_id: str = "a") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get("fixes", path="a.ipynb", cellId=cell_id)["fixes"]
    return found


def kernels(found: list[dict[str, Any]]) -> dict[str, bool]:
    """The kernels that are offered, and whether without a question."""
    return {fix["calls"][0]["arguments"]["kernelName"]: fix["safe"] for fix in found}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"kernelspec": {"name": "ir", "language": "R"}}, {"ir": True}),
        ({"kernelspec": {**GONE, "language": "R"}}, {"ir": True}),
        ({"language_info": {"name": "R"}}, {"ir": True}),
        ({"kernelspec": {"name": "ir"}}, {"ir": True}),
        ({"kernelspec": {**GONE, "language": "bash"}}, {"bash": True}),
        (
            {"kernelspec": {**GONE, "language": "julia"}},
            {"julia-1.10": False, "julia-1.9": False},
        ),
        ({"kernelspec": {"name": "julia-1.6"}}, {"julia-1.10": False, "julia-1.9": False}),
        (
            {"kernelspec": {"name": "julia-1.9", "language": "julia"}},
            {"julia-1.9": True, "julia-1.10": False},
        ),
        ({"kernelspec": {**GONE, "language": "python"}}, {"python3": True, "project": False}),
        (
            {"kernelspec": {"name": "project", "language": "python"}},
            {"project": True, "python3": False},
        ),
        ({"kernelspec": {**GONE, "language": "scala"}}, {}),
        (
            {"kernelspec": GONE},
            {"bash": False, "ir": False, "python3": False},
        ),
        ({}, {"bash": False, "ir": False, "python3": False}),
    ],
)
def test_a_kernel_is_offered_by_what_the_notebook_says_of_itself(
    server: RunningServer, metadata: dict[str, Any], expected: dict[str, bool]
) -> None:
    if "kernelspec" in metadata:
        metadata = {"kernelspec": {"display_name": "Some", **metadata["kernelspec"]}}
    write_notebook(server.root, [code("a", "x <- 1")], metadata=metadata)
    found = fixes(server)
    if any(expected.values()) or not expected:
        assert kernels(found) == expected
        # The safe one is first.
        assert [fix["safe"] for fix in found] == sorted(expected.values(), reverse=True)
    else:
        assert set(kernels(found).values()) == {False}
        assert set(expected) & set(kernels(found))


@pytest.mark.parametrize(
    ("ename", "evalue", "source"),
    [
        ("ModuleNotFoundError", "No module named 'qwerty'", "library(qwerty)"),
        ("NameError", "name 'json' is not defined", "json"),
        ("KeyError", "'Horsepowr'", "cars['Horsepowr']"),
        ("SyntaxError", "'(' was never closed", "f("),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'a.ipy'", "open('a.ipy')"),
    ],
)
@pytest.mark.parametrize("language", ["R", "julia", "bash", None])
def test_fixes_for_python_are_not_offered_for_another_language(
    server: RunningServer, ename: str, evalue: str, source: str, language: str | None
) -> None:
    output = {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": ["Error"]}
    cells = [code("a", source, outputs=[output], execution_count=1)]
    metadata = {"kernelspec": {**GONE, "language": language}} if language else {}
    write_notebook(server.root, cells, metadata=metadata)
    assert fixes(server) == []


def run_all(server: RunningServer, message: str = "Run all cells") -> tuple[dict[str, Any], Any]:
    """A turn in Agent mode on the notebook; its reply and its events."""
    body = {
        "message": f"{message} of @a.ipynb",
        "mode": "agent",
        "activeNotebook": "a.ipynb",
    }
    reply = server.post("chat", body)
    [turn] = turns(server, reply["sessionId"], include="events")
    return reply, turn["events"]


NOTEBOOK = [
    {"cell_type": "markdown", "id": "head", "metadata": {}, "source": "# Head"},
    code("a", "x = 1"),
    code("empty", ""),
    code("b", "print(x + 1)"),
]


@pytest.mark.parametrize(
    "call",
    [
        Call("runAllCells", {}),
        Call("runNotebookCells", {"all": True}),
        Call("runNotebookCells", {"cellIds": ["a", "b"]}),
    ],
)
def test_a_kernel_is_offered_after_a_run_of_all_cells_that_could_not_begin(
    server: RunningServer, model: ScriptedModelServer, call: Call
) -> None:
    metadata = {"kernelspec": {**GONE, "language": "python"}}
    write_notebook(server.root, NOTEBOOK, metadata=metadata)
    model.script(call, Say("There is no kernel."))
    reply, events = run_all(server)
    assert reply["toolCalls"][0]["status"] == "error"
    (offer,) = of_type(events, "fixes_offered")
    assert offer["cellId"] == "a"
    best = offer["fixes"][0]
    assert best["safe"]
    assert [call["name"] for call in best["calls"]] == ["selectKernel", "runNotebookCells"]
    assert best["calls"][1]["arguments"]["cellIds"] == ["a", "b"]


def test_nothing_is_offered_when_the_model_has_found_a_kernel_by_itself(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    metadata = {"kernelspec": {**GONE, "language": "python"}}
    write_notebook(server.root, NOTEBOOK, metadata=metadata)
    run = Call("runNotebookCells", {"all": True})
    select = Call("selectKernel", {"kernelName": "python3"})
    model.script(run, select, run, Say("Ran."))
    _, events = run_all(server)
    end_kernels(server)
    assert of_type(events, "fixes_offered") == []


def test_a_step_that_runs_all_cells_continues_with_the_kernel_that_was_found(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    metadata = {"kernelspec": {**GONE, "language": "python"}}
    write_notebook(server.root, NOTEBOOK, metadata=metadata)
    run = Call("runNotebookCells", {"all": True})
    model.script(plan_of("Run", tool="runNotebookCells"), run, Say("Ran."))
    reply, events = run_all(server, "agent: run all cells")
    end_kernels(server)
    assert reply["status"] == "completed", reply["reply"]
    assert [e["success"] for e in of_type(events, "recovery_finished")] == [True]
    notebook = json.loads((server.root / "a.ipynb").read_text())
    counts = {cell["id"]: cell.get("execution_count") for cell in notebook["cells"]}
    assert counts["a"]
    assert counts["b"]


def test_a_workflow_without_a_model_selects_a_kernel_for_its_empty_notebook(
    server: RunningServer,
) -> None:
    (server.root / "small.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    metadata = {"kernelspec": {**GONE, "language": "python"}}
    write_notebook(server.root, [code("a", "")], metadata=metadata)
    reply = server.post(
        "workflows/exploratory-data-analysis",
        {"notebook": "a.ipynb", "parameters": {"data": "small.csv"}},
    )
    end_kernels(server)
    assert reply["status"] == "completed", reply["reply"]
    names = [call["name"] for call in reply["toolCalls"]]
    assert "selectKernel" in names


def end_kernels(server: RunningServer) -> None:
    for each in server.get("/api/sessions"):
        server.request("DELETE", f"/api/sessions/{each['id']}")

"""What a code cell gets of code that a model put into a fence: by each tool, through a turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebook.support import BASH_SPEC, install_spec
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer

FENCED = "```python\nprint(6 * 7)\n```"
DOCUMENTED = 'def f():\n    """Doubles."""\n    return 2'
EXAMPLE = '"""Doubles.\n\n```python\nf()\n```\n"""'


@pytest.fixture
def notebook(server: RunningServer) -> Path:
    path = server.root / "fenced.ipynb"
    cells = [
        nbformat.v4.new_code_cell("x = 1", id="code"),
        nbformat.v4.new_markdown_cell("Text", id="text"),
        nbformat.v4.new_code_cell(DOCUMENTED, id="documented"),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


def turn(
    server: RunningServer, model: ScriptedModelServer, *calls: Call, path: str = "fenced.ipynb"
) -> dict[str, Any]:
    model.script(Calls(list(calls)), Say("Done."))
    reply: dict[str, Any] = server.post(
        "chat",
        {
            "message": "Do it",
            "mode": "agent",
            "attachments": [{"kind": "notebook", "path": path}],
            "activeNotebook": path,
        },
    )
    assert [call["status"] for call in reply["toolCalls"]] == ["ok"] * len(calls), reply
    return reply


def cell(path: Path, place: int | str) -> str:
    cells = nbformat.read(path, as_version=4).cells
    if isinstance(place, str):
        [place] = [number for number, each in enumerate(cells) if each.id == place]
    return str(cells[place].source)


@pytest.mark.parametrize(
    ("call", "place", "source"),
    [
        (Call("addNotebookCell", {"content": FENCED}), -1, "print(6 * 7)"),
        (Call("addNotebookCell", {"content": "python\nprint(6 * 7)"}), -1, "print(6 * 7)"),
        (Call("addNotebookCell", {"content": "python = 3\npython"}), -1, "python = 3\npython"),
        (Call("addNotebookCell", {"type": "markdown", "content": FENCED}), -1, FENCED),
        (
            Call("addNotebookCell", {"content": f"%%markdown\n{FENCED}"}),
            -1,
            f"%%markdown\n{FENCED}",
        ),
        (Call("addNotebookCell", {"content": EXAMPLE}), -1, EXAMPLE),
        (Call("insertCell", {"source": FENCED}), -1, "print(6 * 7)"),
        (Call("updateNotebookCell", {"cellId": "code", "content": FENCED}), "code", "print(6 * 7)"),
        (Call("updateCell", {"index": 0, "source": FENCED}), "code", "print(6 * 7)"),
        (Call("updateNotebookCell", {"cellId": "text", "content": FENCED}), "text", FENCED),
        (
            Call("updateNotebookCell", {"cellId": "text", "type": "code", "content": FENCED}),
            "text",
            "print(6 * 7)",
        ),
        (
            Call("updateNotebookCell", {"cellId": "code", "type": "markdown", "content": FENCED}),
            "code",
            FENCED,
        ),
        (
            Call(
                "updateNotebookCell",
                {"cellId": "code", "edits": [{"oldString": "x = 1", "newString": FENCED}]},
            ),
            "code",
            "print(6 * 7)",
        ),
        # An example within a text of the code.
        (
            Call(
                "updateNotebookCell",
                {
                    "cellId": "documented",
                    "edits": [{"oldString": "Doubles.", "newString": "```python\nf()\n```"}],
                },
            ),
            "documented",
            DOCUMENTED.replace("Doubles.", "```python\nf()\n```"),
        ),
        (
            Call(
                "updateNotebookCell",
                {"cellId": "text", "edits": [{"oldString": "Text", "newString": FENCED}]},
            ),
            "text",
            FENCED,
        ),
    ],
)
def test_a_code_cell_gets_the_code_alone(
    server: RunningServer,
    model: ScriptedModelServer,
    notebook: Path,
    call: Call,
    place: int | str,
    source: str,
) -> None:
    turn(server, model, call)
    assert cell(notebook, place) == source


def test_the_code_runs(server: RunningServer, model: ScriptedModelServer, notebook: Path) -> None:
    reply = turn(
        server,
        model,
        Call("addNotebookCell", {"content": FENCED, "run": True}),
        Call("executeCode", {"code": FENCED}),
    )
    assert all("42" in str(call["output"]) for call in reply["toolCalls"])


def test_python_is_a_command_in_a_shell(
    server: RunningServer, model: ScriptedModelServer, notebook: Path
) -> None:
    shell = nbformat.read(notebook, as_version=4)
    shell.metadata.kernelspec = {"name": "bash", "display_name": "Bash", "language": "bash"}
    notebook = notebook.with_name("shell.ipynb")
    nbformat.write(shell, notebook)
    turn(
        server,
        model,
        Call("addNotebookCell", {"content": "python\nls"}),
        Call("addNotebookCell", {"content": "```bash\nls\n```"}),
        Call(
            "updateNotebookCell",
            {"cellId": "code", "edits": [{"oldString": "x", "newString": "```sh\ny\n```"}]},
        ),
        path="shell.ipynb",
    )
    assert [cell(notebook, place) for place in (-2, -1, "code")] == ["python\nls", "ls", "y = 1"]


def test_a_kernel_of_a_shell_is_given_the_line(server: RunningServer, notebook: Path) -> None:
    install_spec(Path(server.environment["JUPYTER_DATA_DIR"]) / "kernels", "bash", BASH_SPEC)
    shell = nbformat.read(notebook, as_version=4)
    shell.metadata.kernelspec = {"name": "bash", "display_name": "Bash", "language": "bash"}
    nbformat.write(shell, notebook.with_name("runs.ipynb"))
    for code in ("python() { echo started it; }", "python\necho done"):
        result = server.post(
            "tools/executeCode", {"arguments": {"code": code}, "path": "runs.ipynb"}
        )
        assert result["ok"], result
    assert "started it" in str(result["output"])

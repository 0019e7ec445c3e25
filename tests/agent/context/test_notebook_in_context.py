"""What a message says of the active notebook: failures, outputs, libraries, data files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer

ERROR = {
    "output_type": "error",
    "ename": "TypeError",
    "evalue": "no tulip-7319",
    "traceback": ["Cell In[1], line 2\n----> 2 f('tulip-7319')", "TypeError: no tulip-7319"],
}


def display(**data: Any) -> dict[str, Any]:
    """A saved output of these MIME types."""
    named = {name.replace("__", "/"): value for name, value in data.items()}
    return {"output_type": "display_data", "data": named, "metadata": {}}


def shown(name: str, **data: Any) -> dict[str, Any]:
    """The output of one of IPython's display objects."""
    return display(text__plain=f"<IPython.core.display.{name} object>", **data)


RICH = [
    shown("Markdown", text__markdown="# *Title*"),
    shown("Latex", text__latex="$x^2$"),
    shown("JSON", application__json={"k": [1, 2]}),
    shown("HTML", text__html="<b>bold</b>"),
]


def write(server: RunningServer, path: str, *cells: tuple[str, str, list[dict[str, Any]]]) -> None:
    """A saved notebook of code cells: id, source, outputs."""
    made = [nbformat.v4.new_code_cell(source, id=name) for name, source, _ in cells]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": spec})
    for cell, (_, _, outputs) in zip(notebook["cells"], cells, strict=True):
        cell["outputs"] = outputs
    (server.root / path).parent.mkdir(exist_ok=True)
    (server.root / path).write_text(json.dumps(notebook))


class Chat:
    """One conversation about one notebook."""

    def __init__(
        self, server: RunningServer, model: ScriptedModelServer, path: str, **settings: str
    ) -> None:
        self.server, self.model, self.path = server, model, path
        self.session = server.post("sessions", {"settings": settings})["id"]

    def set(self, **settings: str) -> None:
        """Change settings of the conversation."""
        self.server.request("PATCH", f"sessions/{self.session}", json={"settings": settings})

    def say(self, *script: Any, **values: Any) -> str:
        """The context that the message was sent with; empty if it was sent without."""
        self.model.script(*script, Say("Ok."))
        attached = [{"kind": "notebook", "path": self.path}]
        body = {"activeNotebook": self.path, "attachments": attached, "approval": "never"}
        self.server.post("chat", {"sessionId": self.session, "message": "What?", **body, **values})
        return self.model.requests[-1 - len(script)].context_before("What?")


def test_saved_failures_and_outputs_are_in_the_first_message(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write(server, "saved.ipynb", ("bad", "def f(a): ...\nf(1)", [ERROR]), ("rich", "show()", RICH))
    context = Chat(server, model, "saved.ipynb").say()
    assert "[1] code id=bad failed TypeError output" in context
    assert "TypeError: no tulip-7319\nCell In[1], line 2\n----> 2 f('tulip-7319')" in context
    assert '# *Title*\n$x^2$\n{"k": [1, 2]}\nbold\n' in context
    assert "IPython.core" not in context


def test_a_failure_of_this_kernel_is_named_where_no_output_is_an_error(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    # IPython prints the traceback of a group to stderr.
    group = "raise ExceptionGroup('many', [ValueError('one')])"
    write(server, "group.ipynb", ("group", group, []), ("ok", "1", []))
    chat = Chat(server, model, "group.ipynb")
    chat.say(Call("runNotebookCells", {"all": True, "stopOnError": False}), mode="agent")
    context = chat.say()
    assert "[1] code id=group order=1 failed ExceptionGroup " in context
    assert "[2] code id=ok order=2 ok " in context


def test_other_readers_of_outputs_get_the_same_text(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    text = '# *Title*\n$x^2$\n{"k": [1, 2]}\nbold'
    write(server, "rich.ipynb", ("rich", "show()", RICH))
    chat = Chat(server, model, "rich.ipynb")
    chat.say(
        Call("getCellOutputs", {"cellId": "rich"}),
        Call("getNotebookCells", {"includeOutputs": True}),
    )
    for output in model.requests[-1].tool_outputs.values():
        assert json.dumps(text)[1:-1] in output
    attached = [{"kind": "output", "path": "rich.ipynb", "cellId": "rich"}]
    assert text in chat.say(attachments=attached)
    code = "from IPython.display import *\ndisplay(Markdown('# *Title*'), Latex('$x^2$'), "
    code += "JSON({'k': [1, 2]}), HTML('<b>bold</b>'))"
    chat.say(Call("executeCode", {"code": code}), mode="agent")
    assert json.dumps(text)[1:-1] in next(iter(model.requests[-1].tool_outputs.values()))


def test_what_was_sent_is_not_sent_again_and_a_change_as_its_cells(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    cells = [(f"c{n}", f"x{n} = {n}", [display(text__plain=f"out {n}")]) for n in range(40)]
    write(server, "many.ipynb", *cells)
    chat = Chat(server, model, "many.ipynb")
    first = chat.say()
    assert "x39 = 39" in first, "40 small cells are whole"
    assert "out 39" in first
    assert chat.say() == ""
    cells[7] = ("c7", "x7 = 7", [ERROR])
    write(server, "many.ipynb", *cells)
    changed = chat.say()
    assert "[8] code id=c7 failed TypeError output (source as stated before)" in changed
    assert "TypeError: no tulip-7319" in changed
    assert "x6" not in changed
    assert len(changed) < 800


@pytest.mark.parametrize("policy", ["never", "ask"])
def test_outputs_that_are_kept_back_are_not_in_the_context_either(
    server: RunningServer, model: ScriptedModelServer, policy: str
) -> None:
    path = f"kept-{policy}.ipynb"
    write(
        server, path, ("bad", "f()", [ERROR]), ("prints", "1", [display(text__plain="crocus-2214")])
    )
    chat = Chat(server, model, path, outputs=policy)
    context = chat.say()
    assert "[1] code id=bad failed TypeError output" in context
    assert (
        "[TypeError in line 2, its message and traceback withheld by the setting]" in context
    ) == (policy == "never")
    shown = chat.server.get("context", path=path, sessionId=chat.session)
    for text in (context, json.dumps(shown)):
        assert "7319" not in text
        assert "2214" not in text


def test_outputs_are_sent_once_the_setting_allows_it_and_withheld_once_it_does_not(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write(server, "later.ipynb", ("says", "1", [display(text__plain="crocus-2214")]))
    chat = Chat(server, model, "later.ipynb", outputs="never")
    assert "withheld by the setting" in chat.say()
    assert chat.say() == ""
    chat.set(outputs="always")
    assert "Output:\n```\ncrocus-2214\n```" in chat.say()
    chat.set(outputs="never")
    chat.say()
    assert "2214" not in model.requests[-1].text


def test_rows_of_data_are_kept_back_by_their_own_setting(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    frame = display(
        text__plain="      name  age\n0  tulip-7319   31\n1   Bob   33", text__html="<table>"
    )
    write(server, "rows.ipynb", ("t", "df", [frame]), ("n", "n", [display(text__plain="two rows")]))
    context = Chat(server, model, "rows.ipynb", rowData="never").say()
    assert "7319" not in context
    assert "two rows" in context
    assert "withheld by the setting]" in context


def test_libraries_of_the_kernel_and_data_files_are_named(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write(
        server,
        "lab/a.ipynb",
        ("i", "import json, numpy as np\nfrom pandas import DataFrame\nx = 1", []),
    )
    folder: Path = server.root / "lab"
    (folder / "cars.csv").write_text("a,b\n" * 400)
    (folder / "old.tsv.gz").write_bytes(b"\0" * 12)
    for other in ("notes.md", ".hidden.csv", "~$open.xlsx", "model.py"):
        (folder / other).write_text("x")
    (folder / "folder.csv").mkdir()
    chat = Chat(server, model, "lab/a.ipynb")
    first = chat.say()
    assert "\nData files in its folder: cars.csv (1.6 kB), old.tsv.gz (12 bytes).\n" in first
    assert "Imported" not in first, "there is no kernel yet"
    chat.say(Call("runNotebookCells", {"all": True}), mode="agent")
    said = chat.say()
    while "Imported" not in said:  # the kernel answered after the message was sent
        said = chat.say()
    imported = next(line for line in said.splitlines() if line.startswith("Imported"))
    assert imported.startswith("Imported in the kernel: Python 3.")
    assert ", numpy " in imported
    assert ", pandas " in imported
    assert "json" not in imported
    assert chat.say() == ""


def test_a_folder_of_many_files_is_looked_at_in_part(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write(server, "full/a.ipynb", ("a", "1", []))
    for number in range(6_000):
        (server.root / "full" / f"{number:05}.csv").touch()
    context = Chat(server, model, "full/a.ipynb").say()
    line = next(each for each in context.splitlines() if each.startswith("Data files"))
    assert line.count(".csv") == 20
    assert line.endswith("and more.")

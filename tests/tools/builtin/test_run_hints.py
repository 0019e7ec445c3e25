"""The hint of a failed run names the repair that the error fixes know, and claims no more."""

from __future__ import annotations

from itertools import count
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer

IN_PLACE = "Fix this cell in place with updateNotebookCell before running more."
FRAME = "import pandas as pd\ndf = pd.DataFrame({'Horsepower': [1], 'Weight': [2]})\n"


class Notebook:
    """A notebook of these cells (a, b, c…), called by the tools of a program."""

    number = count()

    def __init__(self, server: RunningServer, *sources: str) -> None:
        # Each has a kernel of its own.
        self.server, self.path = server, f"hints{next(self.number)}.ipynb"
        cells = [new_code_cell(source, id=chr(97 + n)) for n, source in enumerate(sources)]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(notebook, server.root / self.path)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return dict(self.server.post(f"tools/{name}", {"arguments": arguments, "path": self.path}))

    def hint(self, *cells: str, **more: Any) -> str:
        """The hint of running these cells, the last of which fails."""
        result = self.call("runNotebookCells", cellIds=list(cells), **more)
        assert not result["ok"], result
        return str(result["error"]["hint"])


def test_a_name_whose_cell_has_not_run_in_this_kernel(server: RunningServer) -> None:
    book = Notebook(server, "d = 5", "print(d)", "later", "later = 1")
    assert book.hint("b") == (
        "“d” is defined in cell 1, which has not run in this kernel. Run cell 1 first."
    )
    assert book.hint("c").startswith("“later” is defined in cell 4, which is below cell 3.")
    assert book.call("runNotebookCells", cellIds=["a", "b"])["ok"]
    deleted = book.call("executeCode", code="del d")
    assert deleted["ok"]
    assert "which has run, but the kernel no longer has the name" in book.hint("b")


def test_a_near_column_a_near_name_and_a_near_file(server: RunningServer) -> None:
    (server.root / "mileage.csv").write_text("a,b\n1,2\n")
    book = Notebook(
        server, FRAME, "df['Horsepowr'].mean()", "dg.shape",
        "pd.read_csv('milage.csv')",
    )  # fmt: skip
    assert "Use the column 'Horsepower' instead of 'Horsepowr'" in book.hint("a", "b")
    assert book.hint("c").endswith("Replace dg with df.")
    assert "mileage.csv" in book.hint("d")


def test_a_missing_module_is_named_with_how_to_install_it(server: RunningServer) -> None:
    book = Notebook(server, "import fitz", "import pandsa")
    hint = book.hint("a")
    assert "`%pip install PyMuPDF`" in hint
    assert hint.endswith("Install PyMuPDF.")
    assert "Import pandas instead of pandsa" in book.hint("b")


def test_in_place_is_said_only_where_the_cells_own_line_failed(server: RunningServer) -> None:
    book = Notebook(server, "1 / 0", "import json\njson.loads('x')", "open('no such file at all')")
    assert book.hint("a") == IN_PLACE
    assert IN_PLACE not in book.hint("b")
    assert book.hint("b").startswith("Find the cause before you run more")
    assert "listFiles" in book.hint("c")


def test_a_run_that_took_too_long_is_not_repaired_in_place(server: RunningServer) -> None:
    book = Notebook(server, "import time\nfor _ in range(600): time.sleep(0.1)")
    assert "timeoutSeconds" in book.hint("a", timeoutSeconds=0.5)


def test_code_without_a_cell_gets_the_same_hints(server: RunningServer) -> None:
    book = Notebook(server, "d = 5", FRAME)
    failed = book.call("executeCode", code="d + 1")
    assert failed["error"]["hint"].startswith("“d” is defined in cell 1, which has not run")
    assert book.call("runNotebookCells", cellIds=["b"])["ok"]
    failed = book.call("executeCode", code="df['Wieght']")
    assert "Weight" in failed["error"]["hint"]
    failed = book.call("executeCode", code="1 / 0")
    assert "in place" not in failed["error"]["hint"]


def test_the_hint_is_what_the_page_offers_as_the_fix(server: RunningServer) -> None:
    book = Notebook(server, "d = 5", "print(d)")
    hint = book.hint("b")
    offered = server.post("fixes", {"path": book.path, "cellId": "b"})["fixes"][0]["fix"]
    assert hint == f"{offered['explanation']} {offered['title']}."


def test_each_of_several_failures_has_its_hint_once(server: RunningServer) -> None:
    book = Notebook(server, FRAME, "df['Horsepowr']", "dg.shape", "print(1)", "1 / 0", "2 / 0")
    result = book.call("runNotebookCells", all=True, stopOnError=False)
    assert "Use the column 'Horsepower'" in result["error"]["hint"]
    hints = [run.get("hint") for run in result["output"]["runs"]]
    assert hints[:2] == hints[3:4] * 2 == [None, None]
    assert "df" in hints[2]
    assert hints[4:] == [IN_PLACE, None]


def test_another_language_has_the_general_hint(server: RunningServer) -> None:
    book = Notebook(server, "%%bash\nexit 3", "%%no_such_magic\nx")
    for cell in ("a", "b"):
        assert "change it in place" in book.hint(cell) or book.hint(cell) == IN_PLACE


@pytest.mark.parametrize("rule", ["never", "always"])
def test_a_hint_is_as_private_as_the_error(
    server: RunningServer, model: ScriptedModelServer, rule: str
) -> None:
    book = Notebook(server, FRAME, "df['Horsepowr'].mean()")
    model.script(Call("runNotebookCells", {"all": True}), Say("It failed."))
    session = server.post("sessions", {"settings": {"outputs": rule}})["id"]
    server.post(
        "chat",
        {
            "message": f"@{book.path} run it",
            "mode": "agent",
            "activeNotebook": book.path,
            "sessionId": session,
        },
    )
    sent = model.requests[1].last_output
    assert ("instead of 'Horsepowr'" in sent) is (rule == "always")

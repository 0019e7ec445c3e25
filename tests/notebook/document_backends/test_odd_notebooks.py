"""What Jupyter serves, the agent reads and edits; and nothing else in the file changes."""

from __future__ import annotations

import copy
import json
from typing import Any

import nbformat
import pytest
from nbformat.v4.rwbase import rejoin_lines, strip_transient

from jupyter_datalayer_agent.protocol.cells import line_feeds
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer

from .odd_notebooks import ODD, ODDITIES, TARGET

PATH = "odd.ipynb"


def ask(server: RunningServer, message: str = "Change it") -> Any:
    attached = [{"kind": "notebook", "path": PATH}]
    body = {"message": message, "mode": "agent", "attachments": attached, "activeNotebook": PATH}
    return server.post("chat", body)


def is_served(server: RunningServer) -> bool:
    """Whether Jupyter's contents API has the notebook for its own page."""
    return server.request("GET", f"/api/contents/{PATH}?type=notebook&content=1").ok


def plain(notebook: Any) -> Any:
    """A notebook without what Jupyter's reader and writer change themselves: texts as lines, and
    what is never kept in files."""
    node = nbformat.from_dict(copy.deepcopy(notebook))
    return json.loads(json.dumps(strip_transient(rejoin_lines(node))))


def changed(cells: list[dict[str, Any]], *pairs: tuple[str, str]) -> None:
    """Write the new texts into the cells, as the agent was asked to."""
    for old, new in pairs:
        for cell in cells:
            if isinstance(cell.get("source"), str) and old in cell["source"]:
                cell["source"] = line_feeds(cell["source"].replace(old, new))


def completed(notebook: Any) -> Any:
    """What Jupyter cannot write a notebook without: outputs of code, a stream's text, and, from
    nbformat 4.5 on, ids, which it invents itself where the agent does not."""
    seen: list[Any] = []
    for index, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            cell.setdefault("outputs", [])
            for output in cell["outputs"]:
                if output["output_type"] == "stream":
                    output.setdefault("text", "")
        if notebook.get("nbformat_minor", 0) >= 5:
            if "id" not in cell or cell["id"] in seen:
                cell["id"] = f"made {index}"
            seen.append(cell["id"])
    return notebook


def with_ids_of(notebook: Any, written: Any) -> Any:
    """The ids that were made are those that were written; each is another one."""
    for cell, other in zip(notebook["cells"], written["cells"], strict=True):
        if str(cell.get("id")).startswith("made "):
            cell["id"] = other["id"]
    named = [cell["id"] for cell in written["cells"] if "id" in cell]
    if written.get("nbformat_minor", 0) >= 5:
        assert len(named) == len(written["cells"])
        assert all(named.count(each) == 1 for each in named)
    return notebook


@pytest.mark.parametrize("oddity", ODDITIES)
def test_an_odd_notebook_is_read_and_edited_and_keeps_what_is_odd(
    server: RunningServer, model: ScriptedModelServer, oddity: str
) -> None:
    odd = ODDITIES[oddity]
    file = server.root / PATH
    file.write_text(json.dumps(odd.notebook))
    before = file.read_bytes()
    served = is_served(server)
    if not served or odd.refused is not None:
        model.script(Calls([Call("addNotebookCell", {"content": "1"})]), Say("No."))
        reply = ask(server)
        [call] = reply["toolCalls"]
        assert call["status"] != "ok"
        assert file.read_bytes() == before
        assert served == (odd.refused is not None)
        assert (odd.refused or PATH) in model.requests[-1].text
        return

    edits = [
        Call("updateNotebookCell", {"cellId": {"cell": old}, "edits": [edit(old, new)]})
        for old, new in ((TARGET, "target = 2"), (ODD, "even = 42"))
    ]
    model.script(
        Call("getNotebookCells", {"includeOutputs": True}),
        *(Calls([each]) for each in edits),
        Say("Done."),
    )
    reply = ask(server)

    assert ODD in model.requests[0].text
    assert [call["status"] for call in reply["toolCalls"]] == ["ok"] * 3, model.requests[-1].text[
        -2000:
    ]
    written = json.loads(file.read_text())
    if written["nbformat"] == odd.notebook["nbformat"]:
        expected = completed(plain(odd.notebook))
    else:
        expected = completed(plain(nbformat.reads(json.dumps(odd.notebook), as_version=4)))
        for index, cell in enumerate(expected["cells"]):
            cell["id"] = f"made {index}"
    changed(expected["cells"], (TARGET, "target = 2"), (ODD, "even = 42"))
    assert plain(written) == with_ids_of(expected, written)
    assert file.read_text() == as_jupyter_writes(written)


def edit(old: str, new: str) -> dict[str, str]:
    return {"oldString": old, "newString": new}


def as_jupyter_writes(notebook: Any) -> str:
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("oddity", [name for name, odd in ODDITIES.items() if odd.refused is None])
def test_an_odd_notebook_takes_new_cells(
    server: RunningServer, model: ScriptedModelServer, oddity: str
) -> None:
    file = server.root / PATH
    file.write_text(json.dumps(ODDITIES[oddity].notebook))
    if not is_served(server):
        return
    model.script(
        Calls([Call("addNotebookCell", {"content": "new = 1"})]),
        Calls([Call("addNotebookCell", {"content": "Words", "type": "markdown"})]),
        Say("Done."),
    )
    reply = ask(server)
    added = json.loads(file.read_text())["cells"][-2:]

    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok"], model.requests[-1].text[
        -2000:
    ]
    assert ["".join(cell["source"]) for cell in added] == ["new = 1", "Words"]
    assert is_served(server)

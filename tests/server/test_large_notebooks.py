"""Notebooks that are too large, and cells that are very long, while the server answers others."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

from jupyter_datalayer_agent.protocol.limits import MAX_NOTEBOOK_BYTES
from tests.support.health import Health
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer

SLOWEST = 0.3
"""Seconds that another request may wait."""
LONG_CELL = 4_600_000
WHERE = {
    "mode": "agent",
    "attachments": [{"kind": "notebook", "path": "large.ipynb"}],
    "activeNotebook": "large.ipynb",
}


def lines(size: int) -> list[str]:
    """So many characters in lines, as notebooks have them."""
    text = random.Random(1).randbytes(size // 2).hex()
    return [text[start : start + 99] + "\n" for start in range(0, size, 99)]


def write(path: Path, source: list[str] | str, *printed: str) -> None:
    """A notebook with this cell and a short one. Not by nbformat, which takes its time over it."""
    cell = nbformat.v4.new_code_cell("", id="c0") | {"source": source}
    if printed:
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": list(printed)}]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [cell, nbformat.v4.new_code_cell("y = 2", id="c1")]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    path.write_text(json.dumps(notebook))


def ask(
    server: RunningServer, model: ScriptedModelServer, *calls: Call, approval: str = "never"
) -> dict[str, Any]:
    """The reply of a turn with these calls."""
    model.script(*calls, Say("Done."))
    body = {"message": "go", "approval": approval, **WHERE}
    reply: dict[str, Any] = server.post("chat", body)
    return reply


@pytest.fixture
def notebook(server: RunningServer) -> Path:
    return server.root / "large.ipynb"


def test_a_notebook_past_the_limit_is_refused_by_its_size_and_stays_as_it_is(
    server: RunningServer, model: ScriptedModelServer, notebook: Path
) -> None:
    write(notebook, "x = 1", *lines(MAX_NOTEBOOK_BYTES * 3 // 2))
    before = notebook.stat()
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    memory = process.memory_info().rss
    with Health(server) as health:
        reply = ask(
            server,
            model,
            Call("getNotebookCells"),
            Call("addNotebookCell", {"content": "z = 3"}),
            Call("runNotebookCells", {"cellIds": ["c1"]}),
        )
    for call in reply["toolCalls"]:
        assert call["status"] == "error"
        assert call["output"]["error"]["code"] == "too_large"
        assert "The limit is 128 MB." in call["output"]["error"]["message"]
    assert (
        "The limit is 128 MB."
        in server.request("GET", "context", params={"path": "large.ipynb"}).text
    )
    after = notebook.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert health.slowest < SLOWEST
    assert process.memory_info().rss - memory < 50_000_000
    notebook.unlink()


def test_a_cell_of_megabytes_is_read_changed_approved_and_run(
    server: RunningServer, model: ScriptedModelServer, notebook: Path
) -> None:
    text = "".join(lines(LONG_CELL))
    source = f'text = """{text}"""\nprint(len(text))'

    def approved() -> None:
        edits = [{"oldString": "print(len(text))", "newString": "print(len(text) + 1)"}]
        model.script(
            Call("getNotebookCells"),
            Call("updateNotebookCell", {"cellId": "c0", "edits": edits, "run": True}),
            Say("Done."),
        )
        stream = server.stream("chat/stream", {"message": "go", "approval": "always", **WHERE})
        for event in stream:
            if event["type"] == "approval_requested":
                sessions = server.get("sessions")["sessions"]
                [session] = [each["id"] for each in sessions if each.get("waits")]
                decision = {"type": "approval_decision", "approvalId": event["approvalId"]}
                server.post(f"sessions/{session}/ops", {**decision, "decision": "approve"})

    steps: list[Callable[[], Any]] = [
        lambda: server.request("GET", "context", params={"path": "large.ipynb"}),
        lambda: ask(server, model, Call("getNotebookCells", {"cellIds": ["c0"]})),
        lambda: ask(server, model, Call("runNotebookCells", {"cellIds": ["c0"]})),
        approved,
    ]
    write(notebook, source.splitlines(keepends=True))
    slowest = []
    for step in steps:
        with Health(server) as health:
            step()
        slowest.append(health.slowest)
    cell = nbformat.read(notebook, as_version=4).cells[0]
    assert cell.source == source.replace("(len(text))", "(len(text) + 1)")
    assert cell.outputs[0].text == f"{len(text) + 1}\n"
    assert max(slowest) < SLOWEST, slowest

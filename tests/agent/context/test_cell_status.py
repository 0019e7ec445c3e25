"""The status of each cell in tools and the context, by the names of the contract."""

from __future__ import annotations

import shutil
from functools import partial
from typing import Any

import pytest

from tests.server.page.test_socket import editor_state
from tests.support.jupyter import RunningServer
from tests.support.page import FakePage

GONE = "0d9e2b1c-7f4c-4d53-a1ee-3f3c1c9f1c11"
ENDED = 1_795_425_115_123
CELLS: list[dict[str, Any]] = [
    {"id": "m", "index": 0, "type": "markdown", "source": "# Head", "hash": "0"},
    {
        "id": "ran",
        "index": 1,
        "type": "code",
        "source": "x = 1",
        "hash": "0",
        "selectionStatus": "active",
        "executionStatus": "idle",
        "executionCount": 3,
        "hasOutput": True,
        "lastRunSuccess": True,
        "lastExecutionDuration": 12.345,
        "lastRunEndTime": ENDED,
    },
    {
        "id": "waits",
        "index": 2,
        "type": "code",
        "source": "y = 2",
        "hash": "0",
        "selectionStatus": "selected",
        "executionStatus": "pending",
    },
    {"id": "new", "index": 3, "type": "code", "source": "z", "hash": "0"},
]
UNSELECTED = {"hasOutput": False, "selectionStatus": "unselected"}
EXPECTED = [
    {"id": "m", "index": 0, "type": "markdown", "content": "# Head", **UNSELECTED},
    {
        "id": "ran",
        "index": 1,
        "type": "code",
        "content": "x = 1",
        "hasOutput": True,
        "selectionStatus": "active",
        "executionStatus": "idle",
        "executionOrder": 3,
        "lastRunSuccess": True,
        "lastExecutionDuration": 12.3,
        "lastRunEndTime": ENDED,
    },
    {
        "id": "waits",
        "index": 2,
        "type": "code",
        "content": "y = 2",
        "hasOutput": False,
        "selectionStatus": "selected",
        "executionStatus": "pending",
        "executionOrder": None,
    },
    {
        "id": "new",
        "index": 3,
        "type": "code",
        "content": "z",
        **UNSELECTED,
        "executionStatus": "idle",
        "executionOrder": None,
    },
]


def answer(message: dict[str, Any], kernel_id: str = GONE) -> dict[str, Any]:
    """A page with a notebook whose cells are in all states."""
    cells = [dict(cell) for cell in CELLS]
    if message["params"].get("outputs"):
        cells[1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "out"}]
    path = message["params"]["path"]
    return {"ok": True, "result": {"path": path, "kernelId": kernel_id, "cells": cells}}


@pytest.mark.parametrize("outputs", [False, True])
def test_getNotebookCells_returns_the_whole_status_of_each_cell(
    server: RunningServer, outputs: bool
) -> None:
    with FakePage(server, "page", answer) as page:
        page.send(editor_state("cars.ipynb", active="cars.ipynb"))
        page.send({"type": "hello", "clientId": "page"})
        page.wait_for("welcome")
        done = server.post(
            "tools/getNotebookCells",
            {"arguments": {"path": "cars.ipynb", "includeOutputs": outputs}, "path": "cars.ipynb"},
        )
    cells = [dict(cell) for cell in done["output"]["cells"]]
    if outputs:
        assert cells[1].pop("outputs") == "out"
    assert cells == EXPECTED


def contexts(server: RunningServer, kernel_id: str) -> list[str]:
    """The texts of two contexts in a row, of a page that shows this kernel."""
    with FakePage(server, "page", partial(answer, kernel_id=kernel_id)) as page:
        page.send(editor_state("cars.ipynb", active="cars.ipynb"))
        page.send({"type": "hello", "clientId": "page"})
        page.wait_for("welcome")
        parameters = {"path": "cars.ipynb", "clientId": "page"}
        return [server.get("context", **parameters)["text"] for _ in range(2)]


def test_the_context_has_the_kernels_id_and_when_each_run_ended(server: RunningServer) -> None:
    kernel = server.post("/api/kernels", {"name": "python3"})["id"]
    try:
        text, again = contexts(server, kernel)
    finally:
        server.request("DELETE", f"/api/kernels/{kernel}")
    assert f"kernel running id={kernel}" in text
    assert "[2] code id=ran order=3 ok 12ms ended=2026-11-23T09:11:55Z output active" in text
    assert text.count("ended=") == 1
    # A time is that of the cell's last run: an unchanged cell is stated in the same way.
    assert again == text


def test_a_kernel_that_is_gone_is_not_said_to_run(server: RunningServer) -> None:
    # A page that lost the server goes on showing the kernel that it had.
    text, _ = contexts(server, GONE)
    assert "kernel not started" in text
    assert GONE not in text


def test_what_a_program_ran_is_reported_with_its_times(server: RunningServer) -> None:
    path = "ran.ipynb"
    shutil.copy(server.root / "cars.ipynb", server.root / path)
    added = server.post(
        "tools/addNotebookCell",
        {"arguments": {"type": "code", "content": "print(1)", "run": True}, "path": path},
    )
    assert added["ok"], added
    done = server.post("tools/getNotebookCells", {"arguments": {}, "path": path})
    cell = done["output"]["cells"][1]
    assert cell["executionStatus"] == "idle"
    assert cell["hasOutput"] is True
    assert cell["lastRunSuccess"] is True
    assert cell["lastExecutionDuration"] >= 0
    assert cell["lastRunEndTime"] > 1_700_000_000_000
    context = server.get("context", path=path)
    assert f"id={context['notebook']['kernelId']}" in context["text"]

"""``POST fixes``: what to try next at a failed cell, with a model and without one."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbformat import v4

from tests.support.jupyter import RunningServer

PATH = "attempts.ipynb"


@pytest.fixture
def failed(server: RunningServer) -> RunningServer:
    cells = [
        v4.new_code_cell("total = 1\ntoto = 2\nprint(totl)", id="name"),
        v4.new_code_cell("1 / 0", id="zero"),
    ]
    nbformat.write(v4.new_notebook(cells=cells), server.root / PATH)
    run = {"path": PATH, "cellIds": ["name", "zero"], "stopOnError": False}
    server.post("tools/runNotebookCells", {"arguments": run})
    return server


def attempt(server: RunningServer, cell_id: str, *tried: dict[str, Any]) -> Any:
    return server.post("fixes", {"path": PATH, "cellId": cell_id, "tried": list(tried)})


def test_known_fixes_come_first_and_none_comes_twice(failed: RunningServer) -> None:
    first = attempt(failed, "name")
    assert (first["attempt"], first["maxAttempts"]) == (1, 3)
    assert [each["fix"]["done"] for each in first["fixes"]] == [
        "replaced `totl` with `total`",
        "replaced `totl` with `toto`",
    ]
    tried = {"key": first["fixes"][0]["key"], "done": "replaced `totl` with `total`"}
    second = attempt(failed, "name", tried)
    assert second["attempt"] == 2
    assert [each["key"] for each in second["fixes"]] == [first["fixes"][1]["key"]]


def test_then_the_model_is_asked(failed: RunningServer) -> None:
    asked = attempt(failed, "zero")
    assert asked["fixes"] == []
    assert asked["prompt"] == "Fix the error of this cell."
    again = attempt(failed, "zero", {"done": "applied the model's fix"})
    assert "still fails" in again["prompt"]


def test_after_three_it_gives_up(failed: RunningServer) -> None:
    over = attempt(failed, "zero", {"done": "a"}, {"done": "b"}, {"done": "a"})
    assert over["fixes"] == []
    assert "prompt" not in over
    assert over["message"].startswith("Three attempts failed: a; b. The cell still fails with Zero")


def test_a_notebook_that_cannot_be_read_leaves_the_model(failed: RunningServer) -> None:
    reply = failed.post("fixes", {"path": "../else.ipynb", "cellId": "x"})
    assert reply["prompt"] == "Fix the error of this cell."

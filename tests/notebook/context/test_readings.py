"""What a context costs beyond its cells: one reading of the file, one look at the kernel."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.document_backends import cell_ids
from jupyter_datalayer_agent.notebook.document_backends.cell_ids import ids_in

from ..support import code, world, write_notebook


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often methods were called that ``count`` was called with."""
    calls: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        method = getattr(owner, name)

        def counting(*args: Any, **named: Any) -> Any:
            calls[name] += 1
            return method(*args, **named)

        monkeypatch.setattr(owner, name, counting)

    calls.count = count  # type: ignore[attr-defined]
    return calls


async def test_the_file_is_read_once_and_the_system_asked_as_often_for_any_number_of_cells(
    tmp_path: Path, counted: Any
) -> None:
    asked = []
    async with world(tmp_path) as w:
        counted.count(w.service.contents_manager, "get")
        counted.count(w.service.executions._processes, "of")
        for number in (3, 60):
            write_notebook(w.root, [code(f"c{each}", "1 + 1") for each in range(number)])
            await w.service.context("a.ipynb")
            w.service.executions.enter("a.ipynb", "a-kernel")
            counted.clear()
            context = await w.service.context("a.ipynb")
            assert context.cell_count == number
            asked.append(dict(counted))
    assert asked[0] == asked[1]
    assert asked[0]["get"] == 1


async def test_an_unchanged_notebook_without_ids_is_not_compared_with_itself(
    tmp_path: Path, counted: Any
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("", f"x = {each}") for each in range(5)], minor=4)
        before = await w.service.read("a.ipynb")
        counted.count(cell_ids, "same_cells")
        counted.count(cell_ids, "text_id")
        again = await w.service.read("a.ipynb")
    assert not before.ids_kept
    assert [each.id for each in again.cells] == [each.id for each in before.cells]
    assert not counted


def test_cells_with_the_same_text_have_ids_in_linear_time(counted: Any) -> None:
    counted.count(cell_ids, "text_id")
    cells = [{"cell_type": "code", "source": "", "metadata": {}} for _ in range(300)]
    raw = json.loads(json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 4}))
    found = cell_ids.cell_ids(raw, ids_in(raw))
    assert len(set(found.addresses)) == 300
    assert counted["text_id"] < 3 * 300

"""A notebook in memory that turns and a user change, for the tests of undo."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Collection, Coroutine, Sequence
from typing import Any

import nbformat
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.edits.batch import (
    apply_edits,
    page_cell,
    source_hash,
    source_of,
    with_outputs,
)
from jupyter_datalayer_agent.notebook.edits.cell_state import same_cell
from jupyter_datalayer_agent.notebook.edits.checkpoints import CheckpointsInMemory, Recorder
from jupyter_datalayer_agent.notebook.edits.undo import (
    NotebookState,
    Undone,
    edits_between,
    touched,
    undo,
)
from jupyter_datalayer_agent.protocol.cells import (
    CellEdit,
    CellPosition,
    DeleteCell,
    InsertCell,
    MoveCell,
    PageNotebook,
    UpdateCell,
)

from ..support import code, markdown

PATH = "a.ipynb"
Cell = dict[str, Any]

# What is done: a word, and numbers that choose cells, places and types out of those there are.
OPERATIONS = st.tuples(
    st.sampled_from(["insert", "update", "delete", "move", "retype", "run", "tag", "clear"]),
    st.integers(0, 7),
    st.integers(0, 7),
)
NOTEBOOKS = st.lists(st.sampled_from(["code", "markdown", "output", "raw"]), max_size=6)


def notebook_cells(kinds: Sequence[str]) -> list[Cell]:
    """Cells of these kinds, with metadata, attachments and outputs."""
    cells = []
    for number, kind in enumerate(kinds):
        cell_id, text = f"c{number}", f"text {number}"
        if kind == "code":
            cells.append(code(cell_id, text, metadata={"tags": [kind]}))
        elif kind == "output":
            cells.append(code(cell_id, text, outputs=[shown(number)], execution_count=number))
        elif kind == "markdown":
            attachments = {"a.png": {"image/png": "AAAA"}}
            cells.append(markdown(cell_id, text, attachments=attachments))
        else:
            cells.append({**markdown(cell_id, text), "cell_type": "raw"})
    return cells


def shown(number: int) -> Cell:
    """An output."""
    return {
        "output_type": "execute_result",
        "data": {"text/plain": f"output {number}"},
        "metadata": {},
        "execution_count": number,
    }


def await_it(doing: Coroutine[Any, Any, Any]) -> Any:
    """The coroutine's result, in a loop of its own: hypothesis calls no coroutines."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(doing)
    finally:
        loop.close()


class Notebook:
    """A notebook in memory. ``number`` makes every text and output one of a kind."""

    path = PATH

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = [copy.deepcopy(cell) for cell in cells]
        self.number = 100

    @property
    def ids(self) -> list[str]:
        return [cell["id"] for cell in self.cells]

    def cell(self, cell_id: str) -> Cell | None:
        return next((cell for cell in self.cells if cell["id"] == cell_id), None)

    async def read(
        self, cell_ids: Sequence[str] | None = None, *, outputs: bool = False, whole: bool = False
    ) -> PageNotebook:
        cells = [
            page_cell(copy.deepcopy(cell), index, outputs=outputs, whole=whole)
            for index, cell in enumerate(self.cells)
            if cell_ids is None or cell["id"] in cell_ids
        ]
        return PageNotebook(path=self.path, cells=cells, order=self.ids if whole else None)

    def apply(self, edits: Sequence[CellEdit]) -> None:
        self.cells = apply_edits(self.cells, edits, self.path).cells

    def check(self) -> None:
        """It is valid by nbformat, with unique ids."""
        assert len(set(self.ids)) == len(self.ids)
        content = {
            "cells": [
                {**cell, "metadata": {k: v for k, v in cell["metadata"].items() if k != "trusted"}}
                for cell in self.cells
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        nbformat.validate(nbformat.from_dict(content))

    def edit_for(self, operation: tuple[str, int, int], who: str) -> CellEdit | None:
        """The edit that an operation comes to here; None where there is nothing to do it to."""
        word, one, other = operation
        self.number += 1
        if word == "insert":
            return InsertCell(
                cell_id=f"{who}{self.number}",
                type=("code", "markdown")[other % 2],
                source=f"{who} {self.number}",
                position=self.position(one),
            )
        if not self.cells:
            return None
        cell = self.cells[one % len(self.cells)]
        base = source_hash(source_of(cell))
        if word == "update":
            source = f"{who} {self.number}"
            return UpdateCell(cell_id=cell["id"], base_hash=base, source=source)
        if word == "delete":
            return DeleteCell(cell_id=cell["id"], base_hash=base)
        if word == "retype":
            kinds: list[Any] = ["code", "markdown", "raw"]
            kind = kinds[other % 3]
            return UpdateCell(cell_id=cell["id"], base_hash=base, type=kind)
        if word == "move" and len(self.cells) > 1:
            others = [each for each in self.ids if each != cell["id"]]
            anchor = others[other % len(others)]
            position = CellPosition(**{("after" if other % 2 else "before"): anchor})
            return MoveCell(cell_id=cell["id"], position=position)
        return None

    def position(self, number: int) -> CellPosition:
        if not self.cells or number == 0:
            return CellPosition(at="start")
        return CellPosition(after=self.ids[number % len(self.ids)])

    def run_one(self, cell_id: str) -> None:
        """As a kernel would: an output and a count of its own."""
        self.number += 1
        self.cells = [
            with_outputs(cell, [shown(self.number)], self.number) if cell["id"] == cell_id else cell
            for cell in self.cells
        ]

    def code_cell(self, number: int) -> str | None:
        """The id of a code cell with something in it."""
        ids = [cell["id"] for cell in self.cells if cell["cell_type"] == "code"]
        return ids[number % len(ids)] if ids else None


class Turn:
    """An agent's turn, recorded in memory."""

    def __init__(self, notebook: Notebook) -> None:
        self.notebook = notebook
        self.kept = CheckpointsInMemory()
        self.recorder = Recorder(self.kept)

    def act(self, operation: tuple[str, int, int]) -> CellEdit | None:
        """Do it, recorded."""
        return await_it(self._act(operation))

    async def _act(self, operation: tuple[str, int, int]) -> CellEdit | None:
        notebook = self.notebook
        if operation[0] == "run":
            cell_id = notebook.code_cell(operation[1])
            if cell_id is not None:
                async with self.recorder.run(notebook, [cell_id]):
                    notebook.run_one(cell_id)
            return None
        edit = notebook.edit_for(operation, "agent")
        if edit is not None:
            async with self.recorder.edit(notebook, [edit]):
                notebook.apply([edit])
        return edit

    def refused(self, operation: tuple[str, int, int]) -> None:
        """Try it, and have the document refuse it."""
        edit = self.notebook.edit_for(operation, "agent")
        if edit is not None:
            await_it(self._refused(edit))

    async def _refused(self, edit: CellEdit) -> None:
        try:
            async with self.recorder.edit(self.notebook, [edit]):
                raise DocumentError("stale", "changed meanwhile")
        except DocumentError:
            pass

    @property
    def touched(self) -> list[str]:
        return touched(self.kept.spans(PATH))

    def undo(self, wanted: Collection[str] | None = None, *, overwrite: bool = False) -> Undone:
        """Take it back, by the edits that a document would get."""
        notebook = self.notebook
        spans = self.kept.spans(PATH)
        whole = {cell["id"]: cell for cell in notebook.cells if cell["id"] in touched(spans)}
        now = NotebookState(notebook.ids, whole)
        undone = undo(spans, now, wanted, overwrite=overwrite)
        notebook.apply(edits_between(now, undone))
        assert notebook.ids == undone.state.order
        for cell_id, cell in undone.state.cells.items():
            became = notebook.cell(cell_id)
            assert became is not None
            assert same_cell(became, cell)
        return undone


def plain(cells: Sequence[Cell]) -> list[Cell]:
    """Cells to compare, without the trust that runs leave."""
    return [
        {**cell, "metadata": {k: v for k, v in cell["metadata"].items() if k != "trusted"}}
        for cell in cells
    ]

"""The pure edit function: addressed by id, whole or not at all."""

from __future__ import annotations

import copy
import time
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.edits.batch import apply_edits, source_hash
from jupyter_datalayer_agent.protocol.cells import (
    CellPosition,
    DeleteCell,
    MoveCell,
    SetOutputs,
    UpdateCell,
)

from ..support import code, insert, markdown


def six() -> list[dict[str, Any]]:
    return [code(f"c{n}", f"x{n} = {n}") for n in range(6)]


def delete(cell: dict[str, Any]) -> DeleteCell:
    return DeleteCell(cell_id=cell["id"], base_hash=source_hash(cell["source"]))


def update(cell: dict[str, Any], **fields: Any) -> UpdateCell:
    return UpdateCell(cell_id=cell["id"], base_hash=source_hash(cell["source"]), **fields)


def ids(cells: list[dict[str, Any]]) -> list[str]:
    return [cell["id"] for cell in cells]


def test_the_hash_is_sha256_of_the_utf8_source() -> None:
    assert source_hash("é") == "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"


def test_peers_03_deleting_several_cells_removes_exactly_those() -> None:
    cells = six()
    result = apply_edits(cells, [delete(cells[n]) for n in (1, 2, 3, 5)], "a.ipynb")
    assert ids(result.cells) == ["c0", "c4"]
    assert [change.before for change in result.changes] == ["x1 = 1", "x2 = 2", "x3 = 3", "x5 = 5"]
    assert all(change.path == "a.ipynb" and change.after is None for change in result.changes)


def test_peers_10_an_update_keeps_id_outputs_count_and_metadata() -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "1"}
    cell = code("a", "1", outputs=[output], execution_count=3, metadata={"tags": ["t"]})
    result = apply_edits([cell], [update(cell, source="2")])
    assert result.cells == [{**cell, "source": "2"}]


def test_peers_10_at_the_end_means_behind_the_last_cell() -> None:
    assert ids(apply_edits(six(), [insert("new", "1")]).cells)[-1] == "new"


def test_a_position_may_name_a_cell_of_the_same_batch() -> None:
    edits = [
        insert("n1", "1", after="c0"),
        insert("n2", "2", after="n1"),
        insert("n0", "0", before="n1"),
        insert("first", "f", at="start"),
    ]
    result = apply_edits(six()[:2], edits)
    assert ids(result.cells) == ["first", "c0", "n0", "n1", "n2", "c1"]
    assert [change.index for change in result.changes] == [3, 4, 2, 0]


def test_move_and_insert_around_each_other() -> None:
    edits = [
        MoveCell(cell_id="c0", position=CellPosition(after="c5")),
        insert("n", "", after="c0"),
        MoveCell(cell_id="c5", position=CellPosition(at="start")),
    ]
    assert ids(apply_edits(six(), edits).cells) == ["c5", "c1", "c2", "c3", "c4", "c0", "n"]


def test_a_stale_edit_refuses_the_whole_batch_with_the_cell_as_it_is() -> None:
    cells = six()
    wrong = UpdateCell(cell_id="c3", base_hash=source_hash("older"), source="mine")
    before = copy.deepcopy(cells)
    with pytest.raises(DocumentError) as refused:
        apply_edits(cells, [insert("new", "1"), delete(cells[0]), wrong])
    assert refused.value.code == "stale"
    assert [(cell.id, cell.source) for cell in refused.value.cells] == [("c3", "x3 = 3")]
    assert cells == before


@pytest.mark.parametrize(
    ("edit", "code_"),
    [
        (insert("c1", "taken"), "invalid_arguments"),
        (insert("not an id!", ""), "invalid_arguments"),
        (insert("x" * 65, ""), "invalid_arguments"),
        (insert("new", "", after="nope"), "not_found"),
        (insert("new", "", after="c1", before="c2"), "invalid_arguments"),
        (MoveCell(cell_id="c1", position=CellPosition(after="c1")), "invalid_arguments"),
        (MoveCell(cell_id="c1", position=CellPosition(before="nope")), "not_found"),
        (DeleteCell(cell_id="nope", base_hash=""), "not_found"),
        (UpdateCell(cell_id="nope", base_hash="", source=""), "not_found"),
        (SetOutputs(cell_id="nope", outputs=[]), "not_found"),
    ],
)
def test_a_batch_that_makes_no_sense_changes_nothing(edit: Any, code_: str) -> None:
    cells = six()
    before = copy.deepcopy(cells)
    with pytest.raises(DocumentError) as refused:
        apply_edits(cells, [update(cells[0], source="changed"), edit])
    assert refused.value.code == code_
    assert cells == before


def test_a_deleted_cell_cannot_be_changed_later_in_the_batch() -> None:
    cells = six()
    with pytest.raises(DocumentError):
        apply_edits(cells, [delete(cells[0]), update(cells[0], source="2")])


def test_two_updates_of_a_cell_in_one_batch_may_both_be_based_on_what_was_read() -> None:
    cells = six()
    edits = [update(cells[0], source="one"), update(cells[0], source="two")]
    assert apply_edits(cells, edits).cells[0]["source"] == "two"


def test_a_change_of_type_drops_what_the_type_cannot_hold() -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "1"}
    cell = code("a", "# T", outputs=[output], execution_count=3, metadata={"scrolled": True})
    as_text = apply_edits([cell], [update(cell, type="markdown")]).cells[0]
    assert as_text == {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# T"}
    note = markdown("m", "![x](attachment:x.png)", attachments={"x.png": {"image/png": "aGk="}})
    kept = apply_edits([note], [update(note, source="other")]).cells[0]
    as_code = apply_edits([note], [update(note, type="code")]).cells[0]
    assert kept["attachments"] == {"x.png": {"image/png": "aGk="}}
    assert "attachments" not in as_code
    assert as_code["outputs"] == []
    assert as_code["execution_count"] is None


def test_an_update_to_the_same_source_is_no_change() -> None:
    cells = six()
    result = apply_edits(cells, [update(cells[0], source=cells[0]["source"])])
    assert result.changes == []
    assert result.touched == ["c0"]
    assert result.cells == cells


def test_a_move_to_where_the_cell_is_already_is_no_change() -> None:
    cells = six()
    for position in (CellPosition(after="c1"), CellPosition(before="c3")):
        result = apply_edits(cells, [MoveCell(cell_id="c2", position=position)])
        assert result.changes == []
        assert result.touched == ["c2"]
        assert result.cells == cells


# Any batch on any notebook: the model below is a plain list, edited in the slow and obvious way.
names = st.sampled_from(["c0", "c1", "c2", "c3", "n0", "n1", "nope"])
positions = st.one_of(
    st.builds(CellPosition, at=st.sampled_from(["start", "end"])),
    st.builds(CellPosition, after=names),
    st.builds(CellPosition, before=names),
)
hashes = st.sampled_from([source_hash(f"x{n} = {n}") for n in range(4)] + [source_hash("new")])
any_edit = st.one_of(
    st.builds(
        lambda cell_id, kind, position: insert(
            cell_id, "new", kind, **position.model_dump(exclude_none=True)
        ),
        names,
        st.sampled_from(["code", "markdown", "raw"]),
        positions,
    ),
    st.builds(
        lambda cell_id, base_hash, source, kind: UpdateCell(
            cell_id=cell_id, base_hash=base_hash, source=source, type=kind
        ),
        names,
        hashes,
        st.sampled_from([None, "new", "x1 = 1"]),
        st.sampled_from([None, "code", "markdown", "raw"]),
    ),
    st.builds(lambda cell_id, base: DeleteCell(cell_id=cell_id, base_hash=base), names, hashes),
    st.builds(lambda cell_id, place: MoveCell(cell_id=cell_id, position=place), names, positions),
)


@given(st.lists(any_edit, max_size=6))
def test_any_batch_leaves_a_valid_notebook_or_an_untouched_one(edits: list[Any]) -> None:
    cells = six()[:4]
    before = copy.deepcopy(cells)
    try:
        result = apply_edits(cells, edits)
    except DocumentError:
        assert cells == before
        return
    assert cells == before
    assert len(set(ids(result.cells))) == len(result.cells)
    content = {"cells": result.cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    nbformat.validate(nbformat.from_dict(content))
    inserted = sum(edit.op == "insert" for edit in edits)
    deleted = sum(edit.op == "delete" for edit in edits)
    assert len(result.cells) == len(cells) + inserted - deleted
    for change in result.changes:
        if change.op != "delete" and change.cell_id in ids(result.cells):
            assert result.cells[change.index or 0]["id"] == change.cell_id


def test_an_edit_of_5000_cells_takes_milliseconds() -> None:
    cells = [code(f"c{n}", f"x = {n}") for n in range(5000)]
    began = time.perf_counter()
    result = apply_edits(cells, [insert(f"n{n}", "1", after=f"c{n * 4}") for n in range(1000)])
    assert len(result.cells) == 6000
    assert time.perf_counter() - began < 2

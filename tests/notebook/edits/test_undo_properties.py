"""Undo under anything that turns and a user may do to a notebook, in any order."""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from .undoing import NOTEBOOKS, OPERATIONS, Notebook, Turn, notebook_cells, plain

EXAMPLES = settings(max_examples=300, deadline=None)
STATEFUL = settings(max_examples=250, stateful_step_count=25, deadline=None)


@EXAMPLES
@given(NOTEBOOKS, st.lists(OPERATIONS, max_size=12))
def test_with_nothing_changed_since_everything_is_as_it_was(
    kinds: list[str], operations: list[tuple[str, int, int]]
) -> None:
    notebook = Notebook(notebook_cells(kinds))
    before = plain(notebook.cells)
    turn = Turn(notebook)
    for operation in operations:
        turn.act(operation)
    undone = turn.undo()
    assert undone.conflicts == []
    assert plain(notebook.cells) == before


@EXAMPLES
@given(NOTEBOOKS, st.lists(st.lists(OPERATIONS, max_size=5), max_size=5))
def test_the_newest_turns_undone_one_by_one_give_every_state_before_them(
    kinds: list[str], turns: list[list[tuple[str, int, int]]]
) -> None:
    notebook = Notebook(notebook_cells(kinds))
    done = []
    for operations in turns:
        before = plain(notebook.cells)
        turn = Turn(notebook)
        for operation in operations:
            turn.act(operation)
        done.append((turn, before))
    for turn, before in reversed(done):
        assert turn.undo().conflicts == []
        assert plain(notebook.cells) == before


@EXAMPLES
@given(NOTEBOOKS, st.lists(st.tuples(st.booleans(), OPERATIONS), max_size=14))
def test_cell_by_cell_and_twice_comes_to_the_same_as_all_at_once(
    kinds: list[str], mixed: list[tuple[bool, tuple[str, int, int]]]
) -> None:
    notebook = Notebook(notebook_cells(kinds))
    turn = Turn(notebook)
    for accepted, operation in mixed:
        (turn.act if accepted else turn.refused)(operation)
    all_at_once = Notebook(notebook.cells)
    other = copy.copy(turn)
    other.notebook = all_at_once
    other.undo()
    for cell_id in turn.touched:
        assert turn.undo([cell_id]).conflicts == []
    by_id = {cell["id"]: cell for cell in plain(notebook.cells)}
    assert by_id == {cell["id"]: cell for cell in plain(all_at_once.cells)}
    again = plain(notebook.cells)
    turn.undo()
    assert plain(notebook.cells) == again


class Together(RuleBasedStateMachine):
    """A user and several turns work on one notebook, and turns are taken back."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[Turn] = []
        # The user's last source of a cell that nobody changed since.
        self.typed: dict[str, str] = {}
        # Where they put it: the cell that they moved, and the one that it was put behind.
        self.moved: dict[str, str] = {}

    @initialize(kinds=NOTEBOOKS)
    def begin(self, kinds: list[str]) -> None:
        self.notebook = Notebook(notebook_cells(kinds))
        self.turns = [Turn(self.notebook)]

    @rule()
    def another_turn(self) -> None:
        self.turns.append(Turn(self.notebook))

    @rule(operation=OPERATIONS)
    def the_agent_acts(self, operation: tuple[str, int, int]) -> None:
        edit = self.turns[-1].act(operation)
        if edit is not None and edit.op != "move":
            self.typed.pop(edit.cell_id, None)

    @rule(operation=OPERATIONS)
    def the_agent_is_refused(self, operation: tuple[str, int, int]) -> None:
        self.turns[-1].refused(operation)

    @rule(operation=OPERATIONS)
    def the_user_acts(self, operation: tuple[str, int, int]) -> None:
        notebook = self.notebook
        word = operation[0]
        if word in ("run", "clear"):
            cell_id = notebook.code_cell(operation[1])
            if cell_id is not None:
                notebook.run_one(cell_id)
            return
        if word == "tag":
            if notebook.cells:
                cell = notebook.cells[operation[1] % len(notebook.cells)]
                notebook.cells = [
                    {**each, "metadata": {**each["metadata"], "mine": notebook.number}}
                    if each is cell
                    else each
                    for each in notebook.cells
                ]
            return
        edit = notebook.edit_for(operation, "user")
        if edit is None:
            return
        notebook.apply([edit])
        if edit.op == "delete":
            self.typed.pop(edit.cell_id, None)
        elif edit.op in ("insert", "update") and edit.source is not None:
            self.typed[edit.cell_id] = edit.source

    @precondition(lambda self: self.turns)
    @rule(which=st.integers(0, 5), cells=st.none() | st.sets(st.integers(0, 9), max_size=3))
    def a_turn_is_taken_back(self, which: int, cells: set[int] | None) -> None:
        turn = self.turns[which % len(self.turns)]
        ids = turn.touched
        wanted = None if cells is None else [ids[each % len(ids)] for each in cells if ids]
        before = {cell["id"]: cell for cell in plain(self.notebook.cells)}
        undone = turn.undo(wanted)
        after = {cell["id"]: cell for cell in plain(self.notebook.cells)}
        for conflict in undone.conflicts:
            assert conflict.now == after.get(conflict.cell_id, {}).get("source")
        concerned = ids if wanted is None else wanted
        for cell_id in before.keys() | after.keys():
            if cell_id not in concerned:
                assert before.get(cell_id) == after.get(cell_id)

    @precondition(lambda self: self.turns)
    @rule(which=st.integers(0, 5), one=st.integers(0, 9))
    def a_cell_is_taken_back_all_the_same(self, which: int, one: int) -> None:
        turn = self.turns[which % len(self.turns)]
        if not turn.touched:
            return
        cell_id = turn.touched[one % len(turn.touched)]
        undone = turn.undo([cell_id], overwrite=True)
        assert undone.conflicts == []
        if undone.settled:
            self.typed.pop(cell_id, None)
        first = next(s.cells[cell_id] for s in turn.kept.spans("a.ipynb") if cell_id in s.cells)
        if first.before is None:
            assert self.notebook.cell(cell_id) is None or first.left is None

    @invariant()
    def nothing_that_the_user_typed_is_lost(self) -> None:
        for cell_id, text in self.typed.items():
            cell = self.notebook.cell(cell_id)
            assert cell is not None, f"{cell_id} is gone"
            assert cell["source"] == text

    @invariant()
    def the_notebook_is_valid(self) -> None:
        if hasattr(self, "notebook"):
            self.notebook.check()


TestTogether = Together.TestCase
TestTogether.settings = STATEFUL

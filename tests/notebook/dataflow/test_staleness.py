"""Fingerprints of runs: what is stale after edits, runs, and both in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.dataflow.dependencies import dependents
from jupyter_datalayer_agent.notebook.dataflow.staleness import Staleness
from jupyter_datalayer_agent.protocol.cells import PageNotebook

from .test_dependencies import notebook


class Look:
    """A notebook that is edited and run by a user or by us: only what it shows is known."""

    def __init__(self, sources: Sequence[str]) -> None:
        self.cells = notebook(sources)
        self.count = len(self.cells)
        self.life = object()
        self.staleness = Staleness(lambda path: self.life)

    def edit(self, cell_id: str, source: str) -> None:
        self._set(cell_id, source=source)

    def run(self, cell_id: str) -> None:
        self.count += 1
        self._set(cell_id, execution_count=self.count, last_run_end_time=self.count)

    def restart(self) -> None:
        """Another kernel: the times of the runs are not known any more, and it counts anew."""
        self.life = object()
        self.count = 0
        self.cells = [cell.model_copy(update={"last_run_end_time": None}) for cell in self.cells]

    def _set(self, cell_id: str, **values: Any) -> None:
        self.cells = [
            cell.model_copy(update=values) if cell.id == cell_id else cell for cell in self.cells
        ]

    async def stale(self) -> list[str]:
        book = PageNotebook(path="a.ipynb", kernel_language="python", cells=self.cells)
        return await self.staleness.look("a.ipynb", book)


async def test_an_edit_makes_stale_what_follows_and_taking_it_back_does_not() -> None:
    look = Look(["x = 1", "y = x", "z = 1", "y"])
    assert await look.stale() == []
    look.edit("a", "x = 2")
    assert await look.stale() == ["a", "b", "d"]
    look.edit("a", "x = 1")
    assert await look.stale() == []


async def test_a_restart_leaves_stale_what_was_and_makes_nothing_else_so() -> None:
    look = Look(["x = 1", "y = x", "z = 1"])
    await look.stale()
    for cell_id in "abc":
        look.run(cell_id)
    assert await look.stale() == []
    look.edit("a", "x = 2")
    assert await look.stale() == ["a", "b"]
    look.restart()
    assert await look.stale() == ["a", "b"]


async def test_a_run_in_a_kernel_without_what_it_depends_on_is_stale_until_both_ran() -> None:
    look = Look(["x = 1", "y = x", "z = 1"])
    await look.stale()
    for cell_id in "abc":
        look.run(cell_id)
    await look.stale()
    look.restart()
    look.run("b")
    look.run("c")
    assert await look.stale() == ["b"]
    look.run("a")
    assert await look.stale() == ["b"]
    look.run("b")
    assert await look.stale() == []


async def test_a_restart_and_a_run_between_two_looks() -> None:
    look = Look(["x = 1", "y = x"])
    await look.stale()
    look.run("a")
    look.run("b")
    await look.stale()
    look.restart()
    look.run("a")  # with the count that it had
    look.run("b")
    assert await look.stale() == []


async def test_a_comment_changes_nothing() -> None:
    look = Look(["x = 1", "y = x"])
    await look.stale()
    look.edit("a", "# one\nx  =  1")
    assert await look.stale() == []
    look.edit("a", "# one\nx  =  2")
    assert await look.stale() == ["a", "b"]


async def test_running_in_order_makes_fresh_and_out_of_order_does_not() -> None:
    look = Look(["x = 1", "y = x", "print(y)"])
    await look.stale()
    look.edit("a", "x = 2")
    await look.stale()
    look.run("c")  # on top of what is stale itself
    assert await look.stale() == ["a", "b", "c"]
    look.run("a")
    assert await look.stale() == ["b", "c"]
    look.run("b")
    assert await look.stale() == ["c"]
    look.run("c")
    assert await look.stale() == []


async def test_a_cell_put_between_or_taken_away_counts() -> None:
    look = Look(["x = 1", "y = x", "print(y)"])
    await look.stale()
    new = notebook(["x = 5"], ran=False)[0].model_copy(update={"id": "n"})
    look.cells.insert(1, new)
    assert await look.stale() == ["b", "c"]
    look.cells.remove(new)
    assert await look.stale() == []
    del look.cells[0]
    assert await look.stale() == ["b", "c"]


async def test_a_move_counts_where_it_changes_what_feeds_a_cell() -> None:
    look = Look(["x = 1", "x = 2", "print(x)", "q = 1"])
    await look.stale()
    look.cells.insert(0, look.cells.pop())
    assert await look.stale() == []
    look.cells[1], look.cells[2] = look.cells[2], look.cells[1]
    assert await look.stale() == ["c"]


async def test_what_never_ran_is_not_stale() -> None:
    look = Look(["x = 1", "y = x"])
    look.cells[1] = look.cells[1].model_copy(update={"execution_count": None})
    await look.stale()
    look.edit("a", "x = 2")
    assert await look.stale() == ["a"]


async def test_a_listener_is_notified_of_changes_only() -> None:
    staleness = Staleness()
    assert not staleness.news("a.ipynb", "s1", [])
    assert staleness.news("a.ipynb", "s1", ["a"])
    assert not staleness.news("a.ipynb", "s1", ["a"])
    assert staleness.news("a.ipynb", "s2", ["a"])
    assert staleness.news("a.ipynb", "s1", [])


SOURCES = st.sampled_from(["x = 1", "x = 2", "y = x", "y = 3", "z = x + y", "z", "x += y", "w = 0"])


@given(
    st.lists(SOURCES, min_size=2, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), SOURCES), min_size=1, max_size=4),
)
def test_running_what_follows_from_the_edited_cells_leaves_nothing_stale(
    sources: list[str], edits: list[tuple[int, str]]
) -> None:
    import asyncio

    async def check() -> None:
        look = Look(sources)
        await look.stale()
        edited = set()
        for place, source in edits:
            cell = look.cells[place % len(look.cells)]
            # What followed from it before may follow from it no more, and is stale for that.
            before = set(dependents(look.cells, {cell.id}))
            look.edit(cell.id, source)
            edited |= {cell.id, *before, *dependents(look.cells, {cell.id})}
        stale = await look.stale()
        assert set(stale) <= edited
        for cell_id in stale:
            look.run(cell_id)
            await look.stale()
        assert await look.stale() == []

    asyncio.run(check())

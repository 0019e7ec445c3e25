"""Lexical documents of 1,000 blocks beside notebooks of 1,000 cells: reading and editing files."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.table import ms, show
from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks
from jupyter_datalayer_agent.notebook.lexical.blocks import InsertBlocks, UpdateBlock
from jupyter_datalayer_agent.notebook.lexical.convert import document_markdown, new_document
from jupyter_datalayer_agent.protocol.cells import CellPosition, InsertCell, UpdateCell
from tests.notebook.support import World, code, markdown, world, write_notebook

BLOCKS = 1_000
RUNS = 15
TEXT = "## Step {n}\n\nThe mean of **group {n}** is compared with `df_{n}`, see [the data](d.csv)."
CODE = 'df_{n} = df.groupby("a").mean()\nprint(df_{n}.describe())\ndf_{n}.plot()'


async def measured(act: Callable[[int], Awaitable[object]]) -> float:
    """The median time of an act, after one that warms up."""
    times = []
    for number in range(RUNS + 1):
        began = time.perf_counter()
        await act(number)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


async def of_notebook(w: World) -> Sequence[float]:
    cells = [
        code(f"c{n}", CODE.format(n=n)) if n % 2 else markdown(f"c{n}", TEXT.format(n=n))
        for n in range(BLOCKS)
    ]
    write_notebook(w.root, cells)
    document = await w.service.open("a.ipynb")

    async def update(number: int) -> object:
        cell = (await document.read()).cells[BLOCKS // 2 + 1]
        edit = UpdateCell(cell_id=cell.id, base_hash=cell.hash, source=f"x = {number}")
        return await document.edit([edit])

    async def insert(number: int) -> object:
        position = CellPosition(at="end")
        edit = InsertCell(cell_id=f"n{number}", type="code", source="x", position=position)
        return await document.edit([edit])

    return [
        await measured(lambda _: document.read()),
        await measured(update),
        await measured(insert),
    ]


async def of_lexical(w: World) -> Sequence[float]:
    nodes = [
        node
        for n in range(BLOCKS)
        for node in (
            new_blocks("jupyter-input", CODE.format(n=n))
            if n % 2
            else new_blocks("paragraph", TEXT.format(n=n).partition("\n\n")[2])
        )
    ]
    (w.root / "a.dlex").write_text(new_document(nodes))
    documents = w.service.lexical

    async def update(number: int) -> object:
        block = (await documents.read("a.dlex")).blocks.all[BLOCKS // 2 + 1]
        (node,) = new_blocks("jupyter-input", f"x = {number}")
        applied = await documents.edit("a.dlex", [UpdateBlock(block.id, block.block.hash, node)])
        # As the tool does, for the list of changes.
        return document_markdown(applied.before.blocks.state), document_markdown(
            applied.after.blocks.state
        )

    async def insert(number: int) -> object:
        new = new_blocks("jupyter-input", f"x = {number}")
        return await documents.edit("a.dlex", [InsertBlocks(BLOCKS + number, new)])

    return [
        await measured(lambda _: documents.read("a.dlex")),
        await measured(update),
        await measured(insert),
    ]


async def times() -> tuple[Sequence[float], Sequence[float]]:
    with tempfile.TemporaryDirectory() as folder:
        async with world(Path(folder)) as w:
            return await of_notebook(w), await of_lexical(w)


def main() -> None:
    """Print the table."""
    notebook, lexical = asyncio.run(times())
    names = ("read", "change one in the middle", "add one at the end")
    rows = [
        (name, ms(one), ms(other), f"{other / one:.2f}")
        for name, one, other in zip(names, notebook, lexical, strict=True)
    ]
    show(
        f"{BLOCKS:,} cells or blocks, as files",
        ("", "notebook", "Lexical document", "ratio"),
        rows,
    )

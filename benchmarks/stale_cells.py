"""The graph of names: which cells are stale after an edit, in notebooks of many cells."""

from __future__ import annotations

import asyncio
import hashlib
import statistics
import time

from benchmarks.table import ms, show
from jupyter_datalayer_agent.notebook.dataflow.dependencies import dependents
from jupyter_datalayer_agent.notebook.dataflow.names import analyse
from jupyter_datalayer_agent.notebook.dataflow.staleness import Staleness
from jupyter_datalayer_agent.protocol.cells import PageCell, PageNotebook

CELLS = (100, 1_000, 5_000)
RUNS = 9
SOURCE = """df_{n} = df_{before}.copy()
df_{n}["ratio_{n}"] = df_{n}["a"] / df_{n}["b"].clip(lower=1)
by_month_{n} = (
    df_{n}.groupby(df_{n}["date"].dt.month)
    .agg(mean=("ratio_{n}", "mean"), rows=("a", "size"))
    .reset_index()
)
fig, axes = plt.subplots(figsize=(12, 6))
axes.plot(by_month_{n}["date"], by_month_{n}["mean"], label=f"after step {n}")
for name in ["a", "b"]:
    print(name, df_{n}[name].describe())
"""


def notebook(cells: int) -> PageNotebook:
    """Cells as people write them, each using the one before; all have run."""
    made = []
    for place in range(cells):
        source = SOURCE.format(n=place, before=max(0, place - 1))
        digest = hashlib.sha256(source.encode()).hexdigest()
        made.append(
            PageCell(
                id=f"c{place}",
                index=place,
                type="code",
                source=source,
                hash=digest,
                execution_count=place + 1,
            )
        )
    return PageNotebook(path="a.ipynb", kernel_language="python", cells=made)


def edit(book: PageNotebook, index: int, source: str) -> None:
    """Give a cell another source."""
    update = {"source": source, "hash": hashlib.sha256(source.encode()).hexdigest()}
    book.cells[index] = book.cells[index].model_copy(update=update)


def main() -> None:
    """Print the table."""
    rows = []
    for cells in CELLS:
        analyse.cache_clear()
        book = notebook(cells)
        staleness = Staleness()
        began = time.perf_counter()
        asyncio.run(staleness.look("a.ipynb", book))
        first = time.perf_counter() - began
        graph, look = [], []
        for attempt in range(RUNS):
            source = SOURCE.format(n=cells // 2, before=attempt)
            edit(book, cells // 2, source)
            began = time.perf_counter()
            found = dependents(book.cells, {book.cells[cells // 2].id})
            graph.append(time.perf_counter() - began)
            assert len(found) == cells - cells // 2 - 1
            edit(book, cells // 2, f"{source}print({attempt})\n")
            began = time.perf_counter()
            asyncio.run(staleness.look("a.ipynb", book))
            look.append(time.perf_counter() - began)
        medians = [ms(statistics.median(each)) for each in (graph, look)]
        rows.append([f"{cells:,}", ms(first), *medians])
    show(
        "Stale cells after an edit of the cell in the middle",
        ["cells", "first look, nothing analysed yet", "what follows from it", "what is stale"],
        rows,
    )


if __name__ == "__main__":
    main()

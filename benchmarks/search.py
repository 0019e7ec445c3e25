"""Searching all that was said, in databases of 1,000, 10,000 and 100,000 turns.

Run: ``python -m benchmarks search``. Real SQLite files in a temporary directory, made as a version
without the index would have left them and then migrated. Times are those of ``Store.past.search``,
seen by the caller in the event loop, each query ten times in another order; p95 is over all of a
kind. Writes ``docs/search.svg``.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import sqlalchemy as sa

from jupyter_datalayer_agent.protocol.base import new_id
from jupyter_datalayer_agent.protocol.requests import ChatRequest
from jupyter_datalayer_agent.store import Store, migrations
from tests.store.query_plans import search_plans

from .corpus import Corpus
from .plot import lines
from .table import ms, show

SIZES = (1_000, 10_000, 100_000)
TURNS_A_SESSION = 50
REPEATS = 10
PLOT = Path(__file__).parents[1] / "docs" / "search.svg"
BEFORE = "0007_search"
SLOWEST = "phrases of frequent parts"
ADVERSARIAL = ("the the the the", "tion ing", "of the of the data", "plot model mean rows cell")


def queries(corpus: Corpus) -> dict[str, list[str]]:
    """What is looked for, by kind."""
    return {
        "identifier": ["df_train", "sns.heatmap", "model.fit(X", "['price']", "read_csv", "f_tr"],
        "frequent word": ["the", "data", "plot", "column", "MODEL", "values of"],
        "rare word": [corpus.rare() for _ in range(6)],
        "nowhere": ["xyzzy", "unicorn", "df_zzz", "qqq", "nothing like it", "§§§"],
        "one or two characters": ["e", "%", "pH", "漢字", "zq", '"', "*", "-1"],
        "other scripts": ["データ", "相関 ", "среднее", "температ", "größe", "متوسط"],
        "several words": [
            "price weight mean",
            "heatmap train",
            "model score test",
            "mean 漢字 plot",
        ],
        SLOWEST: list(ADVERSARIAL),
    }


def fill(path: Path, turns: int, corpus: Corpus) -> None:
    """A database of the version before the index, with ``turns`` turns."""
    engine = sa.create_engine(f"sqlite:///{path}")
    known = migrations.MIGRATIONS
    migrations.MIGRATIONS = [step for step in known if step.name < BEFORE]
    with engine.begin() as connection:
        migrations.migrate(connection, 0)
    migrations.MIGRATIONS = known
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(
            "INSERT INTO sessions (id, title, settings, created_at, updated_at, session_tokens, "
            "seq_base) VALUES (?, ?, '{}', 0, 0, 0, 0)",
            ((f"s_{n}", f"Chat {n}") for n in range(turns // TURNS_A_SESSION)),
        )
        connection.executemany(
            "INSERT INTO turns (id, session_id, position, status, mode, notebook_mode, location, "
            "model, server_id, request, message, reply, first_seq, started_at, ended_at) VALUES "
            "(?, ?, ?, 'completed', 'ask', 'off', 'panel', 'openai/x', '', '{}', ?, ?, 1, ?, ?)",
            rows(turns, corpus),
        )


def rows(turns: int, corpus: Corpus) -> Iterator[tuple[object, ...]]:
    """The turns; chats go on beside each other, five at a time."""
    for n in range(turns):
        group, place = divmod(n, TURNS_A_SESSION * 5)
        position, chat = divmod(place, 5)
        session = min(group * 5 + chat, turns // TURNS_A_SESSION - 1)
        at = 1_700_000_000_000 + n * 1000
        yield (
            f"turn_{n}", f"s_{session}", n if session != group * 5 + chat else position,
            corpus.message(), corpus.reply(), at, at + 500,
        )  # fmt: skip


class Measured:
    """What one size gave: seconds a query by kind, and what the index cost."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}
        self.processor: dict[str, list[float]] = {}
        self.migrated = 0.0
        self.size_before = 0
        self.size = 0
        self.plans: dict[str, list[str]] = {}
        self.ends: list[float] = []

    def of(self, what: Literal["times", "processor"], kinds: Sequence[str]) -> list[float]:
        """The figures of these kinds of queries."""
        figures = self.times if what == "times" else self.processor
        return [figure for kind in kinds for figure in figures[kind]]

    async def take(self, kind: str, search: Awaitable[object]) -> None:
        """Time a search."""
        processor, began = time.process_time(), time.perf_counter()
        await search
        self.times.setdefault(kind, []).append(time.perf_counter() - began)
        self.processor.setdefault(kind, []).append(time.process_time() - processor)


def p95(times: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]


async def measure(directory: Path, turns: int) -> Measured:
    """Fill, migrate, search, and end turns."""
    corpus, found = Corpus(), Measured()
    path = directory / f"{turns}.db"
    fill(path, turns, corpus)
    found.size_before = path.stat().st_size
    store = Store(f"sqlite:///{path}")
    began = time.perf_counter()
    await store.open()
    found.migrated = time.perf_counter() - began
    work = [
        (kind, query)
        for kind, some in queries(corpus).items()
        for query in some
        for _ in range(REPEATS)
    ]
    random.Random(1).shuffle(work)
    for kind, query in work:
        await found.take(kind, store.past.search(query))
    for n in range(40):
        session_id = f"s_{n % (turns // TURNS_A_SESSION)}"
        await found.take("in one session", store.past.search("mean", session_id=session_id))
    found.ends = await turn_ends(store, corpus)
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        found.plans = search_plans(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found.size = path.stat().st_size
    return found


async def turn_ends(store: Store, corpus: Corpus, turns: int = 300) -> list[float]:
    """Seconds that each end of a turn takes, in a new session."""
    session = await store.sessions.create()
    times = []
    for _ in range(turns):
        turn_id = new_id("turn")
        await store.turns.start(
            session_id=session.id,
            turn_id=turn_id,
            mode="ask",
            notebook_mode="off",
            location="panel",
            request=ChatRequest(message=corpus.message()),
        )
        reply = corpus.reply()
        began = time.perf_counter()
        await store.turns.finish(turn_id, status="completed", reply=reply)
        times.append(time.perf_counter() - began)
    return times


async def unindexed(directory: Path) -> list[float]:
    """The same ends of turns in a database without the index's triggers."""
    path = directory / "without.db"
    store = Store(f"sqlite:///{path}")
    await store.open()
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
    times = await turn_ends(store, Corpus())
    await store.close()
    return times


def main() -> None:
    """Measure every size, print the tables, draw the plot."""
    found: dict[int, Measured] = {}
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for turns in SIZES:
            found[turns] = asyncio.run(measure(directory, turns))
        without = asyncio.run(unindexed(directory))
    kinds = list(found[SIZES[0]].times)
    everything = {kind: [kind] for kind in kinds} | {
        "**all**": kinds,
        "**all but those phrases**": [kind for kind in kinds if kind != SLOWEST],
    }
    heads = ["looked for", *(f"{turns:,} turns" for turns in SIZES)]
    show(
        "Searching all that was said: median, 95th percentile, slowest",
        heads,
        [
            [name, *(three(found[turns].of("times", some)) for turns in SIZES)]
            for name, some in everything.items()
        ],
    )
    show(
        "The same, processor time alone: median, 95th percentile",
        heads,
        [
            [name, *(two(found[turns].of("processor", some)) for turns in SIZES)]
            for name, some in everything.items()
        ],
    )
    show(
        "The index: made for an older database, its size, and the end of a turn",
        ["turns", "migrated in", "file before", "file after", "end of a turn, median, p95"],
        [
            *(
                [f"{turns:,}", f"{each.migrated:.1f} s", mb(each.size_before), mb(each.size),
                 f"{ms(statistics.median(each.ends))}, {ms(p95(each.ends))}"]
                for turns, each in found.items()
            ),
            ["0, without the index", "", "", "",
             f"{ms(statistics.median(without))}, {ms(p95(without))}"],
        ],
    )  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory of the whole run: {peak:.0f} MB\n")
    print("How SQLite carries the queries out (EXPLAIN QUERY PLAN, 100,000 turns):\n")
    for name, plan in found[SIZES[-1]].plans.items():
        print(f"- {name}: " + "; ".join(f"`{step}`" for step in plan))
    PLOT.write_text(
        lines(
            "A search by turns: processor time in ms, 95th percentile",
            SIZES,
            {kind: [p95(found[turns].processor[kind]) * 1000 for turns in SIZES] for kind in kinds},
            goal=20,
        ),
        encoding="utf-8",
    )


def three(times: list[float]) -> str:
    """Median, 95th percentile and slowest."""
    return " · ".join(ms(each) for each in (statistics.median(times), p95(times), max(times)))


def two(times: list[float]) -> str:
    """Median and 95th percentile."""
    return f"{ms(statistics.median(times))} · {ms(p95(times))}"


def mb(size: int) -> str:
    """A size in MB."""
    return f"{size / 1e6:.0f} MB"


if __name__ == "__main__":
    main()

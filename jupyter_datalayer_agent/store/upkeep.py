"""What the index of the past needs after a turn, so that the turn's own commit stays small.

FTS5 would merge its pieces in the commits that add to them, now and then for a third of a second.
Here they are merged after a turn, in bounded steps, and full blocks of texts are described for the
index of short queries.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3

from ..protocol.errors import AgentError
from .database import Database
from .grams import BLOCK, grams
from .indexed import TEXTS_OF_BLOCK, text_of

LOG = logging.getLogger(__name__)

MERGED_PAGES = 64
"""Pages of the index that one step merges, about a quarter of a megabyte."""
BLOCKS_A_STEP = 2
"""A turn adds two texts, so that a backlog (of a fork) is worked off, too."""

STATE = "SELECT (SELECT max(blocks) FROM search_sealed), (SELECT max(id) FROM search_texts)"


def tidy(connection: sqlite3.Connection) -> None:
    """One step; the work is bounded, whatever the size of the database."""
    connection.execute(
        "INSERT INTO search_index (search_index, rank) VALUES ('merge', ?)", (MERGED_PAGES,)
    )
    sealed, last = connection.execute(STATE).fetchone()
    sealed = sealed or 0
    full = min((last or 0) // BLOCK, sealed + BLOCKS_A_STEP)
    for block in range(sealed + 1, full + 1):
        bounds = ((block - 1) * BLOCK, block * BLOCK)
        rows = connection.execute(TEXTS_OF_BLOCK, bounds)
        found = grams(text_of(role, value) for role, value in rows)
        connection.execute("INSERT INTO search_short (rowid, grams) VALUES (?, ?)", (block, found))
    if full > sealed:
        connection.execute("DELETE FROM search_sealed")
        connection.execute("INSERT INTO search_sealed (blocks) VALUES (?)", (full,))


class Upkeep:
    """Takes a step after each turn, while nobody waits for it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._task: asyncio.Task[None] | None = None

    def after_turn(self) -> None:
        """Take a step soon; none is begun while one is being taken."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._step())

    async def close(self) -> None:
        """Wait until the step that is being taken is done."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _step(self) -> None:
        try:
            await self._database.quick(tidy)
        except AgentError as error:
            # Nothing is lost: the next turn's step does it.
            LOG.warning("The index of conversations was not tidied: %s", error.message)
        finally:
            self._task = None

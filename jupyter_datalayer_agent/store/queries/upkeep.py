"""Maintenance after a turn in bounded steps, so that the turn's own commit stays small.

FTS5 would merge its pieces in the commits that add to them, now and then for a third of a second.
Here they are merged after a turn, and full blocks of texts are described for the index of short
queries. The turn's streamed text is joined, and so is that of turns that an older version kept.
What the file does not need any more goes back to the disk.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3

from ...protocol.errors import AgentError
from ..file.database import Database, is_to_be_rebuilt, shrink
from ..search import BLOCK, TEXTS_OF_BLOCK, grams, text_of
from .event_log import is_unjoined, join_some

LOG = logging.getLogger(__name__)

MERGED_PAGES = 64
"""Pages of the index that one step merges, about a quarter of a megabyte."""
BLOCKS_A_STEP = 2
"""A turn adds two texts, so that a backlog (of a fork) is worked off, too."""

PAUSE_SECONDS = 0.02
"""Before each step, so that other writers wait for one step at most."""

QUIET_SECONDS = 60.0
"""Idle time before the whole file is rebuilt."""

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
    """Runs after each turn, in the background. ``vacuum``: whether the file may shrink."""

    def __init__(self, database: Database, vacuum: bool = True) -> None:
        self._database = database
        self._vacuum = vacuum
        self._task: asyncio.Task[None] | None = None
        self._asked = False
        self._closing = asyncio.Event()
        self._woken = asyncio.Event()

    def begin(self) -> None:
        """Do soon what a turn's end, or a deletion, leaves to do."""
        self._asked = True
        self._woken.set()
        self.go_on()

    def go_on(self) -> None:
        """Do soon what is left from before; where nothing is, nothing is written."""
        if self._task is None and not self._closing.is_set():
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def close(self) -> None:
        """Wait for the current step; the rest is done later."""
        self._closing.set()
        self._woken.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _work(self) -> None:
        try:
            more = True
            while self._asked or (more and not self._closing.is_set()):
                if self._asked:
                    self._asked = False
                    await self._database.quick(tidy)
                await _within(PAUSE_SECONDS, self._closing)
                more = await self._database.look(is_unjoined)
                more = more and await self._database.quick(join_some)
                more |= self._vacuum and await self._database.bare(shrink)
                if not more and self._vacuum:
                    await self._rebuild()
        except AgentError as error:
            # Nothing is lost: it runs again after the next turn.
            LOG.warning("The conversation database was not tidied: %s", error.message)
        finally:
            self._task = None

    async def _rebuild(self) -> None:
        """Rebuild the file if that is worthwhile, after some idle time."""
        if not await self._database.look(is_to_be_rebuilt):
            return
        self._woken.clear()
        if self._asked or self._closing.is_set():
            return
        if not await _within(QUIET_SECONDS, self._woken) and await self._database.rebuild():
            LOG.info("The conversation database was written anew without its free pages")


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Whether it comes within so many seconds."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except (TimeoutError, asyncio.TimeoutError):
        return False
    return True

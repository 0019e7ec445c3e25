"""The store's interface. See the package's docstring."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakValueDictionary

from ..imports import load
from ..protocol.errors import AgentError
from ..protocol.requests import DatabaseHealth
from .records import EventReader, StoredEvent

if TYPE_CHECKING:
    from .repositories import Repositories

T = TypeVar("T")

log = logging.getLogger(__name__)


class Store:
    """Conversations in an SQLite file: opens and closes it, and passes on its events.

    Each subject has an object that reads and writes it, such as ``store.plans``. ``database_url``
    is ``sqlite:////absolute/path`` or ``sqlite://`` (in memory); None means
    ``datalayer-agent/agent.db`` in Jupyter's data directory. The file is opened at the first use.
    When a call returns, its changes are in the file. The ``events`` that are given to a call get
    their ``seq``, ``turn_id`` and ``at`` in its transaction; after the commit, and before the call
    returns, they are passed to the session's reader (``follow``). If the database cannot be used,
    every call raises ``AgentError``, which says what to do; the next call tries again. ``vacuum``:
    whether unused space goes back to the disk. ``root`` is the directory that documents' paths are
    relative to, None if there is none. To be used from one event loop.
    """

    def __init__(
        self, database_url: str | None = None, *, vacuum: bool = True, root: str | None = None
    ) -> None:
        self._database_url = database_url
        self._vacuum = vacuum
        self._root = root
        self._opened: Repositories | None = None
        self._opening = asyncio.Lock()
        self._closed = False
        self._readers: WeakValueDictionary[str, EventReader] = WeakValueDictionary()
        self.sessions = self._subject(lambda opened: opened.sessions)
        self.turns = self._subject(lambda opened: opened.turns)
        self.turn_reader = self._subject(lambda opened: opened.turn_reader)
        self.events = self._subject(lambda opened: opened.events)
        self.queue = self._subject(lambda opened: opened.queue)
        self.plans = self._subject(lambda opened: opened.plans)
        self.answers = self._subject(lambda opened: opened.answers)
        self.past = self._subject(lambda opened: opened.past)
        self.checkpoints = self._subject(lambda opened: opened.checkpoints)
        self.withdrawals = self._subject(lambda opened: opened.withdrawals)
        self.forks = self._subject(lambda opened: opened.forks)
        self.compactions = self._subject(lambda opened: opened.compactions)
        self.usage = self._subject(lambda opened: opened.usage)
        self.datasets = self._subject(lambda opened: opened.datasets)
        self.tutorials = self._subject(lambda opened: opened.tutorials)
        self.renames = self._subject(lambda opened: opened.renames)

    async def open(self) -> None:
        """Open the file, migrate it, and end the turns of servers that died. Idempotent."""
        self._closed = False
        await self._open()

    @property
    def health(self) -> DatabaseHealth | None:
        """The file system and journal mode of an open database on a network file system, else
        None."""
        database = self._opened.database if self._opened is not None else None
        if database is None or database.network is None:
            return None
        return DatabaseHealth(file_system=database.network, journal=database.journal)

    async def close(self) -> None:
        """Finish what is being written and close the file. Idempotent."""
        self._closed = True
        async with self._opening:
            opened, self._opened = self._opened, None
            if opened is not None:
                await opened.close()

    async def _open(self) -> Repositories:
        if self._opened is not None:
            return self._opened
        async with self._opening:
            if self._closed:
                raise AgentError("internal", "The conversation database is closed.")
            if self._opened is None:
                # The import takes a while: in a thread, so that the server stays responsive.
                name = f"{__package__}.repositories"
                module = await asyncio.to_thread(load, name)
                opened: type[Repositories] = module.Repositories
                self._opened = await opened.open(
                    self._database_url, self._publish, self._vacuum, self._root
                )
            return self._opened

    def _subject(self, choose: Callable[[Repositories], T]) -> T:
        return cast(T, _LazyRepository(self._open, choose))

    def follow(self, session_id: str, reader: EventReader) -> None:
        """Pass the session's events to this reader from now on, as long as the caller keeps a
        reference to it. Events that other servers store are not passed on."""
        self._readers[session_id] = reader

    def _publish(self, stored: Sequence[StoredEvent]) -> None:
        for each in stored:
            reader = self._readers.get(each.session_id)
            if reader is not None:
                try:
                    reader.take(each)
                except Exception:
                    # The store's boundary: the event is stored, so a reader's failure must not
                    # fail the call.
                    log.exception("Session %s: an event was not passed on", each.session_id)

    async def recover(self, session_id: str | None = None) -> list[str]:
        """End the orphaned running turns of one session or of all, and return their ids.

        ``open`` does this for all. To be called when a session is loaded into memory, including
        after the store failed in the middle of a turn. The turn keeps what it had: its unanswered
        calls get the output "aborted", the text that was shown becomes a message item, and a
        ``turn_aborted`` event with the reason ``shutdown`` is added. A further answer that was in
        progress is reported as stopped.
        """
        opened = await self._open()
        recovered = await opened.turns.recover(session_id)
        await opened.answers.recover(session_id)
        return recovered


class _LazyRepository:
    """Has the methods of a repository, all of them async. Each opens the database first, so that
    SQLAlchemy is imported only when one is called."""

    def __init__(
        self,
        opened: Callable[[], Awaitable[Repositories]],
        choose: Callable[[Repositories], object],
    ) -> None:
        self._opened = opened
        self._choose = choose

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        if method.startswith("_"):
            raise AttributeError(method)

        async def call(*args: Any, **options: Any) -> Any:
            return await getattr(self._choose(await self._opened()), method)(*args, **options)

        return call

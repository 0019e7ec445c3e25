"""Open pages: what each shows, and requests to them. Knows nothing of the transport.

A page is known by its ``client_id`` for as long as its browser tab lives; connections come and go.
A request survives a short loss of the connection, since the page continues its work and answers on
the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any

from ...protocol.base import Wire
from ...protocol.page import (
    DocumentTouched,
    EditorState,
    FileRenamed,
    FileWritten,
    ModelsChanged,
    OpenNotebook,
    PageMethod,
    PageProgress,
    PageResponse,
    SessionsWaiting,
    WaitingSession,
)
from ...protocol.renames import Rename
from .tab import NotOpen, OnProgress, PageGone, PageSilent, Send, Tab, renamed_state

__all__ = ["NotOpen", "Page", "PageGone", "PageHub", "PageSilent"]

RETURN_SECONDS = 15.0
_MOST_WRITTEN = 1000


class Page:
    """One connection of a browser tab. Requests outlive it where the tab connects again."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.reported: frozenset[str] = frozenset()
        """The paths of the documents in the newest state of this connection."""
        self.renames: list[Rename] = []
        """Those that were sent over this connection."""

    @property
    def client_id(self) -> str:
        """The tab's id."""
        return self.tab.client_id

    @property
    def state(self) -> EditorState:
        """What the tab reported last."""
        return self.tab.state

    @property
    def connected(self) -> bool:
        """Whether the tab has a connection now."""
        return self.tab.connected.is_set()

    @property
    def is_away(self) -> bool:
        """Whether the connection was lost, and the page is still there and expected back."""
        return not (self.connected or self.tab.left or self.tab.gone.is_set())

    @property
    def last_active(self) -> float:
        """Monotonic time, in seconds, of the last thing that came from the tab."""
        return self.tab.last_active

    def notebook(self, path: str) -> OpenNotebook | None:
        """What the page shows of the notebook, if it has it open."""
        return next((each for each in self.state.notebooks if each.path == path), None)

    def shows(self, path: str) -> bool:
        """Whether the page has this notebook or text file open."""
        return path in self.state.paths()

    async def request(
        self,
        method: PageMethod,
        params: Wire,
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        request_id: str | None = None,
    ) -> Any:
        """Ask the page; see ``Tab.request``."""
        return await self.tab.request(
            method, params, timeout=timeout, on_progress=on_progress, request_id=request_id
        )


class PageHub:
    """Every page that is connected, or was within the last 15 seconds."""

    def __init__(self, *, return_seconds: float = RETURN_SECONDS) -> None:
        self.return_seconds = return_seconds
        self._pages: dict[str, Page] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Future[None]] = set()
        self.waiting: list[WaitingSession] = []
        # The newest last; a page that reports one of them may have loaded what was there before.
        self._written: dict[str, None] = {}
        self._watchers: list[Callable[[], None]] = []

    def __iter__(self) -> Iterator[Page]:
        return iter(list(self._pages.values()))

    def get(self, client_id: str | None) -> Page | None:
        """The newest connection of that tab, there or expected back."""
        return self._pages.get(client_id) if client_id else None

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call this when a page reports its state, a page comes or goes, or a document was
        changed; returns how to stop that."""
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed)

    def _changed(self) -> None:
        for changed in list(self._watchers):
            changed()

    def connect(
        self,
        client_id: str,
        send: Send,
        pending_request_ids: Sequence[str] | None = None,
        missed: Iterable[Rename] = (),
    ) -> Page:
        """A page connected. ``send`` takes ``ServerMessage``s, and may be async. ``missed`` are the
        renames since its last connection, of which it is told before anything else.

        An older connection of the same tab is superseded.
        """
        timer = self._timers.pop(client_id, None)
        if timer is not None:
            timer.cancel()
        known = self._pages.get(client_id)
        page = Page(known.tab if known is not None else Tab(client_id))
        self._pages[client_id] = page
        sending = page.tab.attach(send, pending_request_ids)
        for rename in missed:
            if not rename.is_deletion:
                self._notify_renamed(page, rename)
        self._carry_out(sending)
        return page

    def _carry_out(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def disconnect(self, page: Page, *, left: bool = False) -> None:
        """A connection closed; with ``left`` the page reported it itself, as it was unloaded.

        Nothing happens if the tab has a newer connection.
        """
        if self._pages.get(page.client_id) is not page or not page.connected:
            return
        page.tab.detach(left=left)
        self._changed()
        loop = asyncio.get_running_loop()
        self._timers[page.client_id] = loop.call_later(self.return_seconds, self._forget, page)

    def _forget(self, page: Page) -> None:
        self._timers.pop(page.client_id, None)
        if self._pages.get(page.client_id) is page:
            del self._pages[page.client_id]
        page.tab.gone.set()

    def on_state(self, page: Page, state: EditorState) -> None:
        """The page reports what it shows."""
        for rename in page.renames:
            if rename.at > state.renames_known_until:
                state = renamed_state(state, rename)
        page.tab.state = state
        page.tab.last_active = time.monotonic()
        before, page.reported = page.reported, state.paths()
        for path in page.reported - before:
            if path in self._written:
                self._carry_out(page.tab.notify(FileWritten(path=path)))
        self._changed()

    def on_response(self, page: Page, response: PageResponse) -> None:
        """The page answers a request."""
        page.tab.answer(response)

    def on_progress(self, page: Page, progress: PageProgress) -> None:
        """The page reports the progress of a run."""
        page.tab.progress(progress)

    def active_notebook(self, client_id: str | None) -> str | None:
        """The path of the notebook whose editor is the active one in that page."""
        page = self.get(client_id)
        active = page.state.active_document if page is not None else None
        return active.path if active is not None and active.kind == "notebook" else None

    def page_with(self, path: str, prefer: str | None = None) -> Page | None:
        """The one page to ask about a notebook: ``prefer`` if it has it open, else the page with
        it that was active last, else ``prefer`` again where its connection was lost and it is
        expected back. Nobody waits for another page that is away, nor for one that was closed."""
        return self._one_of([page for page in self if page.notebook(path) is not None], prefer)

    def page_with_file(self, path: str, prefer: str | None = None) -> Page | None:
        """The one page to ask about a text file, chosen as for a notebook."""
        return self._one_of([page for page in self if path in page.state.files], prefer)

    def _one_of(self, showing: list[Page], prefer: str | None) -> Page | None:
        connected = [page for page in showing if page.connected]
        away = [page for page in showing if page.client_id == prefer and not page.tab.left]
        return max(
            connected or away,
            key=lambda page: (page.client_id == prefer, page.last_active),
            default=None,
        )

    async def touched(self, path: str, session_id: str) -> None:
        """Tell every page that shows this notebook or file which session changed it."""
        message = DocumentTouched(session_id=session_id, path=path)
        for page in self:
            if page.shows(path):
                await page.tab.notify(message)
        self._changed()

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``: every page is told, since only the one that renamed knows of it."""
        rename.rekey(self._written)
        for page in self:
            page.reported = frozenset(rename.paths(page.reported))
            page.tab.renamed(rename)
            if page.connected:
                self._notify_renamed(page, rename)
        self._changed()

    def _notify_renamed(self, page: Page, rename: Rename) -> None:
        page.renames.append(rename)
        # At once: requests with the newer path come after it.
        sending = page.tab.post(
            FileRenamed(old_path=rename.old, path=rename.new, renames_known_until=rename.at)
        )
        if sending is not None:
            self._carry_out(sending)

    def written(self, path: str) -> None:
        """The server wrote this file itself: the pages that show it compare theirs, those that do
        now, and those that are about to report that they do."""
        self._written.pop(path, None)
        self._written[path] = None
        if len(self._written) > _MOST_WRITTEN:
            del self._written[next(iter(self._written))]
        for page in self:
            if page.shows(path):
                self._carry_out(page.tab.notify(FileWritten(path=path)))

    def notify_waiting(self, sessions: list[WaitingSession]) -> None:
        """Notify every page of the sessions that wait for the user, where they changed.

        ``waiting`` has them for a page that comes later.
        """
        if sessions != self.waiting:
            self.waiting = sessions
            for page in self:
                self._carry_out(page.tab.notify(SessionsWaiting(sessions=sessions)))

    def notify_models_changed(self) -> None:
        """Notify every page that other models can be chosen, or another one is the default."""
        for page in self:
            self._carry_out(page.tab.notify(ModelsChanged()))

    async def close(self) -> None:
        """Forget every page; requests that wait end with ``PageGone``."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for page in list(self._pages.values()):
            self._forget(page)
        await asyncio.gather(*self._tasks, return_exceptions=True)

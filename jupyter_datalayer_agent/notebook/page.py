"""Open pages: their documents, and requests to them."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any

from ..protocol.base import Wire, new_id
from ..protocol.page import (
    DocumentTouched,
    EditorState,
    FileRenamed,
    FileWritten,
    ModelsChanged,
    OpenNotebook,
    PageFailure,
    PageMethod,
    PageProgress,
    PageRequest,
    PageResponse,
    ServerMessage,
    SessionsWaiting,
    WaitingSession,
)
from ..protocol.renames import Rename
from .document import DocumentError

# Requests to one browser tab, which outlive its connections.


log = logging.getLogger(__name__)

Send = Callable[[ServerMessage], Awaitable[None] | None]
OnProgress = Callable[[PageProgress], Awaitable[None]]

_CODES = {
    "not_open": "not_found",
    "not_found": "not_found",
    "stale": "stale",
    "kernel_error": "kernel_error",
    "invalid": "invalid_arguments",
    "internal": "internal",
}


class PageGone(Exception):
    """The page went away before it answered, and did not come back in time (or was reloaded)."""


class PageSilent(DocumentError):
    """The page is connected, and did not answer in time: what it did is not known."""


class NotOpen(DocumentError):
    """The page no longer has the document open; nothing was done."""


class _Pending:
    def __init__(
        self, method: PageMethod, path: str | None, on_progress: OnProgress | None
    ) -> None:
        self.method = method
        self.path = path
        self.future: asyncio.Future[PageResponse] = asyncio.get_running_loop().create_future()
        self.on_progress = on_progress
        self.progress: asyncio.Queue[PageProgress | None] = asyncio.Queue()


class Tab:
    """A browser tab by its ``client_id``, connected or expected back.

    ``last_active`` is a monotonic time in seconds, of the last thing that came from the page.
    ``left`` is true after the page was unloaded, until the tab has another one.
    """

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.state = EditorState()
        self.last_active = time.monotonic()
        self.connected = asyncio.Event()
        self.gone = asyncio.Event()
        self.left = False
        self._send: Send | None = None
        self._pending: dict[str, _Pending] = {}
        self._unsent: list[PageRequest] = []

    async def request(
        self,
        method: PageMethod,
        params: Wire,
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        request_id: str | None = None,
    ) -> Any:
        """Ask the page; its ``result``. ``timeout`` in seconds (None: as long as it takes).

        Raises ``DocumentError`` for what the page could not do (``NotOpen`` where it has closed
        the document), ``PageSilent`` when it does not answer, ``PageGone`` when it went away.
        """
        if self.left:
            raise PageGone("The page was closed.")
        request = PageRequest(
            request_id=request_id or new_id("req"), method=method, params=params.to_wire()
        )
        path = request.params.get("path")
        pending = self._pending[request.request_id] = _Pending(method, path, on_progress)
        reporting = asyncio.ensure_future(_report(pending))
        try:
            await self._deliver(request)
            response = await self._response(pending, timeout, method)
            pending.progress.put_nowait(None)
            await reporting
        finally:
            reporting.cancel()
            self._pending.pop(request.request_id, None)
        if response.ok:
            return response.result
        raise _failure(response.error)

    async def notify(self, message: ServerMessage) -> None:
        """Send what wants no answer. A tab without a connection does not hear of it."""
        if (sending := self.post(message)) is not None:
            await sending

    def post(self, message: ServerMessage) -> Awaitable[None] | None:
        """``notify`` before anything else is sent; what is left to wait for."""
        try:
            sending = None if self._send is None else self._send(message)
        except (OSError, RuntimeError) as error:
            log.debug("could not notify page %s: %s", self.client_id, error)
            return None
        return None if sending is None else self._posted(sending)

    async def _posted(self, sending: Awaitable[None]) -> None:
        try:
            await sending
        except (OSError, RuntimeError) as error:
            log.debug("could not notify page %s: %s", self.client_id, error)

    async def _response(
        self, pending: _Pending, timeout: float | None, method: str
    ) -> PageResponse:
        gone = asyncio.ensure_future(self.gone.wait())
        try:
            either: list[asyncio.Future[Any]] = [pending.future, gone]
            await asyncio.wait(either, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
        if pending.future.done():
            return pending.future.result()
        if self.gone.is_set():
            raise PageGone("The page was closed before it answered.")
        raise PageSilent(
            "internal",
            f"The page did not answer {method} within {timeout:g} s; it is unknown whether it was "
            "done.",
            "Read the notebook again before continuing.",
        )

    async def _deliver(self, request: PageRequest) -> None:
        if self._send is None:
            self._unsent.append(request)  # goes out when the page is back
            return
        try:
            sending = self._send(request)
            if inspect.isawaitable(sending):
                await sending
        except (OSError, RuntimeError) as error:
            log.debug("could not send to page %s: %s", self.client_id, error)
            self._unsent.append(request)

    def attach(self, send: Send, pending: Sequence[str] | None) -> Awaitable[None]:
        """A connection is there; ``pending`` as in the protocol's ``Hello``.

        What is returned sends the requests that had to wait for it.
        """
        self._send = send
        self.left = False
        self.connected.set()
        self.gone.clear()
        self.last_active = time.monotonic()
        unsent, self._unsent = self._unsent, []
        waiting = {request.request_id for request in unsent}
        for request_id, each in self._pending.items():
            lost = pending is not None and request_id not in pending and request_id not in waiting
            if lost and not each.future.done():
                each.future.set_exception(PageGone("The page was reloaded."))
        return self._deliver_all(unsent)

    async def _deliver_all(self, requests: Sequence[PageRequest]) -> None:
        for request in requests:
            if request.request_id in self._pending:
                await self._deliver(request)

    def detach(self, *, left: bool) -> None:
        """The connection is lost and the page may come back, or it was unloaded (``left``).

        A page that was unloaded answers nothing any more, so that nothing waits for it but a run:
        its cells continue in the kernel, and the tab may load the notebook again.
        """
        self._send = None
        self.connected.clear()
        self.left = left
        if not left:
            return
        for each in self._pending.values():
            if each.method != "notebook.run" and not each.future.done():
                each.future.set_exception(PageGone("The page was closed before it answered."))

    def answer(self, response: PageResponse) -> None:
        """Take the page's answer; one to an abandoned request is ignored."""
        self.last_active = time.monotonic()
        pending = self._pending.get(response.request_id)
        if pending is None or pending.future.done():
            return
        if response.error is not None and response.error.code == "not_open":
            # The page closed it, and its state will show it; what it reports after this is newer.
            left = [each for each in self.state.notebooks if each.path != pending.path]
            files = [each for each in self.state.files if each != pending.path]
            self.state = self.state.model_copy(update={"notebooks": left, "files": files})
        pending.future.set_result(response)

    def awaited(self, request_ids: Iterable[str]) -> list[str]:
        """Those of the requests whose answer somebody waits for."""
        return [each for each in request_ids if each in self._pending]

    def renamed(self, rename: Rename) -> None:
        """What it has open has newer paths."""
        self.state = renamed_state(self.state, rename)
        for each in self._pending.values():
            each.path = rename.optional(each.path)
        for request in self._unsent:
            request.params = rename.in_json(request.params)

    def progress(self, progress: PageProgress) -> None:
        """Take news of a run."""
        self.last_active = time.monotonic()
        pending = self._pending.get(progress.request_id)
        if pending is not None:
            pending.progress.put_nowait(progress)


def renamed_state(state: EditorState, rename: Rename) -> EditorState:
    """The state of a page, with the paths that hold after a rename."""
    active = state.active_document
    if active is not None:
        active = active.model_copy(update={"path": rename.path(active.path)})
    notebooks = [
        each.model_copy(update={"path": rename.path(each.path)}) for each in state.notebooks
    ]
    files = rename.paths(state.files)
    return state.model_copy(
        update={"active_document": active, "notebooks": notebooks, "files": files}
    )


async def _report(pending: _Pending) -> None:
    """Pass on news of a run, in order, until None, which ends it."""
    while (progress := await pending.progress.get()) is not None:
        if pending.on_progress is not None:
            await pending.on_progress(progress)


def _failure(failure: PageFailure | None) -> DocumentError:
    if failure is None:
        return DocumentError("internal", "The page could not do it and gave no reason.")
    if failure.code == "not_open":
        return NotOpen("not_found", failure.message)
    code: Any = _CODES[failure.code]
    hint = "Read the cells again and base the change on them." if code == "stale" else None
    return DocumentError(code, failure.message, hint, failure.cells or ())


# Open pages: what each shows, and requests to them. Knows nothing of the transport.
#
# A page is known by its ``client_id`` for as long as its browser tab lives; connections come and
# go. A request survives a short loss of the connection, since the page continues its work and
# answers on the next one.


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

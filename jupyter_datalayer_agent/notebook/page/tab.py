"""Requests to one browser tab, which outlive its connections."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from ...protocol.base import Wire, new_id
from ...protocol.page import (
    EditorState,
    PageFailure,
    PageMethod,
    PageProgress,
    PageRequest,
    PageResponse,
    ServerMessage,
)
from ...protocol.renames import Rename
from ..document import DocumentError

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

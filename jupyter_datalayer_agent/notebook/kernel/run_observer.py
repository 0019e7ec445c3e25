"""What the kernel reports while a page runs cells in it: all that is left when the page goes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from ...protocol.cells import CellRunError
from ...protocol.page import PageProgress
from ..document import DocumentError
from .connection import KernelConnection, KernelDied, Message
from .execution import INTERRUPT_SECONDS, LOST_SECONDS
from .kernels import Kernels
from .outputs import OUTPUT_MESSAGES, CellOutputs

log = logging.getLogger(__name__)

# A connection to a kernel takes some milliseconds, or as long as the machine is busy: without it
# nobody could stop a run whose page has gone, or say how it ended. A kernel that works has the run
# in its queue and can be listened to later.
READY_SECONDS = 10.0
BUSY_READY_SECONDS = 0.2
# The notebook's kernel may still have to be started, by the page.
LOOK_EVERY = 0.1
# How much later than the page we may hear of a cell that begins.
HEAR_SECONDS = 2.0


class Request:
    """Somebody's request to the kernel, as far as it was published while we listened.

    ``code`` is None where we came too late for its beginning; ``began_at`` is a monotonic time.
    """

    def __init__(self, msg_id: str) -> None:
        self.msg_id = msg_id
        self.code: str | None = None
        self.execution_count: int | None = None
        self.error: CellRunError | None = None
        self.outputs = CellOutputs()
        self.began_at = time.monotonic()
        self.ended = asyncio.Event()
        self.dropped = False
        self.on_output: Callable[[], None] = lambda: None
        self._times: list[float] = []

    def take(self, message: Message) -> None:
        """One published message."""
        kind, content = message["header"]["msg_type"], message["content"]
        if self.ended.is_set():
            return
        if kind == "execute_input":
            self.code = str(content.get("code", ""))
            self.execution_count = content.get("execution_count")
            self.outputs.execution_count = self.execution_count
            self._times.append(_time_of(message))
        elif kind == "status" and content.get("execution_state") == "idle":
            self._times.append(_time_of(message))
            self.ended.set()
        elif kind in OUTPUT_MESSAGES:
            self._output(kind, content)

    def _output(self, kind: str, content: dict[str, Any]) -> None:
        self.outputs.add(kind, content)
        if kind == "error":
            self.error = CellRunError(
                ename=str(content.get("ename", "Error")),
                evalue=str(content.get("evalue", "")),
                traceback=[str(line) for line in content.get("traceback", [])],
            )
        self.on_output()

    def drop(self) -> None:
        """Forget the outputs of what is nothing to us."""
        self.dropped = True
        self.outputs.clear()

    @property
    def duration_ms(self) -> float | None:
        """From its beginning to its end by the kernel's clock, where both were seen."""
        if self.code is None or len(self._times) < 2:
            return None
        return (self._times[-1] - self._times[0]) * 1000

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it can be missing."""
        return self.code is not None and not self.dropped


class RunObserver:
    """Listens to the notebook's kernel for as long as a page runs cells in it.

    While the page is connected its reports count. After that, its requests and their results are
    known from here.
    """

    def __init__(self, kernels: Kernels, path: str) -> None:
        self.path = path
        self.connection: KernelConnection | None = None
        self.requests: dict[str, Request] = {}
        # What the page reported: the cells that began, with the kernel's requests, and ended.
        self.begun: dict[str, str | None] = {}
        self.finished: set[str] = set()
        self.was_stopped = False
        self._kernels = kernels
        self._sources: frozenset[str] = frozenset()
        self._claimed: set[str] = set()
        self._ready = asyncio.Event()
        self._news = asyncio.Event()
        self._task = asyncio.ensure_future(self._listen())

    async def close(self) -> None:
        """Stop listening."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def ready(self, sources: Iterable[str]) -> None:
        """Wait until nothing of a run of these sources is missed, but not for long."""
        self._sources = frozenset(sources)
        if self._ready.is_set():
            return
        waiting = asyncio.ensure_future(self._ready.wait())
        try:
            await asyncio.wait([waiting], timeout=BUSY_READY_SECONDS)
            if not (self._ready.is_set() or await self._kernel_works()):
                await asyncio.wait([waiting], timeout=READY_SECONDS)
        finally:
            waiting.cancel()

    async def _kernel_works(self) -> bool:
        session = await self._kernels.session_of(self.path)
        return session is not None and session["kernel"].get("execution_state") == "busy"

    def note(self, progress: PageProgress) -> None:
        """The page reports on a cell."""
        if progress.state == "started":
            self.begun[progress.cell_id] = progress.msg_id
        elif progress.state == "finished":
            self.finished.add(progress.cell_id)

    async def _listen(self) -> None:
        try:
            kernel_id = await self._kernel_id()
            async with self._kernels.connected(kernel_id) as connection:
                self.connection = connection
                stop = connection.watch_all(self._message)
                self._ready.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    stop()
        except DocumentError:
            return  # there is no kernel any more; who waits for the end of a run is notified
        except Exception:
            # Whatever kernels there are: a page's run does not depend on whether we hear it.
            log.warning("the kernel of %s cannot be listened to", self.path, exc_info=True)
        finally:
            self._ready.set()

    async def _kernel_id(self) -> str:
        while (session := await self._kernels.session_of(self.path)) is None:
            self._ready.set()  # there is nothing to be missed yet
            await asyncio.sleep(LOOK_EVERY)
        return str(session["kernel"]["id"])

    def _message(self, message: Message) -> None:
        parent = message.get("parent_header") or {}
        if parent.get("msg_type") != "execute_request":
            return
        msg_id = str(parent["msg_id"])
        request = self.requests.get(msg_id)
        if request is None:
            request = self.requests[msg_id] = Request(msg_id)
        request.take(message)
        if request.ended.is_set() and not self._is_ours(request):
            request.drop()
        self._news.set()

    def _is_ours(self, request: Request) -> bool:
        named = request.msg_id in self.begun.values()
        return named or request.code is None or request.code in self._sources

    def find(self, cell_id: str, source: str) -> Request | None:
        """The request that runs or ran a cell that the page reported, if it was seen."""
        msg_id = self.begun.get(cell_id)
        if msg_id is not None:
            return self._claim(self.requests.get(msg_id))
        return self._match(source) or self._match(None)

    async def unreported(self, source: str) -> Request | None:
        """A request that the page sent, and could not report on any more."""
        if self.connection is None:
            return None
        # What the page sent was sent before this question, so that it begins before the answer.
        free = asyncio.ensure_future(self.connection.wait_until_free())
        try:
            while (request := self._match(source)) is None and not free.done():
                self._news.clear()
                news = asyncio.ensure_future(self._news.wait())
                await asyncio.wait([free, news], return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
            if free.done() and isinstance(free.exception(), KernelDied):
                return None
            return request
        finally:
            free.cancel()

    def _match(self, code: str | None) -> Request | None:
        named = set(self.begun.values())
        for request in self.requests.values():
            if request.code == code and request.msg_id not in self._claimed | named:
                return self._claim(request)
        return None

    def _claim(self, request: Request | None) -> Request | None:
        if request is not None:
            self._claimed.add(request.msg_id)
        return request

    async def interrupt(self, request: Request) -> bool:
        """Interrupt a request that runs, and await its end; whether it ended."""
        connection = self.connection
        assert connection is not None
        just_begun = time.monotonic() - request.began_at < LOST_SECONDS
        try:
            await connection.interrupt()
            if just_begun and not await connection.wait(request.ended, LOST_SECONDS):
                await connection.interrupt()  # as in Execution: the kernel may lose the first
            return await connection.wait(request.ended, INTERRUPT_SECONDS)
        except KernelDied:
            return True

    async def stop(self) -> None:
        """Stop what the page had the kernel run, where the page itself cannot any more."""
        self.was_stopped = True
        await self._hear_of_begun()
        for request in list(self.requests.values()):
            if self._was_reported(request) and not request.ended.is_set():
                await self.interrupt(request)

    def _was_reported(self, request: Request) -> bool:
        named = set(self.begun.values())
        return request.msg_id in named or (None in named and request.code in self._sources)

    async def _hear_of_begun(self) -> None:
        """Wait until the kernel has reported what the page did, too: that comes another way,
        and may come later."""
        deadline = time.monotonic() + HEAR_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            heard = [request for request in self.requests.values() if self._was_reported(request)]
            if len(heard) >= len(self.begun):
                return
            self._news.clear()
            news = asyncio.ensure_future(self._news.wait())
            await asyncio.wait([news], timeout=left)
            news.cancel()


def _time_of(message: Message) -> float:
    """When the kernel sent a message, in seconds since 1970."""
    date = message["header"].get("date")
    return date.timestamp() if isinstance(date, datetime) else time.time()

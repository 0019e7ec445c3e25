"""Asks about what the agent's code is about to do beyond its kernel, while the code waits.

``acts_in_kernel`` finds out what that is, inside the kernel, and asks by a message that the kernel
publishes; the answer goes back by the control channel, which the kernel reads while code runs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir

from ...protocol.base import new_id
from ..document import DocumentError
from .acts_in_kernel import ASK, DECISION, METADATA
from .connection import KernelConnection, Message
from .expressions import expression, found_in

log = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def _source() -> str:
    folder = Path(__file__).parent
    texts = [
        (folder / f"{each}.py").read_text(encoding="utf-8")
        for each in ("acts_in_kernel", "native_in_kernel")
    ]
    # One text for both: what the first says of the language holds for all of it.
    return "\n".join([texts[0], texts[1].replace("from __future__ import annotations\n", "")])


def installation(protected: list[str], private: list[str], harmless: list[str]) -> str:
    """Python that installs the guard in the kernel that evaluates it."""
    return expression(_source(), f"install({protected!r}, {private!r}, {harmless!r}, NativeCalls)")


INSTALLED = "installed"


@dataclass(frozen=True)
class Act:
    """An act that code of the agent is about to carry out.

    ``kind`` ("removes or moves files"), ``verb`` and ``target`` ("delete", "cars.csv"), ``more``
    what else there is to know of it; ``path`` is the whole target, ``line`` the cell's, from 1.
    ``covers``: the question is about this act and all like it in that folder (or all of them, if it
    is empty), since the run has asked several times. ``by_shell_line``: a "!" line or a magic of
    IPython's runs it, whose text the cell shows. ``folder`` is the one that the kernel works in.
    """

    kind: str
    verb: str
    target: str
    path: str
    more: str
    line: int | None
    cell_id: str | None
    by_shell_line: bool
    covers: str | None = None
    folder: str | None = None


@dataclass(frozen=True)
class ActDecision:
    """Whether the act may go on; ``reason`` is why not. ``only``: the decision is about this act,
    whatever else the question covered."""

    approved: bool
    reason: str | None = None
    only: bool = False


@dataclass(frozen=True)
class RunNow:
    """Code that is about to be sent to a kernel: its parts in order, with the ids of their cells.

    ``is_watched``: the guard works in that kernel.
    """

    kernel_id: str
    is_watched: bool
    parts: tuple[tuple[str | None, str], ...]


class NotAllowed(DocumentError):
    """The user, or nobody, allowed this code to run here. Nothing of it has run."""

    def __init__(self, message: str) -> None:
        super().__init__("not_allowed", message)


Ask = Callable[[Act], Awaitable[ActDecision]]
Decide = Callable[[RunNow], Awaitable[None]]
"""Returns once this may run. Raises ``NotAllowed``."""

_decide: ContextVar[Decide | None] = ContextVar("datalayer_agent_decide", default=None)
_ask: ContextVar[Ask | None] = ContextVar("datalayer_agent_ask", default=None)


@contextmanager
def asking(ask: Ask | None) -> Iterator[None]:
    """Within it, code that is sent to a kernel asks about its acts; with None it does not."""
    token = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(token)


@contextmanager
def only_looking() -> Iterator[None]:
    """Within it, code that our own code makes to look at something is denied all that would ask,
    and nobody decides whether it may run."""
    with asking(_deny), deciding(None):
        yield


async def _deny(act: Act) -> ActDecision:
    return ActDecision(False, "this only looks at the notebook")


@contextmanager
def refusing(refusal: Callable[[Act], str | None]) -> Iterator[None]:
    """Within it, nobody is asked about an act for which this gives a reason: it is denied."""
    ask = _ask.get()

    async def decide(act: Act) -> ActDecision:
        assert ask is not None
        reason = refusal(act)
        return ActDecision(False, reason, only=True) if reason else await ask(act)

    with asking(None if ask is None else decide):
        yield


@contextmanager
def deciding(decide: Decide | None) -> Iterator[None]:
    """Within it, whether code may run is decided where it is sent to a kernel, when nothing can
    come in between any more."""
    token = _decide.set(decide)
    try:
        yield
    finally:
        _decide.reset(token)


class GuardedRun:
    """One run, or several by one page. ``metadata`` goes with its requests to the kernel.

    ``waited`` are the seconds that its code has waited for answers, which are no part of its time;
    ``on_change`` is called when it begins or ends to wait.
    """

    def __init__(
        self,
        ask: Ask | None,
        decide: Decide | None = None,
        kernel_id: str = "",
        is_watched: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self.id = new_id("run")
        self.waited = 0.0
        self.on_change: Callable[[], None] = lambda: None
        self._ask = ask
        self._decide_run = decide
        self._kernel_id = kernel_id
        self._is_watched = is_watched
        self._open: dict[str, asyncio.Task[None]] = {}
        self._since = 0.0

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of an ``execute_request``; empty for a run that is not guarded."""
        return {} if self._ask is None else {METADATA: {"run": self.id}}

    @property
    def is_decided(self) -> bool:
        """Whether somebody decides, before it is sent, what may run."""
        return self._decide_run is not None

    async def allowed(self, parts: Sequence[tuple[str | None, str]]) -> None:
        """Return once these (cell id, code) may be sent to the kernel, in which the guard is then
        installed if it can be. Raises ``NotAllowed``, and ``KernelDied``."""
        is_watched = self._is_watched is not None and await self._is_watched()
        if self._decide_run is not None:
            await self._decide_run(RunNow(self._kernel_id, is_watched, tuple(parts)))

    @property
    def waits(self) -> bool:
        """Whether its code waits for an answer now."""
        return bool(self._open)

    def asked(self, connection: KernelConnection, content: dict[str, Any]) -> None:
        """The kernel asks, once more for as long as it waits."""
        ask_id = str(content.get("ask_id"))
        if content.get("done"):
            # It was interrupted while it waited, or has its answer.
            task = self._open.get(ask_id)
            if task is not None:
                task.cancel()
            return
        connection.send_control(DECISION, {"ask_id": ask_id, "heard": True})
        if ask_id in self._open:
            return
        if not self._open:
            self._since = time.monotonic()
        task = asyncio.ensure_future(self._decide(connection, ask_id, content))
        self._open[ask_id] = task
        task.add_done_callback(lambda _: self._closed(ask_id))
        self.on_change()

    def _closed(self, ask_id: str) -> None:
        self._open.pop(ask_id, None)
        if not self._open:
            self.waited += time.monotonic() - self._since
        self.on_change()

    async def _decide(
        self, connection: KernelConnection, ask_id: str, content: dict[str, Any]
    ) -> None:
        decision = ActDecision(False, "the server could not ask")
        try:
            assert self._ask is not None
            decision = await self._ask(_act(content))
        except asyncio.CancelledError:
            decision = ActDecision(False, "it was stopped")
            raise
        except Exception:
            log.exception("An act could not be asked about")
        finally:
            connection.send_control(
                DECISION,
                {
                    "ask_id": ask_id,
                    "approved": decision.approved,
                    "reason": decision.reason,
                    "only": decision.only,
                },
            )

    def close(self) -> None:
        """The run is over: what still waits is denied."""
        for task in list(self._open.values()):
            task.cancel()


def _act(content: dict[str, Any]) -> Act:
    """What came from the kernel, as what it has to be."""
    line = content.get("line")
    cell_id = content.get("cell_id")
    covers = content.get("covers")
    folder = content.get("folder")
    return Act(
        kind=str(content.get("kind", "")),
        verb=str(content.get("verb", "")),
        target=str(content.get("target", "")),
        path=str(content.get("path", "")),
        more=str(content.get("more", "")),
        line=line if isinstance(line, int) else None,
        cell_id=cell_id if isinstance(cell_id, str) else None,
        by_shell_line=content.get("by_shell_line") is True,
        covers=covers if isinstance(covers, str) else None,
        folder=folder if isinstance(folder, str) else None,
    )


@dataclass
class _Installation:
    """The guard in one life of a kernel, and the connection over which it was asked for."""

    connection: KernelConnection
    answered: asyncio.Event
    works: bool = False


class KernelActs:
    """Installs the guard in kernels, once in each life of one, and directs what they ask."""

    def __init__(self, root_dir: str | None) -> None:
        self._roots = [os.path.realpath(root_dir)] if root_dir else []
        # By the kernel's life.
        self._installed: WeakKeyDictionary[object, _Installation] = WeakKeyDictionary()

    @property
    def are_asked_about(self) -> bool:
        """Whether somebody is asked about what code does that is sent to run now."""
        return _ask.get() is not None

    def may_be_watched(self, life: object | None) -> bool:
        """Whether the guard works in this life of a kernel, as far as is known."""
        found = None if life is None else self._installed.get(life)
        return found is None or not found.answered.is_set() or found.works

    @asynccontextmanager
    async def guarded(self, connection: KernelConnection) -> AsyncIterator[GuardedRun]:
        """A run over this connection; it is guarded where somebody is asked and a guard works."""
        ask = _ask.get()
        if ask is None:
            yield GuardedRun(None)
            return
        installation = self._install(connection)

        async def is_watched() -> bool:
            await connection.wait(installation.answered, None)
            return installation.works

        run = GuardedRun(ask, _decide.get(), connection.kernel_id, is_watched)
        stop = connection.watch_all(lambda message: _direct(run, connection, message))
        try:
            yield run
        finally:
            stop()
            run.close()

    def _install(self, connection: KernelConnection) -> _Installation:
        """Ask the kernel to install the guard; a busy one has it in its queue."""
        life = connection.process
        present = self._installed.get(life)
        if present is not None and (present.answered.is_set() or present.connection.usable):
            return present
        new = self._installed[life] = _Installation(connection, asyncio.Event())
        found = {"found": installation(self._roots, _private(), [])}

        def heard(channel: str, message: Message) -> None:
            if message["header"]["msg_type"] != "execute_reply":
                return
            connection.forget(msg_ids.pop())
            content = message["content"]
            if content.get("status") == "aborted":
                # A cell of the user's failed, and with it the kernel drops what waits.
                msg_ids.append(connection.send_silent(found, heard))
                return
            answer = found_in(content)
            new.works = answer == INSTALLED
            new.answered.set()
            if not new.works:
                log.info("Code in kernel %s is not guarded: %s", connection.kernel_id, answer)

        msg_ids = [connection.send_silent(found, heard)]
        return new


def _direct(run: GuardedRun, connection: KernelConnection, message: Message) -> None:
    content = message.get("content") or {}
    if message["header"]["msg_type"] == ASK and content.get("run") == run.id:
        run.asked(connection, content)


def _private() -> list[str]:
    """What code has no business with: it holds the keys to this server, to kernels and to models,
    the conversations, and what the user trusts."""
    return [
        os.path.join(jupyter_runtime_dir(), ""),
        os.path.join(jupyter_data_dir(), "datalayer-agent", ""),
    ]

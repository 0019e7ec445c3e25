"""Asks about what the agent's code is about to do beyond its kernel, while the code waits.

``acts_in_kernel`` finds out what that is, inside the kernel, and asks by a message that the kernel
publishes; the answer goes back by the control channel, which the kernel reads while code runs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from jupyter_core.paths import jupyter_runtime_dir

from ...protocol.base import new_id
from .acts_in_kernel import ASK, DECISION, METADATA
from .connection import KernelConnection, Message
from .expressions import expression, found_in

log = logging.getLogger(__name__)

_SOURCE = Path(__file__).with_name("acts_in_kernel.py")
INSTALLED = "installed"


@dataclass(frozen=True)
class Act:
    """An act that code of the agent is about to carry out.

    ``kind`` ("removes or moves files"), ``verb`` and ``target`` ("delete", "cars.csv"), ``more``
    what else there is to know of it; ``path`` is the whole target, ``line`` the cell's, from 1.
    ``covers``: the question is about this act and all like it in that folder (or all of them, if it
    is empty), since the run has asked several times. ``by_shell_line``: a "!" line or a magic of
    IPython's runs it, whose text the cell shows.
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


@dataclass(frozen=True)
class ActDecision:
    """Whether the act may go on; ``reason`` is why not. ``only``: the decision is about this act,
    whatever else the question covered."""

    approved: bool
    reason: str | None = None
    only: bool = False


Ask = Callable[[Act], Awaitable[ActDecision]]

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
def refusing(refusal: Callable[[Act], str | None]) -> Iterator[None]:
    """Within it, nobody is asked about an act for which this gives a reason: it is denied."""
    ask = _ask.get()

    async def decide(act: Act) -> ActDecision:
        assert ask is not None
        reason = refusal(act)
        return ActDecision(False, reason, only=True) if reason else await ask(act)

    with asking(None if ask is None else decide):
        yield


class GuardedRun:
    """One run, or several by one page. ``metadata`` goes with its requests to the kernel.

    ``waited`` are the seconds that its code has waited for answers, which are no part of its time;
    ``on_change`` is called when it begins or ends to wait.
    """

    def __init__(self, ask: Ask | None) -> None:
        self.id = new_id("run")
        self.waited = 0.0
        self.on_change: Callable[[], None] = lambda: None
        self._ask = ask
        self._open: dict[str, asyncio.Task[None]] = {}
        self._since = 0.0

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of an ``execute_request``; empty for a run that is not guarded."""
        return {} if self._ask is None else {METADATA: {"run": self.id}}

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
    )


class KernelActs:
    """Installs the guard in kernels, once in each life of one, and directs what they ask."""

    def __init__(self, root_dir: str | None) -> None:
        self._roots = [os.path.realpath(root_dir)] if root_dir else []
        # By the kernel's life: over which connection it was asked for, None once that is answered.
        self._asked: WeakKeyDictionary[object, KernelConnection | None] = WeakKeyDictionary()

    @property
    def are_asked_about(self) -> bool:
        """Whether somebody is asked about what code does that is sent to run now."""
        return _ask.get() is not None

    @asynccontextmanager
    async def guarded(self, connection: KernelConnection) -> AsyncIterator[GuardedRun]:
        """A run over this connection; it is guarded where somebody is asked and a guard works."""
        ask = _ask.get()
        run = GuardedRun(ask)
        if ask is None:
            yield run
            return
        self._install(connection)
        stop = connection.watch_all(lambda message: _direct(run, connection, message))
        try:
            yield run
        finally:
            stop()
            run.close()

    def _install(self, connection: KernelConnection) -> None:
        """Ask the kernel to install the guard. It does so before what is sent after this, so that
        no run has to wait; a busy kernel has it in its queue."""
        life = connection.process
        asked = self._asked.get(life, connection)
        if life in self._asked and (asked is None or asked.usable):
            return
        self._asked[life] = connection
        call = f"install({self._roots!r}, {_private()!r}, [])"
        found = {"found": expression(_SOURCE.read_text(encoding="utf-8"), call)}

        def heard(channel: str, message: Message) -> None:
            if message["header"]["msg_type"] != "execute_reply":
                return
            connection.forget(msg_ids.pop())
            content = message["content"]
            if content.get("status") == "aborted":
                # A cell of the user's failed, and with it the kernel drops what waits.
                msg_ids.append(connection.send_silent(found, heard))
                return
            self._asked[life] = None
            answer = found_in(content)
            if answer != INSTALLED:
                log.info("Code in kernel %s is not guarded: %s", connection.kernel_id, answer)

        msg_ids = [connection.send_silent(found, heard)]


def _direct(run: GuardedRun, connection: KernelConnection, message: Message) -> None:
    content = message.get("content") or {}
    if message["header"]["msg_type"] == ASK and content.get("run") == run.id:
        run.asked(connection, content)


def _private() -> list[str]:
    """What code has no business to read: it holds the keys to this server and to kernels."""
    return [os.path.join(jupyter_runtime_dir(), "")]

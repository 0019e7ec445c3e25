"""Our own channels to a running kernel: requests of ours, answered by their message id.

The kernel's sockets hand every client its own copy of what the kernel publishes, so a page that is
connected to the same kernel loses nothing.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from queue import Empty
from typing import Any, Protocol

from jupyter_core.utils import ensure_async

from .outputs import Displays
from .process import KernelProcess, KernelProcesses

READY_SECONDS = 60.0
ALIVE_EVERY = 0.5
# A socket signals once that there is something to read, and sending on it can take that back: what
# came in at that moment is found only by looking again.
LOOK_EVERY = 0.25
Message = dict[str, Any]


SHUT_DOWN = "The kernel was restarted or shut down"


class KernelDied(Exception):
    """The kernel process ended, was restarted or was taken away while we waited for it.

    ``by_itself``: nobody ended or restarted it.
    """

    def __init__(self, reason: str, *, by_itself: bool = False) -> None:
        super().__init__(reason)
        self.by_itself = by_itself


class WaitCancelled(Protocol):
    """An abandoned request that the kernel runs or may still begin."""

    @property
    def running(self) -> bool:
        """Whether the kernel works on it."""
        ...

    @property
    def unfinished(self) -> bool:
        """Whether the kernel works on it or will."""
        ...

    async def stopped(self) -> None:
        """Wait for an attempt to stop it that is under way."""
        ...


class Guarded(Protocol):
    """A run whose code may have to wait until the user allows what it is about to do."""

    @property
    def metadata(self) -> dict[str, Any]:
        """What goes with its request to the kernel."""
        ...

    async def allowed(self, parts: Sequence[tuple[str | None, str]]) -> None:
        """Return once these (cell id, code) may be sent to the kernel."""
        ...

    @property
    def waits(self) -> bool:
        """Whether its code waits now."""
        ...

    @property
    def waited(self) -> float:
        """The seconds that it has waited, which are no part of its time."""
        ...


Guard = Callable[["KernelConnection"], AbstractAsyncContextManager[Guarded]]


class KernelConnection:
    """One client of one kernel. ``listen`` a message id, ``send`` a request, read what comes."""

    def __init__(
        self, manager: Any, processes: KernelProcesses, kernel_id: str, guard: Guard
    ) -> None:
        self.manager = manager
        self.guard = guard
        self.kernel_id = kernel_id
        self._processes = processes
        self.lock = asyncio.Lock()
        self.last_used = time.monotonic()
        self.users = 0
        self.stuck: WaitCancelled | None = None
        self.sent = 0
        """How often code was sent that may change something."""
        self.displays = Displays()
        self._client: Any = None
        self._kernel: Any = None
        self._opened_ports: Any = None
        self._opened_process: Any = None
        self._opened: KernelProcess | None = None
        self._listeners: dict[str, Callable[[str, Message], None]] = {}
        self._any_listeners: list[Callable[[Message], None]] = []
        self._readers: list[asyncio.Task[None]] = []
        self._death = asyncio.Event()
        self._death_reason = "The kernel died"

    @property
    def usable(self) -> bool:
        """Whether this connection still reaches the kernel that runs under the id."""
        return (
            self._client is not None
            and not self._death.is_set()
            and self.kernel_id in self.manager
            and self.manager.get_kernel(self.kernel_id) is self._kernel
            and self._ports() == self._opened_ports
            and self._process() == self._opened_process
            and self._processes.of(self.kernel_id) is self._opened
            and (self._opened is None or self._opened.ended is None)
            and all(not reader.done() for reader in self._readers)
        )

    @property
    def process(self) -> object:
        """The life of the kernel that this connection reaches."""
        return self._opened or self

    @property
    def name(self) -> str:
        """The name of the kernel's specification."""
        return str(getattr(self._kernel, "kernel_name", ""))

    def _ports(self) -> Any:
        return getattr(self._kernel, "ports", None)

    def _process(self) -> Any:
        return getattr(getattr(self._kernel, "provisioner", None), "pid", None)

    async def open(self) -> None:
        """Connect, and wait until what the kernel publishes reaches us.

        Raises ``KernelDied`` when the kernel ends first.
        """
        self._kernel = self.manager.get_kernel(self.kernel_id)
        self._opened_ports = self._ports()
        self._opened_process = self._process()
        self._opened = self._processes.of(self.kernel_id)
        self._client = _client(self._kernel)
        await ensure_async(self._client.start_channels(stdin=False, hb=False))
        add_callback = getattr(self._kernel, "add_restart_callback", None)
        if add_callback is not None:
            add_callback(self._on_restart, "restart")
            add_callback(self._on_restart, "dead")
        self._readers = [
            asyncio.create_task(self._read("iopub", self._client.get_iopub_msg)),
            asyncio.create_task(self._read("shell", self._client.get_shell_msg)),
            asyncio.create_task(self._read("control", self._client.get_control_msg)),
        ]
        await self._subscribed()

    async def close(self) -> None:
        """Close the channels; the kernel keeps running."""
        remove = getattr(self._kernel, "remove_restart_callback", None)
        if remove is not None:
            for event in ("restart", "dead"):
                try:
                    remove(self._on_restart, event)
                except ValueError:
                    continue
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        if self._client is not None:
            await ensure_async(self._client.stop_channels())
        self._client = None

    def _on_restart(self) -> None:
        self._death_reason = "The kernel died"
        self._death.set()

    async def _read(self, channel: str, get: Callable[..., Any]) -> None:
        while True:
            try:
                message: Message = await ensure_async(get(timeout=LOOK_EVERY))
            except Empty:
                continue
            kind = message["header"]["msg_type"]
            if channel == "iopub":
                self._watch(kind)
                for anyone in list(self._any_listeners):
                    anyone(message)
            parent = (message.get("parent_header") or {}).get("msg_id", "")
            listener = self._listeners.get(parent)
            if listener is not None:
                listener(channel, message)

    def _watch(self, kind: str) -> None:
        # Not "starting": a new kernel reports that as well, at any time around its first answers.
        if kind == "shutdown_reply":
            self._death_reason = SHUT_DOWN
            self._death.set()

    async def _subscribed(self) -> None:
        """Ask until something is published: a subscription takes effect some time after it."""
        heard = asyncio.Event()
        stop = self.watch_all(lambda message: heard.set())
        deadline = time.monotonic() + READY_SECONDS
        wait = 0.02
        try:
            while not heard.is_set():
                # The control channel answers while a cell runs; not every kernel listens to it.
                self._ask_info("control")
                self._ask_info("shell")
                await self.wait(heard, wait)
                wait = min(wait * 2, 1.0)
                if time.monotonic() > deadline:
                    # A kernel without a control thread, busy with the user's cell, is silent.
                    if getattr(self._kernel, "execution_state", "busy") == "busy":
                        return
                    raise KernelDied("The kernel does not answer")
        finally:
            stop()

    def _ask_info(self, channel: str) -> str:
        client = self._client
        message = client.session.msg("kernel_info_request")
        getattr(client, f"{channel}_channel").send(message)
        return str(message["header"]["msg_id"])

    async def wait(self, event: asyncio.Event, timeout: float | None) -> bool:
        """Whether the event came in time. Raises ``KernelDied`` when the kernel ends first."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not event.is_set():
            if self._death.is_set() or not await self.alive():
                raise KernelDied(self.death_reason, by_itself=self.died_by_itself)
            left = (
                ALIVE_EVERY if deadline is None else min(ALIVE_EVERY, deadline - time.monotonic())
            )
            if left <= 0:
                return False
            waits = [
                asyncio.ensure_future(event.wait()),
                asyncio.ensure_future(self._death.wait()),
            ]
            try:
                await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
        return True

    async def is_ending(self) -> bool:
        """Whether the kernel that we connected to has ended, or is about to be ended."""
        if getattr(self._kernel, "shutting_down", False) is True:
            self._death_reason = SHUT_DOWN
            return True
        return not await self.alive()

    @property
    def death_reason(self) -> str:
        """Why the kernel ended, for a user."""
        self._processes.of(self.kernel_id)
        ended = None if self._opened is None else self._opened.ended
        return ended or f"{self._death_reason}."

    @property
    def died_by_itself(self) -> bool:
        """Whether the kernel that we connected to ended, and nobody ended or restarted it."""
        self._processes.of(self.kernel_id)
        return self._opened is not None and self._opened.died

    async def alive(self) -> bool:
        """Whether the kernel that we connected to still runs."""
        if self.kernel_id not in self.manager:
            self._death_reason = "The kernel was shut down"
            return False
        if any(reader.done() for reader in self._readers):
            self._death_reason = "The connection to the kernel broke"
            return False
        if self._process() != self._opened_process:
            self._death_reason = "The kernel was restarted"
            return False
        return bool(await ensure_async(self._kernel.is_alive()))

    async def wait_until_free(self) -> None:
        """Wait until the kernel has worked off what others asked of it before us.

        A request in the kernel's own queue cannot be withdrawn, so ours waits on this side: the
        answer to a harmless question, asked on the same channel, shows that it is our turn.
        """
        answered = asyncio.Event()
        msg_id = self._ask_info("shell")
        self.listen(msg_id, lambda channel, message: self._answered(message, answered))
        try:
            await self.wait(answered, None)
        finally:
            self.forget(msg_id)

    def _answered(self, message: Message, answered: asyncio.Event) -> None:
        if message["header"]["msg_type"] == "kernel_info_reply":
            answered.set()

    def send_execute(
        self,
        code: str,
        listener: Callable[[str, Message], None],
        *,
        store_history: bool,
        metadata: dict[str, Any] | None = None,
    ) -> str:
        """Send our request; ``listener`` gets each message that answers it. Returns its id."""
        self.sent += 1
        return self._send({"code": code, "store_history": store_history}, listener, metadata)

    def send_control(self, kind: str, content: dict[str, Any]) -> None:
        """Send a message that the kernel reads while code runs, and does not answer."""
        if self._client is not None:
            self._client.control_channel.send(self._client.session.msg(kind, content))

    def send_silent(
        self, expressions: dict[str, str], listener: Callable[[str, Message], None]
    ) -> str:
        """Ask for expressions beside an empty snippet, which leaves no trace: no prompt
        number, no history, nothing printed. Their values are in the reply. Returns its id."""
        asked = {"code": "", "silent": True, "store_history": False}
        return self._send({**asked, "user_expressions": expressions}, listener)

    def _send(
        self,
        asked: dict[str, Any],
        listener: Callable[[str, Message], None],
        metadata: dict[str, Any] | None = None,
    ) -> str:
        # With stop_on_error the kernel would drop the user's waiting cells with ours.
        content = {
            "silent": False,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
            **asked,
        }
        message = self._client.session.msg("execute_request", content, metadata=metadata)
        msg_id = str(message["header"]["msg_id"])
        self.listen(msg_id, listener)
        self._client.shell_channel.send(message)
        return msg_id

    def listen(self, msg_id: str, listener: Callable[[str, Message], None]) -> None:
        """Pass every message that answers ``msg_id`` to the listener."""
        self._listeners[msg_id] = listener

    def forget(self, msg_id: str) -> None:
        """No longer pass on what answers ``msg_id``."""
        self._listeners.pop(msg_id, None)

    def watch_all(self, listener: Callable[[Message], None]) -> Callable[[], None]:
        """Pass on everything that is published, whoever asked; returns how to stop."""
        self._any_listeners.append(listener)
        return lambda: self._any_listeners.remove(listener)

    async def interrupt(self) -> None:
        """Interrupt what the kernel runs now; check first that it is ours."""
        await ensure_async(self.manager.interrupt_kernel(self.kernel_id))


def _client(kernel: Any) -> Any:
    """An async client with its own session: with a shared identity it would steal replies."""
    from jupyter_client.asynchronous.client import AsyncKernelClient
    from jupyter_client.channels import AsyncZMQSocketChannel

    from .large_messages import ThreadedChannel

    client = kernel.client()
    if not isinstance(client, AsyncKernelClient):  # the kernel manager is a synchronous one
        client = AsyncKernelClient(parent=kernel, **kernel.get_connection_info(session=True))
    client.session.session = uuid.uuid4().hex
    client.session.digest_history = set()
    if client.iopub_channel_class is AsyncZMQSocketChannel:  # else it is no kernel over ZMQ
        client.iopub_channel_class = ThreadedChannel
    return client

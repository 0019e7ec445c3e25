"""Which libraries a notebook's kernel has imported, as a context states them.

The kernel is asked in the background while it is idle, so a turn waits for nothing but a few
milliseconds; an answer that comes later is that of the next turn. It is not asked again as long as
it has done nothing since.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from ...document import DocumentError
from ..connection import KernelConnection, KernelDied, Message
from ..expressions import KernelBusy, evaluated
from ..kernels import Kernels

GRACE_SECONDS = 0.005
MOST_KERNELS = 200

Versions = Mapping[str, str]


class _Answer:
    """What a kernel answers, and whether it has done something since it was asked, as the
    connection shows over which that was: another one is made after a restart, and after a time
    without use. Made before the question, since what another client sends meanwhile may be
    published before the answer is here."""

    def __init__(self, connection: KernelConnection) -> None:
        self.versions: Versions = {}
        self._connection = connection
        self._begun: set[str] = set()
        self.stop = connection.watch_all(self._message)

    def holds(self, connection: KernelConnection) -> bool:
        """Whether the kernel would answer the same."""
        # The question itself is one.
        return len(self._begun) <= 1 and self._connection is connection

    def _message(self, message: Message) -> None:
        parent = message.get("parent_header") or {}
        begins = message["content"].get("execution_state") == "busy"
        # Questions of this kind are asked of it all the time, and run nothing.
        if begins and len(self._begun) < 2 and parent.get("msg_type") != "kernel_info_request":
            self._begun.add(str(parent.get("msg_id")))


class Libraries:
    """The versions of Python and of imported libraries, by kernel, as they were asked last."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels
        self._known: OrderedDict[str, _Answer] = OrderedDict()
        self._asking: dict[str, asyncio.Task[None]] = {}

    def ask(self, path: str) -> None:
        """Begin to ask the kernel of a notebook, if it is Python's and idle."""
        if path not in self._asking:
            task = asyncio.ensure_future(self._ask(path))
            self._asking[path] = task
            task.add_done_callback(lambda _: self._asking.pop(path, None))

    async def of(self, path: str) -> Versions:
        """What is known of the notebook's kernel; a kernel that is being asked has a moment."""
        if asking := self._asking.get(path):
            await asyncio.wait([asking], timeout=GRACE_SECONDS)
        kernel = await self._kernels.of(path)
        answer = None if kernel is None else self._known.get(kernel["id"])
        return {} if answer is None else answer.versions

    async def close(self) -> None:
        """Ask no more."""
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    async def _ask(self, path: str) -> None:
        kernel = await self._kernels.of(path)
        if kernel is None or kernel["status"] != "idle":
            return
        if str(kernel["language"]).lower() not in ("python", ""):
            return
        try:
            async with self._kernels.connected(kernel["id"]) as connection:
                before = self._known.get(kernel["id"])
                if before is not None and before.holds(connection):
                    return
                answer = _Answer(connection)
                try:
                    found = await evaluated(connection, _source(), "libraries(shell.user_ns)")
                except BaseException:
                    answer.stop()
                    raise
                if isinstance(found, dict):
                    answer.versions = {str(name): str(each) for name, each in found.items()}
                    self._keep(kernel["id"], answer)
                else:
                    answer.stop()
        except (DocumentError, KernelDied, KernelBusy):
            return

    def _keep(self, kernel_id: str, answer: _Answer) -> None:
        if (before := self._known.pop(kernel_id, None)) is not None:
            before.stop()
        self._known[kernel_id] = answer
        while len(self._known) > MOST_KERNELS:
            self._known.popitem(last=False)[1].stop()


@cache
def _source() -> str:
    return (files(__package__) / "in_kernel.py").read_text(encoding="utf-8")

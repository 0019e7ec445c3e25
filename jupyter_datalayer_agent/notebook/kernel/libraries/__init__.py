"""Which libraries a notebook's kernel has imported, as a context states them.

The kernel is asked in the background while it is idle, so a turn waits for nothing but a few
milliseconds; an answer that comes later is that of the next turn.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from ...document import DocumentError
from ..connection import KernelDied
from ..expressions import KernelBusy, evaluated
from ..kernels import Kernels

GRACE_SECONDS = 0.005
MOST_KERNELS = 200

Versions = Mapping[str, str]


class Libraries:
    """The versions of Python and of imported libraries, by kernel, as they were asked last."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels
        self._known: OrderedDict[str, Versions] = OrderedDict()
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
        return {} if kernel is None else self._known.get(kernel["id"], {})

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
                found = await evaluated(connection, _source(), "libraries(shell.user_ns)")
        except (DocumentError, KernelDied, KernelBusy):
            return
        if isinstance(found, dict):
            self._known[kernel["id"]] = {str(name): str(each) for name, each in found.items()}
            while len(self._known) > MOST_KERNELS:
                self._known.popitem(last=False)


@cache
def _source() -> str:
    return (files(__package__) / "in_kernel.py").read_text(encoding="utf-8")

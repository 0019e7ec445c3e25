"""The entry points by which other packages add to this one.

For each group that it is asked for, ``importlib.metadata`` reads the entry points of all packages
that are installed: 26 ms beside JupyterLab, in the event loop. Here they are read once for all.
What they name is imported once, by a server in a thread: an import may take seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

PREFIX = "jupyter_datalayer_agent."

_loaded: dict[EntryPoint, Any] = {}
_errors: dict[EntryPoint, Exception] = {}


class Plugins:
    """The packages that add to a server. ``add`` is called in the event loop once all are
    imported."""

    def __init__(self, add: Callable[[], None]) -> None:
        self._add = add
        self._adding: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Wait until all are added. The first call imports them."""
        if self._adding is None:
            self._adding = asyncio.ensure_future(self._import_and_add())
        # A client that leaves must not keep others from them.
        await asyncio.shield(self._adding)

    async def _import_and_add(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, _load_all)
        self._add()


def load(point: EntryPoint) -> Any:
    """What the entry point names. What its first import raises is raised again later."""
    if point in _errors:
        raise _errors[point]
    if point not in _loaded:
        try:
            _loaded[point] = point.load()
        except Exception as error:
            # Third-party code may raise anything.
            _errors[point] = error
            raise
    return _loaded[point]


def entry_points_of(group: str) -> tuple[EntryPoint, ...]:
    """Those of ``jupyter_datalayer_agent.<group>``, as installed when the first group was read."""
    return _by_group().get(PREFIX + group, ())


@functools.cache
def _by_group() -> dict[str, tuple[EntryPoint, ...]]:
    installed = entry_points()
    groups = [group for group in installed.groups if group.startswith(PREFIX)]
    return {group: tuple(installed.select(group=group)) for group in groups}


def _load_all() -> None:
    for group, points in _by_group().items():
        # Those of an SDK are there before a server has any parts: see ``app``.
        for point in points if group != f"{PREFIX}sdk" else ():
            with contextlib.suppress(Exception):  # whoever adds it names the error
                load(point)

"""Background work: begun while the process is idle, and yielding to other work."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

IDLE_SECONDS = 1.0

_STEP = 0.1
_BUSY = 0.2
"""The share of a core in one step above which the process counts as busy. Open pages make small
requests all the time."""
_LATE = 0.05
"""Seconds by which a step ends late where others keep the machine busy: a browser that draws
JupyterLab, a kernel that starts. This process then gets less of a core than it wants."""

_AT_ONCE = 0.004
"""Seconds of work between pauses."""
_PAUSE = 0.001


def wait_until_idle(needed: threading.Event) -> None:
    """Returns when this process has used hardly any processor time for ``IDLE_SECONDS``, on a
    machine that has some to give, and as soon as ``needed`` is set."""
    since = time.monotonic()
    while (now := time.monotonic()) - since < IDLE_SECONDS:
        used = time.process_time()
        if needed.wait(_STEP):
            return
        is_late = time.monotonic() - now > _STEP + _LATE
        if is_late or time.process_time() - used > _STEP * _BUSY:
            since = time.monotonic()


@contextlib.contextmanager
def giving_way(needed: threading.Event) -> Iterator[None]:
    """Imports of this thread release the GIL repeatedly, until ``needed`` is set. Otherwise a
    thread that needs it waits 5 ms each time."""
    pauses = _Pauses(needed)
    sys.meta_path.insert(0, pauses)
    try:
        yield
    finally:
        sys.meta_path.remove(pauses)


class _Pauses(MetaPathFinder):
    """A meta path finder that finds nothing, but is called before each import."""

    def __init__(self, needed: threading.Event) -> None:
        self._needed = needed
        self._thread = threading.get_ident()
        self._since = time.monotonic()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        of_ours = threading.get_ident() == self._thread and not self._needed.is_set()
        if of_ours and time.monotonic() - self._since > _AT_ONCE:
            time.sleep(_PAUSE)
            self._since = time.monotonic()
        return None

"""Large imports, without garbage collection meanwhile.

An import of thousands of classes makes hundreds of thousands of objects that live as long as the
process. Python's collector scans them repeatedly meanwhile (a third of litellm's import) and blocks
the event loop, up to 0.4 s at once.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import threading
from collections.abc import Iterator
from types import ModuleType

LARGE = 100_000
"""Objects of one import that full collections leave out for good."""

_lock = threading.Lock()
_depth = 0
_was_enabled = True


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Disable collections; at the end all objects become old (``gc.freeze`` and ``gc.unfreeze``).

    Otherwise the next collections would each scan all new objects. Later full collections still
    scan them, unless there are more than ``LARGE``: those of litellm made each full collection
    block the event loop for 0.3 to 0.5 s. They stay frozen, with what else there is at that moment,
    once in the life of a server. May be nested, and entered by several threads.
    """
    global _depth, _was_enabled
    with _lock:
        if _depth == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _was_enabled:
                # Objects that other code froze are not ours to unfreeze.
                if gc.get_freeze_count() == 0:
                    new = gc.get_count()[0]
                    gc.freeze()
                    if new < LARGE:
                        gc.unfreeze()
                gc.enable()


def load(name: str) -> ModuleType:
    """The module of that name."""
    with importing():
        return importlib.import_module(name)

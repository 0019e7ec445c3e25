"""How a text table is written: its encoding, delimiter, header, and the numbers of each column.

The one detector, for uploads, workflows and services. ``numbers``, ``layout``, ``missing`` and
``file`` need the standard library only, because their source also runs in kernels (``SOURCES``);
``encodings``, which ranks the encodings of a file that is not Unicode, runs in the server's
environment.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

SOURCES = ("numbers", "layout", "missing", "file")
"""The modules that a kernel is sent, in order; they share one namespace there."""


@cache
def source_of(module: str) -> str:
    """The source of one of ``SOURCES``."""
    return (files(__package__) / f"{module}.py").read_text(encoding="utf-8")

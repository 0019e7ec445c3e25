"""What the user attaches to a message."""

from __future__ import annotations

from typing import Literal

from .base import Wire


class Attachment(Wire):
    """Something the user attached to a message. ``path`` is relative to the server root.

    A ``cell``, and the ``output`` of one, have a ``cell_id``; a ``dataset`` and a ``variable`` of
    the kernel of the notebook ``path`` (left out: the active one) a ``name``.
    """

    kind: Literal["notebook", "file", "cell", "output", "dataset", "variable"]
    path: str | None = None
    cell_id: str | None = None
    name: str | None = None

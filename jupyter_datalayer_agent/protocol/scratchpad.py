"""The scratchpad: a notebook for what is worth keeping of conversations."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import Wire
from .history import Provenance


class ScratchpadCell(Wire):
    """A cell for the scratchpad. ``outputs`` are nbformat's, for a code cell.

    ``turn_id`` is the turn that it is from, by which its provenance is looked up where that is not
    given.
    """

    type: Literal["code", "markdown"] = "markdown"
    content: str
    outputs: list[dict[str, Any]] = []
    turn_id: str | None = None
    provenance: Provenance | None = None
    session_id: str | None = None


class ScratchpadRequest(Wire):
    """Body of ``POST scratchpad``: cells to add at the end; with none it is only made and shown.

    ``path`` is another notebook that the user uses as one; left out, it is ``scratchpad.ipynb``
    in the server root, which is made where it is missing. With ``show`` the page ``client_id``
    opens it.
    """

    path: str | None = None
    cells: list[ScratchpadCell] = Field(default=[], max_length=100)
    client_id: str | None = None
    show: bool = True


class ScratchpadReply(Wire):
    """Where the cells are now; ``created``: the notebook was made for them."""

    path: str
    created: bool
    cell_ids: list[str] = []

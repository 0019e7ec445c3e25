"""What may go to the model, and what is asked before something does."""

from __future__ import annotations

from typing import Literal

from .base import SharePolicy, Wire

ShareKind = Literal["outputs", "row_data"]

PRIVATE_NOTE = "datalayerPrivate"
"""A key of an item in the history which contains something private; it is never sent:
``{"kinds": [...], "bare": the item's text without them}``."""


class SharingNow(Wire):
    """What may go to the model, as it applies to a turn; ``locked`` by the administrator."""

    outputs: SharePolicy = "always"
    row_data: SharePolicy = "always"
    locked: list[ShareKind] = []


class ShareRequest(Wire):
    """With an approval: what is about to be sent to the model.

    ``text`` is what the model reads when the user agrees, ``withheld`` what it reads otherwise;
    ``pictures`` are so many that go along. ``ok``: the call that it comes from went well.
    """

    kinds: list[ShareKind]
    text: str
    withheld: str
    pictures: int = 0
    ok: bool = True

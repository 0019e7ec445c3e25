"""Asking the past: where an answer comes from, what a search finds, what the Strategist says."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .answers import CitedAnswer
from .answers import Provenance as Provenance
from .answers import ResponseType as ResponseType
from .base import SessionKind, Wire
from .plans import Plan
from .requests import ChatReply, Turn

Role = Literal["user", "assistant"]


class Mark(Wire):
    """Where a snippet shows what was looked for: UTF-16 code units, as JavaScript counts."""

    start: int
    end: int


class SearchHit(Wire):
    """A message or an answer that contains what was looked for, or (with its ``path``) what the
    assistant wrote into a document."""

    session_id: str
    session_title: str
    turn_id: str
    role: Role
    path: str | None = None
    snippet: str
    marks: list[Mark] = []
    created_at: int


class SearchReply(Wire):
    """Answer of ``GET search``: the newest first."""

    results: list[SearchHit]


class StoredResponse(Wire):
    """An answer found by its provenance, with the message that it answers.

    ``plan`` is given for the type ``plan``, whose ``text`` is its steps as a list. ``sources`` are
    the answers that a synthesis of several models' answers is of.
    """

    provenance: Provenance
    session_id: str
    session_title: str
    message: str
    text: str
    plan: Plan | None = None
    created_at: int
    sources: list[CitedAnswer] | None = None


class TurnPlace(Wire):
    """A turn with where it belongs and the answers that it has."""

    turn: Turn
    session_title: str
    session_kind: SessionKind = "chat"
    responses: list[Provenance] = []


class Citation(Wire):
    """A turn that an answer names, which exists. ``message`` is the first line of what the user
    wrote in it."""

    turn_id: str
    session_id: str
    session_title: str
    message: str
    created_at: int


class StrategistRequest(Wire):
    """A question about the past.

    ``session_id`` is the chat from which it is asked ("this session"), or the Strategist's own
    session, which it is in any case. ``scratchpad`` is a notebook: what comes of the question is
    written there as a cell, also when nobody waits for it.
    """

    question: str = Field(min_length=1)
    session_id: str | None = None
    model: str | None = None
    client_id: str | None = None
    scratchpad: str | None = None


class KeptAnswer(Wire):
    """Where an answer was written as a cell, or why it could not be."""

    path: str
    cell_id: str | None = None
    problem: str | None = None


class StrategistState(Wire):
    """The Strategist's session, whose events show the progress, and the turn that runs there."""

    session_id: str
    running_turn_id: str | None = None


class StrategistReply(ChatReply):
    """The Strategist's answer. In ``reply`` a link ``[text](turn:<turnId>)`` cites a turn.

    ``citations`` are the turns that it links to, in that order; ``unknown_citations`` ids that the
    model made up, whose links were taken out. ``scratchpad`` names the cell that was asked for.
    """

    citations: list[Citation] = []
    unknown_citations: list[str] = []
    provenance: Provenance | None = None
    scratchpad: KeptAnswer | None = None


# The scratchpad: a notebook for what is worth keeping of conversations.


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

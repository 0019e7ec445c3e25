"""Events of the session itself, its queue and its data sets."""

from __future__ import annotations

from typing import Literal

from ..datasets import Dataset
from ..requests import SessionSettings
from .base import BaseEvent


class SessionConfigured(BaseEvent):
    """The session's settings or title changed."""

    type: Literal["session_configured"] = "session_configured"
    settings: SessionSettings
    title: str | None = None


class OpQueued(BaseEvent):
    """A message is queued while another turn runs; ``message`` is the user's text."""

    type: Literal["op_queued"] = "op_queued"
    op_id: str
    message: str | None = None


class OpHeld(BaseEvent):
    """A queued message is held, since the turn was stopped, until the user sends or removes it."""

    type: Literal["op_held"] = "op_held"
    op_id: str


class OpDequeued(BaseEvent):
    """A queued message left the queue: its turn started, or the user removed it."""

    type: Literal["op_dequeued"] = "op_dequeued"
    op_id: str
    reason: Literal["started", "removed"]


class SessionReset(BaseEvent):
    """All turns and older events of the session are deleted."""

    type: Literal["session_reset"] = "session_reset"


class SessionDeleted(BaseEvent):
    """The session was deleted, with all its data. ``seq`` is 0: it is not replayed."""

    type: Literal["session_deleted"] = "session_deleted"


class DatasetRegistered(BaseEvent):
    """A data set became known to the session."""

    type: Literal["dataset_registered"] = "dataset_registered"
    dataset: Dataset

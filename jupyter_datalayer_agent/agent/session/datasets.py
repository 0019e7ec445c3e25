"""Data sets in a conversation: announced in its events, and attached to a message."""

from __future__ import annotations

from ...protocol.datasets import Dataset
from ...protocol.errors import AgentError
from ...protocol.events import DatasetRegistered
from ...protocol.ops import UploadRegistered
from ..state import SessionState


async def emit_registered(session: SessionState, dataset: Dataset) -> None:
    """Notify the session's listeners of the data set."""
    await session.emit(DatasetRegistered(dataset=dataset))


async def register(session: SessionState, op: UploadRegistered) -> None:
    """Make the op's data set known to the session; if it already is, announce it again. Raises
    ``AgentError`` ``not_found``."""
    dataset, _ = await session.runtime.datasets.register(session.id, name_in(op))
    await emit_registered(session, dataset)


async def check(session: SessionState, op: UploadRegistered) -> None:
    """Raises ``AgentError`` if the op's data set does not exist."""
    await session.runtime.datasets.get(name_in(op))


def name_in(op: UploadRegistered) -> str:
    """The name of the op's data set. Raises ``AgentError`` ``invalid_request``."""
    name = op.dataset.get("name")
    if not isinstance(name, str) or not name:
        raise AgentError(
            "invalid_request", "The data set needs a name, as returned by GET datasets."
        )
    return name

"""Data sets in a conversation: told of in its events, and attached to a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..datasets.words import described
from ..protocol.errors import AgentError
from ..protocol.events import DatasetRegistered
from ..protocol.ops import UploadRegistered
from .services import Services
from .targets import Submission

if TYPE_CHECKING:
    from ..protocol.datasets import Dataset
    from .session import LiveSession


async def tell_registered(session: LiveSession, dataset: Dataset) -> None:
    """The session knows the data set: who listens to it is told."""
    await session.emit(DatasetRegistered(dataset=dataset))


async def register(session: LiveSession, op: UploadRegistered) -> None:
    """Make the data set that the op names known to the session. Raises ``AgentError``
    ``not_found``; one that the session knows is told of again."""
    dataset, _ = await session.services.datasets.register(session.id, name_in(op))
    await tell_registered(session, dataset)


async def check(session: LiveSession, op: UploadRegistered) -> None:
    """Raises ``AgentError`` for an op whose data set there is not."""
    await session.services.datasets.get(name_in(op))


def name_in(op: UploadRegistered) -> str:
    """The name of the op's data set. Raises ``AgentError`` ``invalid_request``."""
    name = op.dataset.get("name")
    if not isinstance(name, str) or not name:
        raise AgentError("invalid_request", "The data set needs a name, as GET datasets tells it.")
    return name


async def attached_datasets(services: Services, about: Submission) -> list[tuple[str, str]]:
    """What the context tells of the data sets that are attached to the message, by name: no
    rows."""
    told = []
    for attachment in about.request.attachments:
        if attachment.kind != "dataset" or not attachment.name:
            continue
        try:
            said = described(await services.datasets.get(attachment.name))
        except AgentError as error:
            said = f"The attached data set {attachment.name} cannot be used: {error.message}"
        told.append((attachment.name, said))
    return told

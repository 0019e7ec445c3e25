"""The service that completes ``/storage``: its config is the main package's."""

from __future__ import annotations

from jupyter_datalayer_agent.services.builtin.storage import SERVICE as KNOWN
from jupyter_datalayer_agent.services.service import Service

from .blobs import CopyToDataset, DeleteBlob, ListBlobs
from .cases import cases
from .containers import CreateContainer, DeleteContainer, ListContainers
from .transfers import Download, Upload

SERVICE = Service(
    id=KNOWN.id,
    name=KNOWN.name,
    description=KNOWN.description,
    config=KNOWN.config,
    examples=KNOWN.examples,
    actions=[
        ListContainers,
        CreateContainer,
        ListBlobs,
        Upload,
        Download,
        CopyToDataset,
        DeleteBlob,
        DeleteContainer,
    ],
    cases=cases,
)

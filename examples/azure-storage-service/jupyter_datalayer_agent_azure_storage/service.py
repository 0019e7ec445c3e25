"""The service that completes ``/storage``: its config is the main package's."""

from __future__ import annotations

from pathlib import Path

from jupyter_datalayer_agent.services.benchmarks import Case, builtin_cases, cases_from
from jupyter_datalayer_agent.services.builtin.storage import SERVICE as KNOWN
from jupyter_datalayer_agent.services.service import Service

from .blobs import CopyToDataset, DeleteBlob, ListBlobs
from .containers import CreateContainer, DeleteContainer, ListContainers
from .transfers import Download, Upload


def _cases() -> list[Case]:
    """Those of ``/storage`` without this package, which must stay right, and those of actions."""
    return [*builtin_cases(KNOWN.id), *cases_from(Path(__file__).with_name("cases.yaml"))]


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
    cases=_cases,
)

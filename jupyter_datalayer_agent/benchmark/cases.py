"""All cases of the services that are installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec

from ..services import builtin
from ..services.benchmarks import Case
from ..services.service import Service
from . import ordinary
from .sentences import sentence_cases

ORDINARY = "ordinary"
SENTENCES = "sentences"


def cases_of(service: Service) -> Sequence[Case]:
    """The cases of a service: its own, or those beside the declaration of a built-in one."""
    if service.cases is not None:
        return service.cases()
    name = f"{builtin.__name__}.{service.id.replace('-', '_')}"
    if find_spec(name) is None or find_spec(f"{name}.cases") is None:
        return []
    return list(import_module(f"{name}.cases").CASES)


def all_cases(services: Iterable[Service]) -> list[tuple[str, Case]]:
    """Each case with the service that it belongs to."""
    own = [(service.id, case) for service in services for case in cases_of(service)]
    return [
        *own,
        *((ORDINARY, case) for case in ordinary.CASES),
        *((SENTENCES, case) for case in sentence_cases()),
    ]

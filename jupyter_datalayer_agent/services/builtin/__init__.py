"""The services of this package, declared as any other package declares its own."""

from __future__ import annotations

from ..registry import ServiceRegistry
from .data.service import SERVICE as DATA
from .environment.service import SERVICE as ENVIRONMENT
from .jupyterlab import SERVICE as JUPYTERLAB
from .lexical import SERVICE as LEXICAL
from .model import SERVICE as MODEL
from .notebook.service import SERVICE as NOTEBOOK
from .report import SERVICE as REPORT
from .storage import SERVICE as STORAGE
from .visualize import SERVICE as VISUALIZE

SERVICES = (NOTEBOOK, DATA, ENVIRONMENT, JUPYTERLAB, VISUALIZE, MODEL, REPORT, STORAGE, LEXICAL)


def builtin_services() -> ServiceRegistry:
    """A registry with these services."""
    registry = ServiceRegistry()
    for service in SERVICES:
        registry.add(service)
    return registry

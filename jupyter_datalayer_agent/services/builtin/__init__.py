"""The services of this package, declared as any other package declares its own."""

from __future__ import annotations

from ..registry import ServiceRegistry
from .data.service import SERVICE as DATA
from .environment.service import SERVICE as ENVIRONMENT
from .jupyterlab.service import SERVICE as JUPYTERLAB
from .notebook.service import SERVICE as NOTEBOOK

SERVICES = (NOTEBOOK, DATA, ENVIRONMENT, JUPYTERLAB)


def builtin_services() -> ServiceRegistry:
    """A registry with these services."""
    registry = ServiceRegistry()
    for service in SERVICES:
        registry.add(service)
    return registry

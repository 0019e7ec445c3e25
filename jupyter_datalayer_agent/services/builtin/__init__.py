"""The services of this package, declared as any other package declares its own."""

from __future__ import annotations

from ..registry import ServiceRegistry
from .notebook.service import SERVICE as NOTEBOOK

SERVICES = (NOTEBOOK,)


def builtin_services() -> ServiceRegistry:
    """A registry with these services."""
    registry = ServiceRegistry()
    for service in SERVICES:
        registry.add(service)
    return registry

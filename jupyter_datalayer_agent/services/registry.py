"""The services by id: built-in ones, and those of other packages by their entry points."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint

from ..entry_points import entry_points_of, load
from ..protocol.services import ActionInfo, ServiceInfo, ServiceLink
from .action import Action
from .service import Service

log = logging.getLogger(__name__)

PANEL_COMMANDS = frozenset(
    {"new", "datasets", "stop", "clear", "compact", "fork", "export", "strategist", "scratchpad"}
    | {"workflows", "quality", "tutorial", "usage", "help", "compare", "connect", "mcp"}
)
"""Slash commands that are not services."""


class ServiceRegistry:
    """Services in the order in which they were added. ``problems`` says of each service of
    another package that could not be added why."""

    def __init__(self, taken: Iterable[str] = PANEL_COMMANDS) -> None:
        self._services: dict[str, Service] = {}
        self._taken = frozenset(taken)
        self.problems: list[str] = []

    def add(self, service: Service) -> None:
        """Add a service. A service that has the actions for one which names its distribution in
        ``actions_from`` completes that one. Raises ``ValueError``."""
        if not isinstance(service, Service):
            raise ValueError(f"{service!r} is no Service.")
        service.check()
        if service.id in self._taken:
            raise ValueError(f"/{service.id} is a command of the panel already.")
        known = self._services.get(service.id)
        if known is None:
            self._services[service.id] = service
            return
        if known.actions_from is None or known.actions or not service.actions:
            raise ValueError(f"There is a service /{service.id} already.")
        if _normalised(service.from_package) != _normalised(known.actions_from):
            raise ValueError(
                f"The actions of /{service.id} come from the package {known.actions_from}."
            )
        examples = [*known.examples, *(e for e in service.examples if e not in known.examples)]
        self._services[service.id] = replace(
            known,
            actions=service.actions,
            examples=examples,
            cases=service.cases or known.cases,
        )

    def add_entry_points(self) -> None:
        """Add what other packages declare: each a ``Service`` or a list of them."""
        for point in entry_points_of("services"):
            try:
                self._add_of(point)
            except Exception as error:  # noqa: BLE001 - third-party code may raise anything
                problem = f"{point.name} ({point.value}): {_reason(error)}"
                log.error("A service could not be added: %s", problem)
                self.problems.append(problem)

    def _add_of(self, point: EntryPoint) -> None:
        loaded = load(point)
        package = point.dist.name if point.dist is not None else None
        for each in loaded if isinstance(loaded, list | tuple) else [loaded]:
            self.add(replace(each, from_package=package) if isinstance(each, Service) else each)

    def find(self, service_id: str) -> Service | None:
        """The service of that id, or None."""
        return self._services.get(service_id.strip().lower())

    @property
    def areas(self) -> list[str]:
        """The names of the services that have actions."""
        return [each.name for each in self if each.actions]

    def __iter__(self) -> Iterator[Service]:
        return iter(self._services.values())


def service_info(service: Service) -> ServiceInfo:
    """The service as the page lists it."""
    return ServiceInfo(
        id=service.id,
        name=service.name,
        description=service.description,
        examples=list(service.examples),
        topics=list(service.config.topics),
        links=[ServiceLink(title=each.title, url=each.url) for each in service.config.links],
        actions=[action_info(each) for each in service.actions],
        installed=service.installed,
        install=service.install,
    )


def action_info(action: type[Action]) -> ActionInfo:
    """The action as the page lists it."""
    return ActionInfo(
        id=action.id,
        title=action.title,
        description=action.description,
        parameters=action.Parameters.model_json_schema(),
        destructive=action.destructive,
        wizard=action.has_wizard(),
    )


def _normalised(package: str | None) -> str:
    return (package or "").lower().replace("_", "-").replace(".", "-")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else repr(error)

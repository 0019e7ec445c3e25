"""What a message asks for: by its command, by the user's choice, by rank, or asked of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...protocol.services import Intent, IntentReply
from ...services.commands import Command, command_in, nearest
from ...services.registry import PANEL_COMMANDS
from ...services.routing import BRAINSTORM, LEARN, Route, Router, subcommands
from ...services.service import Service
from ..request import TurnRequest
from ..services import Services
from .filler import Ask

How = Literal["command", "ranking", "model", "chosen"]
HELP = "help"


@dataclass(frozen=True)
class Detected:
    """What a message asks for. ``text`` is the message without its command. ``unknown`` is a
    command that there is not; ``help`` asks for what there is (of ``service``, where one is)."""

    text: str
    how: How
    service: Service | None = None
    subcommand: str | None = None
    route: Route | None = None
    unknown: str | None = None
    help: bool = False


def detect(services: Services, request: TurnRequest, detection: str) -> Detected | None:
    """What can be said without a model; None for an ordinary message. Costs no request.

    Where ``route`` is not sure, its candidates are to be asked of a model, or nothing is chosen.
    """
    registry = services.service_registry()
    chosen = request.chat.intent
    command = command_in(request.text)
    if chosen is not None:
        service = registry.find(chosen.service) if chosen.service is not None else None
        if service is None:
            return None
        text = command.text if command is not None else request.text
        return Detected(text, "chosen", service, chosen.subcommand)
    if detection == "off":
        return None
    if command is not None:
        return _of_command(services, command)
    if detection != "auto" or request.planned or request.chat.workflow is not None:
        return None
    route = services.router().service_of(request.text)
    if route.intent.service is None:
        return None
    return Detected(request.text, "ranking", registry.find(route.intent.service), route=route)


def _of_command(services: Services, command: Command) -> Detected:
    registry = services.service_registry()
    if command.name == HELP:
        service = registry.find(command.text.lstrip("/")) if command.text else None
        return Detected(command.text, "command", service, help=True)
    service = registry.find(command.name)
    if service is None:
        return Detected(command.text, "command", unknown=command.name)
    return Detected(command.text, "command", service, help=not command.text)


def known_commands(services: Services) -> list[str]:
    """All slash commands."""
    return [*(each.id for each in services.service_registry()), *sorted(PANEL_COMMANDS)]


def nearest_commands(services: Services, name: str) -> list[str]:
    """The commands that may have been meant."""
    return nearest(name, known_commands(services))


async def choose_service(
    router: Router, detected: Detected, ask: Ask | None
) -> tuple[Service | None, Route, How]:
    """The first level, with a model where there is one: the service, or None for none."""
    route = detected.route or Route(Intent())
    if route.sure:
        return detected.service, route, "ranking"
    if ask is None:
        return None, route, "ranking"
    choices = {each.id: each for each in route.candidates}
    lines = [f"- {each.id}: {each.description}" for each in route.candidates]
    # One request for both levels: what is chosen is a service and what of it.
    entries: dict[str, tuple[Service, str]] = {}
    lines = []
    for service in choices.values():
        for sub, text in _entries(service):
            entries[f"{service.id}.{sub}"] = (service, sub)
            lines.append(f"- {service.id}.{sub}: {text}")
    answer = await ask("intent.md", _question(lines, detected.text), _choice(["none", *entries]))
    choice = entries.get(str(answer.get("choice"))) if isinstance(answer, dict) else None
    if choice is None:
        return None, route, "model"
    service, sub = choice
    inside = router.subcommand_of(service, detected.text)
    intent = Intent(service=service.id, subcommand=sub, confidence=0.9)
    others = tuple(each for each in _others(inside) if each.subcommand != sub)
    return service, Route(intent, (*others, *route.alternatives), True), "model"


async def choose_subcommand(
    router: Router, service: Service, text: str, ask: Ask | None
) -> tuple[Route, How]:
    """The second level, which always chooses; with a model where the ranking is not sure."""
    route = router.subcommand_of(service, text)
    if route.sure or ask is None:
        return route, "ranking"
    lines = [f"- {sub}: {described}" for sub, described in _entries(service)]
    answer = await ask("intent.md", _question(lines, text), _choice(subcommands(service)))
    choice = answer.get("choice") if isinstance(answer, dict) else None
    if choice not in subcommands(service):
        return route, "ranking"
    intent = Intent(service=service.id, subcommand=choice, confidence=0.9)
    return Route(intent, tuple(e for e in _others(route) if e.subcommand != choice), True), "model"


def as_reply(route: Route, how: How) -> IntentReply:
    """As ``POST intent`` answers."""
    fields: dict[str, Any] = route.intent.model_dump()
    return IntentReply(**fields, alternatives=list(route.alternatives), how=how)


def _others(route: Route) -> list[Intent]:
    return [route.intent, *route.alternatives]


def _entries(service: Service) -> list[tuple[str, str]]:
    actions = [(each.id, f"{each.title}. {each.description}") for each in service.actions]
    return [
        *actions,
        (LEARN, f"a question about {service.name}: {service.description}"),
        (BRAINSTORM, f"ideas and decisions about {service.name}"),
    ]


def _question(lines: Sequence[str], text: str) -> str:
    return "\n".join(["# Choices", *lines, "", "# Message", text])


def _choice(choices: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"choice": {"enum": list(choices)}},
        "required": ["choice"],
        "additionalProperties": False,
    }

"""What a message asks for: by its command, by the user's choice, by rank, or asked of a model.

Without a model only what a message names exactly is chosen; what it may mean is offered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..protocol.services import ActionOffer, ActionProposal, Intent, IntentChoice, IntentDetection
from ..services.registry import PANEL_COMMANDS, ServiceRegistry
from ..services.routing import (
    BRAINSTORM,
    LEARN,
    MOST_OFFERS,
    Command,
    Route,
    Router,
    command_in,
    nearest,
    subcommands,
)
from ..services.service import Service
from .actions.filler import Ask

How = Literal["command", "ranking", "model", "chosen"]
HELP = "help"
MODEL_CONFIDENCE = 0.9
"""What a model's choice counts as: it gives no number of its own that means anything."""


@dataclass(frozen=True)
class Detected:
    """What a message asks for. ``text`` is the message without its command. ``unknown`` is a
    command that there is not; ``help`` asks for what there is (of ``service``, where one is).

    Where ``route`` is not sure, its candidates are to be asked of a model, or nothing is chosen.
    """

    text: str
    how: How
    service: Service | None = None
    subcommand: str | None = None
    route: Route | None = None
    unknown: str | None = None
    help: bool = False

    def is_elsewhere(self, service: str) -> bool:
        """Whether it is surely for another service."""
        is_sure = self.route is not None and self.route.sure
        return is_sure and self.service is not None and self.service.id != service


@dataclass(frozen=True)
class Chosen:
    """A service and what of it: ``subcommand`` is ``learn``, ``brainstorm`` or an action's id.

    ``rest`` is what the message says besides the name of an action that it begins with. Only where
    the values that were found are all of it, the message asks for that action for sure.
    """

    service: Service
    subcommand: str
    confidence: float
    how: How
    alternatives: list[Intent] = field(default_factory=list)
    rest: str = ""

    def is_sure_of(self, proposal: ActionProposal) -> bool:
        """Whether the message says nothing but the action's name and the proposal's values."""
        rest = _spaced(self.rest)
        sources = [each.source for each in proposal.parameters if each.found and each.source]
        for source in sorted(sources, key=len, reverse=True):
            rest = rest.replace(_spaced(source), " ")
        return re.search(r"\w", rest) is None


@dataclass(frozen=True)
class Offered:
    """Nobody knows what the message asks for. ``nearest`` may be meant; it may be empty where the
    message is for ``service``, whose help is shown then."""

    service: Service | None
    nearest: list[Intent]

    @classmethod
    def instead_of(cls, chosen: Chosen) -> Offered:
        """In place of what was chosen, which is the first of the offers."""
        first = Intent(service=chosen.service.id, subcommand=chosen.subcommand, confidence=0.5)
        return cls(chosen.service, [first, *chosen.alternatives][:MOST_OFFERS])

    def offers(self, registry: ServiceRegistry) -> list[ActionOffer]:
        """What the user can choose from."""
        offers = []
        for each in self.nearest:
            service = registry.find(each.service or "")
            action = service.action(each.subcommand or "") if service is not None else None
            if service is not None and action is not None:
                offers.append(
                    ActionOffer(
                        service=service.id,
                        subcommand=action.id,
                        title=f"{service.name}: {action.title}",
                        description=action.description,
                        message=f"/{service.id} {action.id}",
                    )
                )
        if offers and (service := self.service) is not None:
            offers.append(
                ActionOffer(
                    service=service.id,
                    subcommand=LEARN,
                    title=f"{service.name}: Learn",
                    description=service.description,
                    message=f"/{service.id} {LEARN}",
                )
            )
        return offers


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


def detect(
    router: Router, text: str, detection: IntentDetection, choice: IntentChoice | None = None
) -> Detected | None:
    """What can be said without a model; None for an ordinary message."""
    registry = router.registry
    command = command_in(text)
    if choice is not None:
        service = registry.find(choice.service) if choice.service is not None else None
        if service is None:
            return None
        return Detected(command.text if command else text, "chosen", service, choice.subcommand)
    if detection == "off":
        return None
    if command is not None:
        return _of_command(registry, command)
    if detection != "auto":
        return None
    route = router.service_of(text)
    if route.intent.service is None:
        return None
    return Detected(text, "ranking", registry.find(route.intent.service), route=route)


def _of_command(registry: ServiceRegistry, command: Command) -> Detected:
    if command.name == HELP:
        named = command.text.lstrip("/").lower()
        service = registry.find(named) if named else None
        if service is None and re.fullmatch(r"[\w-]+", named) and named not in PANEL_COMMANDS:
            return Detected(command.text, "command", unknown=named)
        return Detected(command.text, "command", service, help=True)
    service = registry.find(command.name)
    if service is None:
        return Detected(command.text, "command", unknown=command.name)
    return Detected(command.text, "command", service, help=not command.text)


def nearest_commands(router: Router, name: str) -> list[str]:
    """The commands that may have been meant, by what they do (`/plot`) or how they are spelt. For
    one of the panel, the service that does the like."""
    if name in PANEL_COMMANDS:
        return router.about(name)[:1]
    services = [each.id for each in router.registry]
    spelt = nearest(name, [*services, *sorted(PANEL_COMMANDS)])
    return list(dict.fromkeys([*router.about(name)[:1], *spelt]))[:3]


async def understand(
    router: Router, detected: Detected, ask: Ask | None
) -> Chosen | Offered | None:
    """Both levels, with a model where the ranking is not sure and there is one (``ask``). None:
    the message is an ordinary one. At most one request."""
    service, route, how = detected.service, detected.route, detected.how
    if ask is None and detected.subcommand is None:
        return _without_model(router, detected)
    if route is not None and not route.sure:
        return await _ask_both(router, route, detected.text, ask) if ask is not None else None
    if service is None:
        return None
    outside = list(route.alternatives) if route is not None else []
    confidence = route.intent.confidence if route is not None else 1.0
    if detected.subcommand is not None:
        inside = router.subcommand_of(service, detected.text)
        return Chosen(
            service, detected.subcommand, confidence, how, _others(inside, detected.subcommand)
        )
    inside, by_model = await _second_level(router, service, detected.text, ask)
    subcommand = inside.intent.subcommand or LEARN
    if by_model and how == "ranking":
        how = "model"
    others = [*_others(inside, subcommand), *outside]
    return Chosen(service, subcommand, confidence, how, others)


def _without_model(router: Router, detected: Detected) -> Chosen | Offered | None:
    """What the message names, or what it may mean."""
    service, text = detected.service, detected.text
    if detected.route is not None or service is None:
        nearest = router.nearest_actions(text)
        return Offered(None, nearest) if nearest else None
    nearest = router.nearest_actions(text, service)
    named = router.named(service, text)
    if named is None:
        return Offered(service, nearest)
    subcommand, rest = named
    if rest and service.action(subcommand) is None:
        return Offered(service, nearest)
    others = [each for each in nearest if each.subcommand != subcommand]
    return Chosen(service, subcommand, 1.0, detected.how, others, rest)


async def _ask_both(router: Router, route: Route, text: str, ask: Ask) -> Chosen | None:
    """One request for both levels: what is chosen is a service and what of it."""
    entries: dict[str, tuple[Service, str]] = {}
    lines = []
    for service in route.candidates:
        for sub, described in _entries(service):
            entries[f"{service.id}.{sub}"] = (service, sub)
            lines.append(f"- {service.id}.{sub}: {described}")
    choice = await _choose(ask, ["none", *entries], lines, text)
    if choice not in entries:
        return None
    service, sub = entries[choice]
    inside = router.subcommand_of(service, text)
    others = [*_others(inside, sub), *route.alternatives]
    return Chosen(service, sub, MODEL_CONFIDENCE, "model", others)


async def _second_level(
    router: Router, service: Service, text: str, ask: Ask | None
) -> tuple[Route, bool]:
    """It always chooses; and whether a model did."""
    route = router.subcommand_of(service, text)
    if route.sure or ask is None:
        return route, False
    lines = [f"- {sub}: {described}" for sub, described in _entries(service)]
    choice = await _choose(ask, subcommands(service), lines, text)
    if choice not in subcommands(service):
        return route, False
    intent = Intent(service=service.id, subcommand=choice, confidence=MODEL_CONFIDENCE)
    return Route(intent, tuple(_others(route, choice)), True), True


async def _choose(ask: Ask, choices: Sequence[str], lines: Sequence[str], text: str) -> str:
    question = "\n".join(["# Choices", *lines, "", "# Message", text])
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"choice": {"enum": list(choices)}},
        "required": ["choice"],
        "additionalProperties": False,
    }
    answer = await ask("intent.md", question, schema)
    return str(answer.get("choice")) if isinstance(answer, dict) else ""


def _others(route: Route, chosen: str) -> list[Intent]:
    return [each for each in (route.intent, *route.alternatives) if each.subcommand != chosen]


def _entries(service: Service) -> list[tuple[str, str]]:
    actions = [(each.id, f"{each.title}. {each.description}") for each in service.actions]
    return [
        *actions,
        (LEARN, f"a question about {service.name}: {service.description}"),
        (BRAINSTORM, f"ideas and decisions about {service.name}"),
    ]

"""What a message asks for, as far as no model reads it: a command, the user's choice, what the
message names exactly, and what it may mean, which is offered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from ..protocol.services import ActionOffer, ActionProposal, Intent, IntentChoice, IntentDetection
from ..services.registry import PANEL_COMMANDS, ServiceRegistry
from ..services.routing import LEARN, MOST_OFFERS, Command, Router, command_in, nearest
from ..services.service import Service

How = Literal["command", "ranking", "model", "chosen"]
HELP = "help"


@dataclass(frozen=True)
class Detected:
    """What a message asks for. ``text`` is the message without its command. ``unknown`` is a
    command that there is not; ``help`` asks for what there is (of ``service``, where one is).
    Without any of them the message is nearest to some actions, which are offered."""

    text: str
    how: How
    service: Service | None = None
    subcommand: str | None = None
    unknown: str | None = None
    help: bool = False


@dataclass(frozen=True)
class Chosen:
    """A service and what of it: ``subcommand`` is ``learn``, ``brainstorm`` or an action's id.

    ``rest`` is what the message says besides the name of an action that it begins with. Only where
    the values that were found are all of it, the message asks for that action for sure.
    """

    service: Service
    subcommand: str
    how: How
    alternatives: list[Intent] = field(default_factory=list)
    rest: str = ""

    def is_sure_of(self, proposal: ActionProposal) -> bool:
        """Whether the user chose it, or the message says nothing but its name and the proposal's
        values."""
        if self.how == "chosen":
            return True
        sources = [each.source for each in proposal.parameters if each.found and each.source]
        return says_only(self.rest, sources)


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


def says_only(text: str, values: Iterable[str]) -> bool:
    """Whether a text has no words but these values."""
    rest = _spaced(text)
    for value in sorted(values, key=len, reverse=True):
        rest = rest.replace(_spaced(value), " ")
    return re.search(r"\w", rest) is None


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


def detect(
    router: Router,
    text: str,
    detection: IntentDetection,
    choice: IntentChoice | None = None,
    *,
    has_model: bool = False,
) -> Detected | None:
    """What the message asks of the services; None for an ordinary message. A message without a
    command is ordinary where there is a model, which finds actions itself."""
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
    if has_model or detection != "auto" or not router.nearest_actions(text):
        return None
    return Detected(text, "ranking")


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


def understand(router: Router, detected: Detected) -> Chosen | Offered:
    """What the message names or the user chose; else what it may mean."""
    service, text = detected.service, detected.text
    near = router.nearest_actions(text, service)
    if service is None:
        return Offered(None, near)
    named = router.named(service, text)
    if (chosen := detected.subcommand) is not None:
        named = named if named is not None and named[0] == chosen else (chosen, "")
    elif named is None or (named[1] and service.action(named[0]) is None):
        return Offered(service, near)
    subcommand, rest = named
    others = [each for each in near if each.subcommand != subcommand]
    return Chosen(service, subcommand, detected.how, others, rest)

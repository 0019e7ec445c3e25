"""Which services and actions a text names, and which it is nearest to.

A model reads what a message asks for. Without one, what a message names exactly is chosen, and what
it is nearest to is offered.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..protocol.limits import MOST_CHARACTERS, compared
from ..protocol.services import Intent
from ..tools.ranking import Ranked, Ranking
from .action import Action
from .registry import ServiceRegistry
from .service import Service

# Slash commands at the beginning of a message.


# "/data" and "/data, please"; not "/home/me/cars.csv" nor "/2".
_COMMAND = re.compile(r"^\s*/([A-Za-z][A-Za-z0-9-]*)(?![\w/.])[,:]?\s*(.*)$", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A slash command: its name in lower case, and the text after it."""

    name: str
    text: str


def command_in(message: str) -> Command | None:
    """The command with which a message begins, whether it is known or not."""
    match = _COMMAND.match(message)
    return Command(match[1].lower(), match[2].strip()) if match else None


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names, the nearest first: those that begin so, and those that are spelt
    much alike."""
    names = list(known)
    begin = [each for each in names if each.startswith(name) or name.startswith(each)]
    alike = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return list(dict.fromkeys([*begin, *alike]))[:3]


LEARN, BRAINSTORM = "learn", "brainstorm"
ENOUGH_TERMS = 2
"""So many distinctive terms must a text share with a service and with its action: one alone ("check
it", "remove two") says too little."""
ENOUGH_WEIGHT = 0.4
"""So much of a text's weight must a service have; see ``Ranked.confidence``."""
MOST_OFFERS = 3
"""So many actions are offered where no model says what a message asks for."""

_FILE = re.compile(r"[\w~/\\.-]*\w\.([A-Za-z]\w{0,7})\b")
_NUMBER = re.compile(r"(?<!\w)\d[\d.,]*(?!\w)")
_PARTS = re.compile(r"[.;:!?]\s|[\n,()]")


class Router:
    """Ranks texts among the services and actions of a registry."""

    def __init__(self, registry: ServiceRegistry) -> None:
        self.registry = registry
        offered = [each for each in registry if not each.by_command]
        self._services = Ranking({each.id: _text_of(each) for each in offered})
        self._inside = {
            each.id: Ranking({action.id: text_of_action(action) for action in each.actions})
            for each in registry
        }
        self._actions = Ranking(
            {
                f"{each.id}/{action.id}": f"{each.id} {each.name} {text_of_action(action)}"
                for each in registry
                for action in each.actions
            }
        )

    def search(self, query: str, most: int) -> list[tuple[Service, type[Action]]]:
        """The actions of all services that share most with the query's words, the nearest first."""
        found = []
        for ranked in self._actions.rank(compared(query), by_common=True)[:most]:
            service_id, _, action_id = ranked.key.partition("/")
            service = self.registry.find(service_id)
            action = service.action(action_id) if service is not None else None
            if service is not None and action is not None:
                found.append((service, action))
        return found

    def services_in(self, task: str) -> list[Service]:
        """The services with an action that a part of a longer text may ask for; those that are
        asked by their command alone are left out."""
        found: dict[str, None] = {}
        for part in dict.fromkeys(_PARTS.split(compared(task))):
            for service_id, _ in self._possible(_without_names(part)):
                found[service_id] = None
        return [service for each in found if (service := self.registry.find(each)) is not None]

    def named(self, service: Service, text: str) -> tuple[str, str] | None:
        """What of the service the text begins with, by its id or title, and the rest of the text;
        for an example of an action, which names all of it, no rest. None where it names nothing."""
        words = text.strip().rstrip(".!").strip()
        folded = words.casefold()
        for action in service.actions:
            if any(folded == each.rstrip(".!").casefold() for each in action.examples):
                return action.id, ""
        names = [(name, each.id) for each in service.actions for name in (each.id, each.title)]
        names += [(LEARN, LEARN), (BRAINSTORM, BRAINSTORM)]
        # Of "merge" and "merge-cells" the longer one is meant.
        for name, subcommand in sorted(names, key=lambda each: -len(each[0])):
            rest = folded.removeprefix(name.casefold())
            if rest != folded and (not rest or rest[0].isspace()):
                return subcommand, words[len(name) :].strip()
        return None

    def nearest_actions(self, text: str, service: Service | None = None) -> list[Intent]:
        """The actions that share most with the words of a text, of all services or of one: up to
        ``MOST_OFFERS``, the nearest first. They can be offered; none is known to be meant. Where a
        service has few that are near, its first others follow: one alone looks like an answer."""
        if len(text) > MOST_CHARACTERS:
            return []
        words = _without_names(text)
        if service is None:
            ranked = sorted(self._possible(words), key=lambda each: -each[1].score)
            return [_intent(*each) for each in ranked][:MOST_OFFERS]
        near = [
            _intent(service.id, each)
            for each in self._inside[service.id].rank(words, by_common=True)
        ]
        if near:
            ids = {each.subcommand for each in near}
            others = [each.id for each in service.actions if each.id not in ids]
            near += [Intent(service=service.id, subcommand=each) for each in others]
        return near[:MOST_OFFERS]

    def about(self, words: str) -> list[str]:
        """The ids of the services that these words are nearest to; the nearest first."""
        every = Ranking({each.id: _text_of(each) for each in self.registry})
        return [each.key for each in every.rank(words) if each.distinctive]

    def _possible(self, words: str) -> list[tuple[str, Ranked]]:
        """The actions that the words may ask for, each with its service's id."""
        return [
            (service.key, action)
            for service in self._services.rank(words)
            if service.distinctive >= ENOUGH_TERMS and service.confidence >= ENOUGH_WEIGHT
            for action in self._inside[service.key].rank(words)
            if action.distinctive >= ENOUGH_TERMS
        ]


def _intent(service: str, ranked: Ranked) -> Intent:
    return Intent(service=service, subcommand=ranked.key, confidence=round(ranked.confidence, 2))


def _without_names(message: str) -> str:
    """The message with the ends of file names only, and without numbers: what a file is called, and
    how many of something, says nothing of what is asked for."""
    return _NUMBER.sub(" ", _FILE.sub(r" \1 ", message))


def _text_of(service: Service) -> str:
    texts: Sequence[str] = [
        service.id,
        service.name,
        service.description,
        *service.examples,
        *service.config.topics,
    ]
    actions = [text for a in service.actions for text in (a.title, *a.examples)]
    return " ".join([*texts, *actions])


def text_of_action(action: type[Action]) -> str:
    """What an action is found by."""
    return " ".join([action.id, action.title, action.title, action.description, *action.examples])

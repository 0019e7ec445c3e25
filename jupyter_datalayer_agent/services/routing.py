"""What a message asks for: a service, and what of it. Both levels, as far as no model is needed.

On the first level a service is chosen, or none: then the message is an ordinary one. Inside a
service the second level always chooses: to learn, to brainstorm, or one of the actions.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..protocol.limits import MOST_CHARACTERS, compared
from ..protocol.services import Intent
from ..tools.ranking import Ranked, Ranking, terms
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
SURE = 0.6
"""From this confidence on a service is chosen without a model."""
POSSIBLE = 0.5
"""From this confidence on a model is asked whether the message is for a service."""
INSIDE = 0.35
"""From this confidence on an action is chosen inside a service without a model."""
ENOUGH_TERMS = 2
"""So many terms besides words of most messages must a message without a command share with a
service: one alone ("check it", "remove two") says too little."""
LEAD = 1.3
"""By how much the best must score above the second to be chosen without a model."""
MOST_OFFERS = 3
"""So many are offered where no model says what a message asks for."""
MOST_WORDS = 60
"""A longer message describes a task: it is an ordinary one."""

_QUESTION = re.compile(
    r"^\s*(?:please\s+)?(?:how|what|why|when|where|which|who|is|are|does|do|can i|could i|should i"
    r"|explain|tell me|describe|wie|was|warum|wann|wo|welche\w*|ist|sind|erklar\w*|comment|pourquoi"
    r"|quand|quel\w*|qu|est|explique\w*|como|que|por que|cuando|donde|cual\w*|explica\w*)\b",
    re.I,
)
_IDEAS = re.compile(
    r"\b(?:brainstorm\w*|ideas?|suggest\w*|options|alternatives|advice|advise|recommend\w*"
    r"|pros and cons|trade-?offs?|compare|better|best way|not sure|help me (?:choose|decide|pick)"
    r"|should i|which (?:\w+ )?(?:should|would|is best)|ideen|vorschlag\w*|vorschlage"
    r"|empfiehl\w*|besser|idees?|propose\w*|conseil\w*|mieux|sugerencias?|aconseja\w*|mejor)\b",
    re.I,
)
# "Do not export it", "bitte nicht installieren", "n'installe rien": nothing is to be done, unless
# "but as PDF" follows.
_REFUSED = re.compile(
    r"^\W*(?:(?:please|bitte|s['’]il (?:te|vous) pla[iî]t|por favor)\W+)*"
    r"(?:(?:do|you (?:must|should|need)) ?n[o'’]t\b|dont\b|never\b|no need\b|nicht\b|nichts\b"
    r"|kein\w*\b|n['’]\w+ (?:pas|rien)\b|ne \w+ (?:pas|rien)\b|no \w+(?:es|as|ar|er|ir)\b"
    r"|\w+ (?:(?!(?:und|oder|aber|et)\b)[\w.]+ ){0,4}(?:nicht|nichts|rien)\b)(?! (?:you|we)\b)"
    r"(?!.*\b(?:but|instead|rather|sondern|stattdessen|lieber|mais|plut[oô]t|sino)\b)",
    re.I | re.S,
)
_FILE = re.compile(r"[\w~/\\.-]*\w\.([A-Za-z]\w{0,7})\b")
_NUMBER = re.compile(r"(?<!\w)\d[\d.,]*(?!\w)")
_PARTS = re.compile(r"[.;:!?]\s|[\n,()]|\b(?:and|then|und|dann|et|puis|y|luego)\b", re.I)
# About a cell, code, a plot: the notebook's own work.
_NO_SERVICE = re.compile(
    r"\b(?:cells?|zellen?|cellules?|celdas?|functions?|loops?|variables?|axis|legend|traceback"
    r"|errors?|exception|bug)\b|```|\bin \d+\b",
    re.I,
)


@dataclass(frozen=True)
class Route:
    """What was found. ``candidates`` are what a model is to choose from, where it is not sure."""

    intent: Intent
    alternatives: tuple[Intent, ...] = ()
    sure: bool = False
    candidates: tuple[Service, ...] = field(default=())


class Router:
    """Ranks a message among the services of a registry."""

    def __init__(self, registry: ServiceRegistry) -> None:
        self.registry = registry
        self._services = Ranking(
            {each.id: _text_of(each) for each in registry if not each.by_command}
        )
        self._excluded = {
            each.id: frozenset(terms(" ".join(each.config.not_topics))) for each in registry
        }
        self._triggers = {
            each.id: frozenset(terms(" ".join(each.config.triggers))) for each in registry
        }
        self._inside = {
            each.id: Ranking(
                {
                    action.id: " ".join(
                        [
                            action.id,
                            action.title,
                            action.title,
                            action.description,
                            *action.examples,
                        ]
                    )
                    for action in each.actions
                }
            )
            for each in registry
        }

    def service_of(self, message: str) -> Route:
        """The first level, for a message without a command."""
        nothing = Route(Intent(), sure=True)
        if len(message) > MOST_CHARACTERS or len(message.split()) > MOST_WORDS:
            return nothing
        if _NO_SERVICE.search(message) or refuses(message):
            return nothing
        message = _without_names(message)
        asked = terms(message)
        ranked = [
            each
            for each in self._services.rank(message)
            if self._is_possible(each, asked) and self._excluded[each.key].isdisjoint(asked)
        ]
        if not ranked:
            return nothing
        best, *others = ranked
        alternatives = tuple(
            Intent(service=each.key, confidence=round(each.confidence, 2)) for each in others[:3]
        )
        intent = Intent(service=best.key, confidence=round(best.confidence, 2))
        leads = not others or best.score >= LEAD * others[0].score
        inside = self._inside[best.key].rank(message)
        # The agent does most things itself: a service is chosen for one of its actions.
        acts = bool(inside) and self._is_possible(inside[0], asked, best.key)
        needed = INSIDE if self._begins_with_trigger(asked, best.key) else SURE
        sure = best.confidence >= needed and leads and acts and asks_to_act(message)
        candidates = tuple(
            service for each in ranked[:3] if (service := self.registry.find(each.key)) is not None
        )
        return Route(intent, alternatives, sure, candidates)

    def services_in(self, task: str) -> list[Service]:
        """The services with an action that a part of a longer text may ask for; nothing is chosen,
        and those that are asked by their command alone are left out."""
        found: dict[str, None] = {}
        for part in dict.fromkeys(_PARTS.split(compared(task))):
            if not part.strip() or _NO_SERVICE.search(part) or refuses(part):
                continue
            part = _without_names(part)
            asked = terms(part)
            for each in self._services.rank(part)[:2]:
                inside = self._inside[each.key].rank(part)[:1]
                if self._excluded[each.key].isdisjoint(asked) and any(
                    self._is_possible(best, asked, each.key) for best in inside
                ):
                    found[each.key] = None
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
        if service is not None:
            ranked = self._inside[service.id].rank(words, by_common=True)
            found = [(service.id, each) for each in ranked]
        else:
            found = [
                (key, each)
                for key in (possible.key for possible in self._services.rank(words))
                for each in self._inside[key].rank(words)
            ]
            found.sort(key=lambda each: -each[1].score)
        near = [
            Intent(service=key, subcommand=each.key, confidence=round(each.confidence, 2))
            for key, each in found
        ]
        if service is not None and near:
            ids = {each.subcommand for each in near}
            others = [each.id for each in service.actions if each.id not in ids]
            near += [Intent(service=service.id, subcommand=each) for each in others]
        return near[:MOST_OFFERS]

    def about(self, words: str) -> list[str]:
        """The ids of the services that these words are nearest to; the nearest first."""
        every = Ranking({each.id: _text_of(each) for each in self.registry})
        return [each.key for each in every.rank(words) if each.distinctive]

    def _is_possible(self, found: Ranked, asked: Sequence[str], service: str | None = None) -> bool:
        if self._begins_with_trigger(asked, service or found.key):
            return True
        return found.distinctive >= ENOUGH_TERMS and found.confidence >= POSSIBLE

    def _begins_with_trigger(self, asked: Sequence[str], service: str) -> bool:
        return bool(asked) and asked[0] in self._triggers[service]

    def subcommand_of(self, service: Service, message: str) -> Route:
        """The second level, inside a service."""
        message = compared(message)
        ranked = self._inside[service.id].rank(message, by_common=True)
        actions = [
            Intent(service=service.id, subcommand=each.key, confidence=round(each.confidence, 2))
            for each in ranked
        ]
        learn = Intent(service=service.id, subcommand=LEARN, confidence=0.5)
        ideas = Intent(service=service.id, subcommand=BRAINSTORM, confidence=0.5)
        if _IDEAS.search(message):
            chosen, sure = ideas, True
        elif _QUESTION.search(message) or refuses(message) or not actions:
            chosen, sure = learn, True
        else:
            chosen = actions[0]
            leads = len(ranked) < 2 or ranked[0].score >= LEAD * ranked[1].score
            sure = chosen.confidence >= INSIDE and leads
        others = [each for each in (*actions[:3], learn, ideas) if each != chosen]
        return Route(chosen, tuple(others), sure, (service,))


def _without_names(message: str) -> str:
    """The message with the ends of file names only, and without numbers: what a file is called, and
    how many of something, says nothing of what is asked for."""
    return _NUMBER.sub(" ", _FILE.sub(r" \1 ", message))


def asks_to_act(message: str) -> bool:
    """Whether a message inside a service is neither a question nor about ideas."""
    return not (_QUESTION.search(message) or _IDEAS.search(message) or refuses(message))


def refuses(message: str) -> bool:
    """Whether a message only says what is not to be done."""
    return _REFUSED.search(message) is not None


def subcommands(service: Service) -> list[str]:
    """All that the second level can choose from."""
    return [*(each.id for each in service.actions), LEARN, BRAINSTORM]


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

"""What a service is: an area that the agent knows about, and the actions that it has there.

A service is declared once, as a ``Service``, and offered under the entry point group
``jupyter_datalayer_agent.services``. docs/adding-a-service.md has a complete example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..tools.ranking import Ranking
from .action import Action
from .benchmarks import Case

_ID = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True)
class Link:
    """A page where more is said."""

    title: str
    url: str


@dataclass(frozen=True)
class ServiceConfig:
    """What the agent knows about an area.

    ``context`` is Markdown, of which learning answers and brainstorming start: each of its
    paragraphs should be true by itself. ``questions`` are those whose answers change what is
    advised. ``topics`` are further words by which its actions are ranked.
    """

    context: str
    links: Sequence[Link] = ()
    topics: Sequence[str] = ()
    questions: Sequence[str] = ()


@dataclass(frozen=True)
class Service:
    """A service. ``id`` is its slash command (lower case, digits and hyphens).

    ``examples`` are messages that it is for. ``actions`` are the classes of its actions. Where
    another distribution brings these, ``actions_from`` is its name: learning and brainstorming work
    without it, and the user is asked to install it for the rest. ``cases`` gives its benchmark
    cases; those of this package are found by themselves (``cases.CASES`` beside the declaration).
    ``by_command``: only its command asks for it, since the agent itself is asked for such things.
    """

    id: str
    name: str
    description: str
    config: ServiceConfig
    examples: Sequence[str]
    actions: Sequence[type[Action]] = ()
    actions_from: str | None = None
    by_command: bool = False
    cases: Callable[[], Sequence[Case]] | None = None
    from_package: str | None = field(default=None, compare=False)

    def check(self) -> None:
        """Raises ``ValueError`` that says what of the declaration is wrong."""
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise ValueError(
                f"The id {self.id!r} is no slash command: use lower-case letters, digits and "
                "hyphens, beginning with a letter."
            )
        for what in ("name", "description"):
            if not isinstance(getattr(self, what), str) or not getattr(self, what).strip():
                raise ValueError(f"The service {self.id!r} has no {what}.")
        if not isinstance(self.config, ServiceConfig):
            raise ValueError(f"The config of {self.id!r} is no ServiceConfig.")
        ids = set()
        for action in self.actions:
            if not (isinstance(action, type) and issubclass(action, Action)):
                raise ValueError(f"{action!r} of the service {self.id!r} is no Action class.")
            action.check()
            if action.id in ids:
                raise ValueError(f"The service {self.id!r} has two actions {action.id!r}.")
            ids.add(action.id)

    def action(self, action_id: str) -> type[Action] | None:
        """The action of that id, or None."""
        return next((each for each in self.actions if each.id == action_id), None)

    @property
    def installed(self) -> bool:
        """Whether its actions can be run."""
        return self.actions_from is None or bool(self.actions)

    @property
    def install(self) -> str | None:
        """The command that installs its actions; None where they are there."""
        return None if self.installed else f"pip install {self.actions_from}"

    @property
    def not_installed(self) -> str:
        """For the user: that its actions are not there, and what to do."""
        return (
            f"The actions of {self.name} are not installed. To install them: `{self.install}`, "
            "then restart the server."
        )


# The passages of a service's config that are nearest to a question, each with where it is from.


MOST_PASSAGES = 3
# "[1]", and not the text of a link.
_CITED = re.compile(r"\[(\d+)\](?!\()")


@dataclass(frozen=True)
class Passage:
    """A paragraph of a config; ``heading`` is the one above it."""

    number: int
    heading: str
    text: str


def passages(service: Service) -> list[Passage]:
    """The config's paragraphs, numbered from 1."""
    found: list[Passage] = []
    heading = service.name
    for block in re.split(r"\n\s*\n", service.config.context.strip()):
        lines = block.strip().splitlines()
        while lines and (match := re.match(r"#+\s+(.*)", lines[0])):
            heading = match[1].strip()
            lines = lines[1:]
        if lines:
            found.append(Passage(len(found) + 1, heading, "\n".join(lines).strip()))
    return found


def best_passages(service: Service, question: str) -> list[Passage]:
    """Those nearest to the question; the first ones where none has anything to do with it."""
    every = passages(service)
    texts = {str(each.number): f"{each.heading} {each.text}" for each in every}
    ranked = [int(each.key) for each in Ranking(texts).rank(question)][:MOST_PASSAGES]
    return [each for each in every if each.number in ranked] or every[:MOST_PASSAGES]


def passages_text(service: Service, question: str) -> str:
    """The passages nearest to a question, in Markdown."""
    parts = []
    for heading, found in groupby(best_passages(service, question), lambda each: each.heading):
        parts += [f"**{heading}**", *(each.text for each in found)]
    return "\n\n".join(parts)


def with_sources(answer: str, service: Service, question: str) -> str:
    """An answer that names passages as [1], with a line for each that it names. Numbers of passages
    that there are not are taken out. One that names none is followed by those nearest to the
    ``question``."""
    known = {each.number: each for each in passages(service)}
    named = [int(number) for number in _CITED.findall(answer)]
    for number in set(named) - known.keys():
        answer = re.sub(rf"\s?\[{number}\](?!\()", "", answer)
    sources = [
        f"- [{number}] {service.name}, {known[number].heading}"
        for number in sorted(set(named) & known.keys())
    ]
    if sources:
        return "\n".join([answer, "", *sources])
    found = passages_text(service, question)
    if not found:
        return answer
    return f"{answer}\n\n*The model named no source. What {service.name} knows:*\n\n{found}"

"""What a service is: an area that the agent knows about, and the actions that it has there.

A service is declared once, as a ``Service``, and offered under the entry point group
``jupyter_datalayer_agent.services``. docs/adding-a-service.md has a complete example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
    advised. ``topics`` are words that a message about the area has, and ``not_topics`` those of
    messages that use its words for something else ("clean the data" cleans no notebook): without
    its command, they are not for it. A message whose first word is one of ``triggers`` is for it
    even where it shares no other word ("install polars").
    """

    context: str
    links: Sequence[Link] = ()
    topics: Sequence[str] = ()
    not_topics: Sequence[str] = ()
    triggers: Sequence[str] = ()
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

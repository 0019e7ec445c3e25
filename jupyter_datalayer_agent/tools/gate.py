"""The gate: what a message may read, change and run.

A ``Gate`` is made once, when a message is submitted, so that a change of tab never redirects an
edit. It is checked twice: when tools are listed for the model, and at dispatch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ..notebook.files.kinds import is_lexical
from ..protocol.base import Location, Mode, NotebookMode
from ..protocol.renames import Rename
from ..protocol.tools import MissingRequirement

NO_NOTEBOOK = (
    "No active notebook found. Ask the user to open the notebook, make it the active tab and "
    "attach it to the chat, then send the message again."
)
NO_LEXICAL = (
    "No active Lexical document found. Ask the user to open the document, make it the active tab "
    "and attach it to the chat, then send the message again."
)


class GatedTool(Protocol):
    """What the gate needs to know of a tool."""

    @property
    def name(self) -> str:
        """The name that the model calls."""
        ...

    @property
    def changes(self) -> bool:
        """Whether it changes or runs something."""
        ...

    @property
    def parallel(self) -> bool:
        """Whether it only reads, and so may run in parallel with other reads."""
        ...

    @property
    def needs_notebook(self) -> bool:
        """Whether it works on the attached, active notebook."""
        ...

    @property
    def needs_lexical(self) -> bool:
        """Whether it works on the attached, active Lexical document."""
        ...

    @property
    def asks(self) -> bool:
        """Whether it asks the user a question."""
        ...


Gated = TypeVar("Gated", bound=GatedTool)


@dataclass(frozen=True)
class Refusal:
    """Why a tool may not be used, and what would allow it.

    ``message`` and ``hint`` are for the model, ``summary`` for the user; ``needs`` is what the user
    can add to the message. ``lacks_notebook`` and ``lacks_lexical``: the only reason is that there
    is no such document.
    """

    message: str
    hint: str
    summary: str
    needs: MissingRequirement | None = None
    lacks_lexical: bool = False
    lacks_notebook: bool = False


@dataclass
class Gate:
    """Mode, place and target notebooks of one message.

    ``attached`` are the notebooks attached to the message, ``active`` the active one, ``created``
    those that the agent created in this session, oldest first: they count as attached and active.
    ``below`` is the cell of the target under which new cells go by default: the magic's, then the
    newest one. ``files`` are the files that the user attached: of these alone secrets may be read.
    ``lexical_attached`` and ``lexical_active`` are Lexical documents; ``created`` has both kinds.
    ``has_user``: somebody can answer a question while the message is being worked on.
    """

    mode: Mode
    location: Location = "api"
    attached: frozenset[str] = frozenset()
    active: str | None = None
    created: list[str] = field(default_factory=list)
    below: str | None = None
    files: frozenset[str] = frozenset()
    lexical_attached: frozenset[str] = frozenset()
    lexical_active: str | None = None
    has_user: bool = True

    def renamed(self, rename: Rename) -> None:
        """Use the new path of a renamed document."""
        self.attached = frozenset(rename.paths(self.attached))
        self.active = rename.optional(self.active)
        self.files = frozenset(rename.paths(self.files))
        self.lexical_attached = frozenset(rename.paths(self.lexical_attached))
        self.lexical_active = rename.optional(self.lexical_active)
        self.created[:] = rename.paths(self.created)

    @classmethod
    def on(cls, path: str | None, mode: Mode = "agent") -> Gate:
        """The gate of a direct call on an explicit path, which counts as attached and active."""
        attached = frozenset([path] if path else [])
        if path is not None and is_lexical(path):
            return cls(mode=mode, lexical_attached=attached, lexical_active=path)
        return cls(mode=mode, attached=attached, active=path)

    @property
    def documents(self) -> list[str]:
        """All documents that the message is about."""
        paths = [*self.attached, *self.files, *self.lexical_attached, *self.created]
        return [*paths, *filter(None, [self.active, self.lexical_active])]

    @property
    def targets(self) -> list[str]:
        """The notebooks that notebook tools may work on; the first is the default one."""
        created = [path for path in self.created if not is_lexical(path)]
        return _targets(self.active, self.attached, created)

    @property
    def lexical_targets(self) -> list[str]:
        """The Lexical documents that block tools may work on; the first is the default one."""
        created = [path for path in self.created if is_lexical(path)]
        return _targets(self.lexical_active, self.lexical_attached, created)

    @property
    def target(self) -> str | None:
        """The notebook that a call without ``path`` means."""
        return next(iter(self.targets), None)

    @property
    def document(self) -> str | None:
        """The notebook or Lexical document that the message is about: the active one, else the
        newest that the agent created."""
        if self.lexical_active in self.lexical_targets:
            return self.lexical_active
        return self.target or next(iter(self.lexical_targets), None)

    @property
    def may_change(self) -> bool:
        """Whether tools may change and run something in this mode and place."""
        return self.mode == "agent" and self.location != "inline"

    @property
    def notebook_mode(self) -> NotebookMode:
        """Off without a target; else set by mode and place."""
        if not self.targets:
            return "off"
        return "full" if self.may_change else "read-only"

    @property
    def prompt_mode(self) -> NotebookMode:
        """The notebook mode of the system prompt. Where notebooks can be created, it stays the same
        once one is, which keeps the provider's prompt cache valid."""
        return "full" if self.may_change else self.notebook_mode

    def why_off(self) -> str | None:
        """Why notebook mode is off, for a user; None if it is on."""
        if self.targets:
            return None
        if not self.attached:
            return "No notebook is attached."
        advice = " Open it to let the agent see it." if self.active is None else ""
        return f"{self._off()}.{advice}"

    def refusal(self, tool: GatedTool) -> Refusal | None:
        """Why this tool may not be used at all with this message, or None."""
        if tool.changes and not self.may_change:
            if self.location == "inline":
                return Refusal(
                    f"{tool.name} changes or runs something; the inline chat only reads.",
                    "Answer with a proposal (a code block); the user applies it.",
                    "Not done: the inline chat is read-only",
                )
            return Refusal(
                f"{tool.name} changes or runs something, which only Agent mode may do.",
                f"This is {self.mode.capitalize()} mode. Tell the user that Agent mode can.",
                f"Not done: {self.mode.capitalize()} mode is read-only",
                "mode",
            )
        if tool.asks and not self.has_user:
            return Refusal(
                "No user is available to answer.",
                "Decide with what you know, and say what you assumed.",
                "Not done: no user is available to answer",
            )
        if tool.needs_notebook and not self.targets:
            return self._no_notebook()
        if tool.needs_lexical and not self.lexical_targets:
            return self._no_lexical()
        return None

    def path_refusal(self, path: str) -> Refusal | None:
        """Why a notebook tool may not work on this path, or None."""
        if path in self.targets:
            return None
        if self.target is None:
            return self._no_notebook()
        return Refusal(
            f"{path} is not the attached, active notebook of this message.",
            f"This message works on {self.target}. Leave path out, or ask the user to open "
            f"and attach {path}.",
            f"Not done: {path} is not the attached, active notebook",
            "notebook",
        )

    def lexical_refusal(self, path: str) -> Refusal | None:
        """Why a block tool may not work on this path, or None."""
        targets = self.lexical_targets
        if path in targets:
            return None
        if not targets:
            return self._no_lexical()
        return Refusal(
            f"{path} is not the attached, active Lexical document of this message.",
            f"This message works on {targets[0]}. Leave path out, or ask the user to open and "
            f"attach {path}.",
            f"Not done: {path} is not the attached, active document",
        )

    def _no_lexical(self) -> Refusal:
        names, why = ", ".join(sorted(self.lexical_attached)), "no Lexical document is attached"
        if names:
            why = f"{names} is attached but not the active tab"
        hint, summary = f"{why[0].upper()}{why[1:]}.", f"Not done: {why}"
        return Refusal(NO_LEXICAL, hint, summary, lacks_lexical=True)

    def _no_notebook(self) -> Refusal:
        return Refusal(
            NO_NOTEBOOK,
            self.why_off() or "",
            f"Not done: {self._off()}",
            "notebook",
            lacks_notebook=True,
        )

    def _off(self) -> str:
        """Why there is no target, as a clause."""
        names = ", ".join(sorted(self.attached))
        if not names:
            return "no notebook is attached"
        if self.active is None:
            return f"{names} is attached but not the active tab"
        return f"{names} is attached, but {self.active} is the active tab"

    def allowed(self, tools: Iterable[Gated]) -> list[Gated]:
        """The tools that may be used, in the registry's order."""
        return [each for each in tools if self.refusal(each) is None]

    def sent(self, tools: Iterable[Gated], *, with_blocks: bool) -> list[Gated]:
        """The tools that the model is sent. Those for notebooks are sent wherever one can be
        created, and those for blocks ``with_blocks``, even if there is no document yet: the
        provider's prompt cache is lost when the list of tools changes."""
        found = []
        for each in tools:
            refusal = self.refusal(each)
            if (
                refusal is None
                or (self.may_change and refusal.lacks_notebook)
                or (with_blocks and refusal.lacks_lexical)
            ):
                found.append(each)
        return found


def _targets(active: str | None, attached: frozenset[str], created: list[str]) -> list[str]:
    own = [path for path in reversed(created) if path != active]
    if active is not None and (active in attached or active in created):
        return [active, *own]
    return own

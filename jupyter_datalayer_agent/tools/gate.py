"""The gate: what a message may read, change and run (DESIGN 5).

A ``Gate`` is made once, when a message is submitted, so that a change of tab never redirects an
edit. It is checked twice: when tools are listed for the model, and at dispatch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ..protocol.base import Location, Mode, NotebookMode
from ..protocol.tools import MissingRequirement

NO_NOTEBOOK = (
    "No active notebook found. Ask the user to open the notebook, make it the active tab and "
    "attach it to the chat, then send the message again."
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
        """Whether it is a read, which may run beside others."""
        ...

    @property
    def needs_notebook(self) -> bool:
        """Whether it works on the attached, active notebook."""
        ...


Gated = TypeVar("Gated", bound=GatedTool)


@dataclass(frozen=True)
class Refusal:
    """Why a tool may not be used, and what would make it possible.

    ``message`` and ``hint`` are for the model, ``summary`` for the user; ``needs`` is what the
    message is missing, if the user can add it.
    """

    message: str
    hint: str
    summary: str
    needs: MissingRequirement | None = None


@dataclass
class Gate:
    """Mode, place and target notebooks of one message.

    ``attached`` are the notebooks attached to the message, ``active`` the active one, ``created``
    those that the agent created in this session, oldest first: they count as attached and active.
    ``below`` is the cell of the target under which new cells go by default: the magic's, then the
    newest one. ``files`` are the files that the user attached: of these alone secrets may be read.
    """

    mode: Mode
    location: Location = "api"
    attached: frozenset[str] = frozenset()
    active: str | None = None
    created: list[str] = field(default_factory=list)
    below: str | None = None
    files: frozenset[str] = frozenset()

    @classmethod
    def on(cls, path: str | None, mode: Mode = "agent") -> Gate:
        """For a direct call on an explicit path, which counts as attached and active."""
        return cls(mode=mode, attached=frozenset([path] if path else []), active=path)

    @property
    def targets(self) -> list[str]:
        """The notebooks that notebook tools may work on; the first is the default one."""
        own = [path for path in reversed(self.created) if path != self.active]
        if self.active is not None and (
            self.active in self.attached or self.active in self.created
        ):
            return [self.active, *own]
        return own

    @property
    def target(self) -> str | None:
        """The notebook that a call without ``path`` means."""
        return next(iter(self.targets), None)

    @property
    def may_change(self) -> bool:
        """Whether this mode and place let tools change and run."""
        return self.mode == "agent" and self.location != "inline"

    @property
    def notebook_mode(self) -> NotebookMode:
        """Off without a target; else by mode and place."""
        if not self.targets:
            return "off"
        return "full" if self.may_change else "read-only"

    def why_off(self) -> str | None:
        """For a user: why notebook mode is off, or None when it is on."""
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
        if tool.needs_notebook and not self.targets:
            return self._no_notebook()
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

    def _no_notebook(self) -> Refusal:
        return Refusal(NO_NOTEBOOK, self.why_off() or "", f"Not done: {self._off()}", "notebook")

    def _off(self) -> str:
        """Why there is no target, as a part of a sentence."""
        names = ", ".join(sorted(self.attached))
        if not names:
            return "no notebook is attached"
        if self.active is None:
            return f"{names} is attached but not the active tab"
        return f"{names} is attached, but {self.active} is the active tab"

    def allowed(self, tools: Iterable[Gated]) -> list[Gated]:
        """The tools that the model is sent, in the registry's order."""
        return [each for each in tools if self.refusal(each) is None]

"""Tools that the person refers to: by ``#name`` in the message, or attached to it."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.events import Warning_
from ..tools.gate import Refusal
from ..tools.registry import Alias, Tool
from .services import Services
from .targets import Submission

NOT_IN_MODE = "tool_not_in_mode"
NEEDS_NOTEBOOK = "tool_needs_notebook"


@dataclass(frozen=True)
class Reference:
    """A tool that is meant, and why it may not be used with this message."""

    tool: Tool
    refusal: Refusal | None


def references(services: Services, about: Submission) -> list[Reference]:
    """The tools that are meant, once each. A word with ``#`` that names no tool is a word."""
    found: dict[str, Reference] = {}
    for name in about.references:
        tool = services.registry.find(name)
        if isinstance(tool, Alias):
            tool = services.registry.tool(tool.tool)
        if tool is not None:
            found[tool.name] = Reference(tool, about.gate.refusal(tool))
    return list(found.values())


def hint(meant: list[Reference]) -> str:
    """What the model is told of them; it neither enables nor forces a tool."""
    lines = [f"The person means these tools: {', '.join(each.tool.name for each in meant)}"]
    lines += [
        f"Not available now: {each.refusal.message} {each.refusal.hint}".rstrip()
        for each in meant
        if each.refusal is not None
    ]
    return "\n".join(lines)


def warnings(meant: list[Reference], about: Submission) -> list[Warning_]:
    """What the person is told of those that cannot be used, with what would make it possible."""
    told = []
    only_agent = [each.tool.name for each in meant if each.refusal and _changes(each, about)]
    if only_agent:
        names = " and ".join(f"#{name}" for name in only_agent)
        mode = about.mode.capitalize()
        can = "change and run" if len(only_agent) > 1 else "changes or runs something"
        message = (
            f"{names} {can}, which {mode} mode does not. Switch to Agent mode to use "
            f"{'them' if len(only_agent) > 1 else 'it'}."
        )
        told.append(Warning_(code=NOT_IN_MODE, message=message))
    others = [each.tool.name for each in meant if each.refusal and not _changes(each, about)]
    if others:
        names = " and ".join(f"#{name}" for name in others)
        needs = "need" if len(others) > 1 else "needs"
        told.append(
            Warning_(
                code=NEEDS_NOTEBOOK,
                message=f"{names} {needs} a notebook that is attached and in front. "
                f"{about.gate.why_off() or ''}".rstrip(),
            )
        )
    return told


def _changes(reference: Reference, about: Submission) -> bool:
    return reference.tool.changes and not about.gate.may_change and about.location != "inline"

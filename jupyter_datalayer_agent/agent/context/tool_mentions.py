"""Tools that the user refers to: by ``#name`` in the message, or attached to it."""

from __future__ import annotations

from dataclasses import dataclass

from ...protocol.events import Warning_
from ...tools.gate import Refusal
from ...tools.registry import Tool
from ..request import TurnRequest

NOT_IN_MODE = "tool_not_in_mode"
NEEDS_NOTEBOOK = "tool_needs_notebook"


@dataclass(frozen=True)
class Reference:
    """A mentioned tool, and why it may not be used with this message."""

    tool: Tool
    refusal: Refusal | None


def references(request: TurnRequest) -> list[Reference]:
    """The mentioned tools, once each. ``#`` before anything else is plain text."""
    found: dict[str, Reference] = {}
    for name in request.references:
        tool = request.tools.behind(name)
        if tool is not None:
            found[tool.name] = Reference(tool, request.gate.refusal(tool))
    return list(found.values())


def hint(meant: list[Reference]) -> str:
    """What the model is sent about them; it neither enables nor forces a tool."""
    lines = [f"The user means these tools: {', '.join(each.tool.name for each in meant)}"]
    lines += [
        f"Not available now: {each.refusal.message} {each.refusal.hint}".rstrip()
        for each in meant
        if each.refusal is not None
    ]
    return "\n".join(lines)


def warnings(meant: list[Reference], request: TurnRequest) -> list[Warning_]:
    """Warnings about those that cannot be used, with what would make it possible."""
    found = []
    only_agent = [each.tool.name for each in meant if each.refusal and _changes(each, request)]
    if only_agent:
        names = " and ".join(f"#{name}" for name in only_agent)
        mode = request.mode.capitalize()
        can = "change and run" if len(only_agent) > 1 else "changes or runs something"
        message = (
            f"{names} {can}, which {mode} mode does not. Switch to Agent mode to use "
            f"{'them' if len(only_agent) > 1 else 'it'}."
        )
        found.append(Warning_(code=NOT_IN_MODE, message=message))
    others = [each.tool.name for each in meant if each.refusal and not _changes(each, request)]
    if others:
        names = " and ".join(f"#{name}" for name in others)
        needs = "need" if len(others) > 1 else "needs"
        found.append(
            Warning_(
                code=NEEDS_NOTEBOOK,
                message=f"{names} {needs} a notebook that is attached and active. "
                f"{request.gate.why_off() or ''}".rstrip(),
            )
        )
    return found


def _changes(reference: Reference, request: TurnRequest) -> bool:
    return reference.tool.changes and not request.gate.may_change and request.location != "inline"

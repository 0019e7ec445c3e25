"""The tools with which a model finds and proposes the actions of services, which the user runs.

They are not in the registry of all tools: a turn adds them where it can show a form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pydantic import Field

from ...protocol.base import Wire
from ..context import ToolContext
from ..registry import Tool, ToolOutcome, tool


class FindActions(Wire):
    """Arguments of ``findActions``."""

    query: str = Field(min_length=1, max_length=1_000, description="In English")


class ProposeAction(Wire):
    """Arguments of ``proposeAction``."""

    service: str
    action: str
    parameters: dict[str, Any] = Field(
        default={}, description="Only what the user said; leave out the rest"
    )
    sources: dict[str, str] = Field(
        default={}, description="By parameter: the user's words that say its value"
    )


@tool(
    FindActions,
    group="conversation",
    label=("Find an action", "Looking for an action"),
    parallel=True,
)
async def find_actions(args: FindActions, context: ToolContext) -> ToolOutcome:
    """Find actions that the user runs from a form, in the areas below. Look here before you do such
    a thing in code. Work on cells, code and plots is yours."""
    found = context.find_actions(args.query)
    return ToolOutcome({"actions": found}, f"{len(found)} actions found")


@tool(
    ProposeAction,
    group="conversation",
    label=("Propose an action", "Preparing an action"),
)
async def propose_action(args: ProposeAction, context: ToolContext) -> ToolOutcome:
    """Show the user an action's form, filled in. It runs nothing, and ends your turn: the user
    checks the form and runs it. Call it only where the user asks for that to be done now. To change
    a form that is shown, call it again with what changes."""
    title = await context.propose_action(args.service, args.action, args.parameters, args.sources)
    return ToolOutcome({"shown": title}, f"Proposed: {title}")


def action_tools(areas: Iterable[str]) -> list[Tool]:
    """Both tools. ``areas`` are the names of the services that have actions."""
    description = f"{find_actions.description} Areas: {', '.join(areas)}."
    return [replace(find_actions, description=description), propose_action]

"""The tools by which a model reaches the actions of services: it finds and proposes them, and the
user runs them. A turn offers them itself, since what they find and show is its own."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ...protocol.base import Wire
from ..context import ToolContext
from ..registry import ToolOutcome, tool


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
    """Find actions that are built in here and that the user runs by a form: exporting and cleaning
    up notebooks, converting and joining data files, installing packages, JupyterLab's settings and
    files, reports and models. Look here before you do such a thing by code. Work on cells, code and
    plots is yours."""
    found = context.find_actions(args.query)
    return ToolOutcome({"actions": found}, f"{len(found)} actions found")


@tool(
    ProposeAction,
    group="conversation",
    label=("Propose an action", "Preparing an action"),
    basic=True,
)
async def propose_action(args: ProposeAction, context: ToolContext) -> ToolOutcome:
    """Show the user an action's form, filled in. It runs nothing, and ends your turn: the user
    checks the form and runs it. Call it only where the user asks for that to be done now. To change
    a form that is shown, call it again with what changes."""
    title = await context.propose_action(args.service, args.action, args.parameters, args.sources)
    return ToolOutcome({"shown": title}, f"Proposed: {title}")

"""Events of services: what a message asks for, and actions proposed and run."""

from __future__ import annotations

from typing import Literal

from ..services import ActionOffer, ActionProposal, ActionStatus, Intent, ServiceHelp
from .base import BaseEvent


class IntentDetected(BaseEvent):
    """What the message is understood to ask for, and what else it could; ``how`` that was found:
    the user typed the command or chose it, a ranking or a model detected it."""

    type: Literal["intent_detected"] = "intent_detected"
    service: str
    subcommand: str
    title: str
    confidence: float
    alternatives: list[Intent] = []
    how: Literal["command", "ranking", "model", "chosen"]


class HelpShown(BaseEvent):
    """What the agent can do, by service, with examples that can be sent."""

    type: Literal["help_shown"] = "help_shown"
    services: list[ServiceHelp]


class ActionsOffered(BaseEvent):
    """No model could say what the message asks for, and these are nearest to its words, the nearest
    first. Nothing was proposed or run. ``text`` introduces them."""

    type: Literal["actions_offered"] = "actions_offered"
    text: str
    offers: list[ActionOffer]


class CommandUnknown(BaseEvent):
    """The message begins with a command that there is not; ``nearest`` may be meant. It can be sent
    again as an ordinary message."""

    type: Literal["command_unknown"] = "command_unknown"
    command: str
    nearest: list[str] = []


class ActionProposed(BaseEvent, ActionProposal):
    """An action that the user may run, with the parameters found. Nothing was executed. Another one
    of the same ``proposal_id`` takes the place of the first."""

    type: Literal["action_proposed"] = "action_proposed"


class ActionStarted(BaseEvent):
    """The user ran an action."""

    type: Literal["action_started"] = "action_started"
    service: str
    action: str
    title: str
    proposal_id: str | None = None


class ActionProgress(BaseEvent):
    """How far the action is: ``fraction`` from 0 to 1, None where that is not known."""

    type: Literal["action_progress"] = "action_progress"
    message: str
    fraction: float | None = None


class ActionFinished(BaseEvent):
    """The action ended. ``output`` is Markdown, ``paths`` the files that it wrote; ``error`` says
    what went wrong and what to do."""

    type: Literal["action_finished"] = "action_finished"
    status: ActionStatus
    output: str = ""
    paths: list[str] = []
    error: str | None = None

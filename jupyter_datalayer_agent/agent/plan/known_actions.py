"""The actions that may be steps of a plan: those that the planner is offered, and what it names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ...protocol.errors import AgentError
from ...protocol.services import IntentDetection
from ...services.action import Action
from ...services.questions import questions_of
from ...services.workflow_action import WorkflowAction
from ..actions.proposals import find_action
from ..approvals.pending import Audience
from ..request import TurnRequest
from ..runtime import Runtime

NOBODY = (
    "It is an action that the user runs in a form, and nobody can do that over this route. Send it "
    "in JupyterLab, in the Agent panel, in a terminal, or over chat/stream with runsActions."
)


class KnownActions:
    """The actions of the installed services; those of services that come into question for the task
    are offered where services are detected (``detection``) and there is somebody who can run them:
    a page, or a program that says so (``runs_actions``)."""

    def __init__(
        self,
        runtime: Runtime,
        request: TurnRequest,
        detection: IntentDetection,
        audience: Audience,
    ) -> None:
        self._runtime = runtime
        self._task = request.text
        self._offers = detection == "auto"
        listens = audience == "stream" and request.chat.runs_actions
        self.can_run = audience == "page" or listens

    @cached_property
    def offered(self) -> dict[str, type[Action]]:
        """The actions that the planner is offered, by their names in a plan."""
        if not (self._offers and self.can_run):
            return {}
        return {
            f"{service.id}/{action.id}": action
            for service in self._runtime.router().services_in(self._task)
            for action in service.actions
            if not issubclass(action, WorkflowAction)
        }

    @property
    def lines(self) -> list[str]:
        """The offered actions, a line each, with the names of their parameters."""
        return [_line(name, action) for name, action in self.offered.items()]

    def find(self, name: str) -> tuple[str, str, type[Action]]:
        """The ids of the service and of the action, and the action. Raises ``AgentError`` that says
        what there is."""
        service_id, _, action_id = name.strip().lower().lstrip("/").partition("/")
        return (
            service_id,
            action_id,
            find_action(self._runtime.service_registry(), service_id, action_id),
        )

    def check(self, name: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The action's name and the parameters without secrets, as a plan has them. Raises
        ``AgentError`` that says what is wrong."""
        if not self.can_run:
            raise AgentError("invalid_request", NOBODY)
        service_id, action_id, action = self.find(name)
        if issubclass(action, WorkflowAction):
            raise AgentError("invalid_request", "It is a plan itself. Plan its steps by tools.")
        known = {name: value for name, value in given.items() if value is not None}
        if not action.has_wizard():
            fields = action.Parameters.model_fields
            unknown = [name for name in known if name not in fields]
            if unknown:
                names = ", ".join(fields) or "none"
                raise AgentError(
                    "invalid_request",
                    f"It has no parameter {unknown[0]!r}. Its parameters are: {names}.",
                )
        secrets = {each.name for each in questions_of(action.Parameters) if each.secret}
        values = {name: value for name, value in known.items() if name not in secrets}
        return f"{service_id}/{action_id}", values


def _line(name: str, action: type[Action]) -> str:
    questions = questions_of(action.Parameters)
    parameters = ", ".join(each.name for each in questions if not each.secret)
    return f"{name}({parameters}): {action.title}"

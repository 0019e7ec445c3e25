"""A turn in which an action is run: the user's own act, with the parameters of its form."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Mapping
from typing import Any

from ...models.types import ModelError
from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.plans import WorkflowCall
from ...protocol.services import ActionCall
from ...services.action import Action, ActionFailed, ActionResult, ActionStopped
from ...services.dry_run import dry_run
from ...services.dry_run_result import DryRun, without
from ...services.matcher import Matcher
from ...services.workflow_action import WorkflowAction
from ...settings.turn import Settings
from ..history.history import assistant_item
from ..message import Message
from ..plan.turn import PlannedTurn
from ..request import TurnRequest
from ..state import SessionState
from ..turn.ends import TurnEnds
from .context import RunningContext
from .proposals import find_action

log = logging.getLogger(__name__)


FORGOTTEN = (
    "The values of the form were not kept while the message waited, since there may be secrets "
    "among them. Open the form of the proposal again."
)


class ActionTurn(PlannedTurn):
    """Runs one action. No model is asked, and nothing is approved again: the user clicked."""

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        message: Message,
        call: ActionCall,
    ) -> None:
        # The action is the user's act: its own calls ask for no further approval.
        action = find_action(session.services.service_registry(), call.service, call.action)
        # A workflow asks as it always does.
        if not issubclass(action, WorkflowAction):
            settings = settings.model_copy(update={"approval_policy": "never"})
        super().__init__(session, request, settings, message.audience, message.op_id)
        self._given = message.parameters
        self._secrets: list[str] = []
        self._call = call
        self._action = action

    async def _prepare(self) -> None:
        if issubclass(self._action, WorkflowAction):
            await super()._prepare()
        else:
            self.model = ""

    async def _work(self) -> None:
        call = self._call
        context = RunningContext(
            self.session, self.request.gate.active, self.request.chat.client_id, self.own
        )
        action = self._action(context)
        await self._start_action()
        try:
            if self._given is None:
                raise ActionFailed(FORGOTTEN)
            parameters = await self._check(action, self._given)
            if isinstance(action, WorkflowAction):
                await self._run_workflow(action.workflow(parameters))
                return
            result = await action.execute(parameters, self._progress)
            if not isinstance(result, ActionResult):
                raise TypeError(f"{call.action} returned {type(result).__name__}")
        except asyncio.CancelledError as stopped:
            if self.leaving:  # the plan of a workflow goes on when the server is started again
                raise
            said = stopped.said if isinstance(stopped, ActionStopped) else ""
            await asyncio.shield(self._finish("cancelled", without(self._secrets, said)))
            raise
        except (TurnEnds, AgentError, ModelError) as ended:
            await self._finish("error", error=ended.message)
            raise
        except ActionFailed as error:
            await self._end_failed(str(error))
        except Exception:  # noqa: BLE001 - a package's code may raise anything
            trace = without(self._secrets, traceback.format_exc())
            log.error("The action %s of %s failed\n%s", call.action, call.service, trace)
            await self._end_failed("The action failed with an internal error. See the server log.")
        else:
            output = without(self._secrets, result.output)
            await self._finish("ok", output, list(result.paths))
            self._keep([assistant_item(output)])
            self.record.reply = output

    async def _run_workflow(self, workflow: WorkflowCall) -> None:
        """The turn goes on as that of ``POST workflows/{id}``."""
        self.request.chat.workflow = workflow
        self.request.planned = True
        await super()._work()
        notebook = self.plan.notebook if self.plan is not None else None
        await self._finish("ok", self.record.reply or "", [notebook] if notebook else [])

    async def _start_action(self) -> None:
        await self.emit(
            events.ActionStarted(
                service=self._call.service,
                action=self._call.action,
                title=self._action.title,
                proposal_id=self._call.proposal_id,
            )
        )

    async def _progress(self, message: str, fraction: float | None = None) -> None:
        if fraction is not None:
            fraction = min(1.0, max(0.0, fraction))
        message = without(self._secrets, message)
        await self.emit(events.ActionProgress(message=message, fraction=fraction))

    async def _finish(
        self,
        status: Any,
        output: str = "",
        paths: list[str] | None = None,
        error: str | None = None,
    ) -> None:
        await self.emit(
            events.ActionFinished(status=status, output=output, paths=paths or [], error=error)
        )

    async def _end_failed(self, message: str) -> None:
        message = without(self._secrets, message)
        await self._finish("error", error=message)
        raise TurnEnds("error", message, "action_failed")

    async def _check(self, action: Action, given: Mapping[str, Any]) -> Any:
        """The parameters of the form, as the action takes them. Raises ``ActionFailed`` that says
        what is wrong with which."""
        found = await dry_run(action, "", given, Matcher(action.context))
        # Nothing that the action says from here on is stored or logged with them.
        self._secrets = [str(given[name]) for name in found.secrets if given.get(name)]
        return _parameters_of(found)


def _parameters_of(found: DryRun) -> Any:
    problems = [each.problem for each in found.asked if each.problem is not None]
    missing = [
        each.question.prompt
        for each in found.asked
        if each.answer is None and each.question.required and each.problem is None
    ]
    if missing:
        problems.append(f"Still needed: {', '.join(missing)}.")
    if found.problem is not None:
        problems.append(found.problem)
    if problems:
        raise ActionFailed(" ".join(problems))
    if found.parameters is None:
        raise ActionFailed("The form is not complete.")
    return found.parameters

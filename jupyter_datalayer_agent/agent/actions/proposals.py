"""Proposals of a session: made by a dry run, refined by further messages, run by the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.events import ActionProposed
from ...protocol.requests import ChatRequest
from ...protocol.services import ActionCall, ActionProposal
from ...services.action import Action
from ...services.dry_run import dry_run, failed_proposal
from ...services.matcher import Matcher
from ...services.questions import Filler, Question, questions_of
from ...services.registry import ServiceRegistry
from ...services.routing import Router
from ...tools.context import ToolFailure
from ..event_buffer import Emit
from ..open_proposal import OpenProposal
from ..request import TurnRequest
from ..runtime import Runtime
from ..state import SessionState
from .context import ReadingContext
from .filler import is_in


def find_action(registry: ServiceRegistry, service_id: str, action_id: str) -> type[Action]:
    """The action. Raises ``AgentError`` ``not_found``, which lists what exists."""
    service = registry.find(service_id)
    if service is None:
        names = ", ".join(each.id for each in registry)
        raise AgentError("not_found", f"There is no service {service_id!r}. There are: {names}.")
    action = service.action(action_id)
    if action is None and not service.installed:
        raise AgentError("not_found", service.not_installed)
    if action is None:
        names = ", ".join(each.id for each in service.actions)
        raise AgentError("not_found", f"{service.name} has no action {action_id!r}, but {names}.")
    return action


async def propose(
    runtime: Runtime,
    service_id: str,
    action_class: type[Action],
    message: str,
    known: Mapping[str, Any],
    *,
    notebook: str | None,
    client_id: str | None,
    filler: Filler | None = None,
    proposal_id: str | None = None,
) -> OpenProposal:
    """Dry-run the action; nothing is executed. Whatever the action's own code raises or offers to
    choose from, there is a proposal, which may say that the form cannot be shown."""
    context = ReadingContext(runtime, notebook, client_id)
    try:
        action = action_class(context)
        found = await dry_run(action, message, known, filler or Matcher(context))
        proposal = found.proposal(service_id, action, proposal_id)
        proposal.to_wire()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package's code may raise anything
        proposal = failed_proposal(service_id, action_class, known, error, proposal_id)
    proposal.notebook = notebook
    values = {
        each.name: each.value for each in proposal.parameters if each.found and not each.secret
    }
    return OpenProposal(proposal, values, notebook, client_id)


MOST_FOUND = 8
"""Actions that a model is shown for a query."""
MODEL_CONFIDENCE = 0.9
"""What a model's choice counts as: it gives no number of its own that means anything."""


def actions_found(router: Router, query: str) -> list[dict[str, Any]]:
    """The actions nearest to a query, as a model reads them."""
    return [
        {
            "service": service.id,
            "action": action.id,
            "title": action.title,
            "description": action.description,
            "parameters": parameters_of(action),
        }
        for service, action in router.search(query, MOST_FOUND)
    ]


def parameters_of(action: type[Action]) -> dict[str, Any]:
    """The JSON schema of each parameter of an action that is no secret, by name."""
    return {each.name: _schema(each) for each in questions_of(action.Parameters) if not each.secret}


def _schema(question: Question) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": question.type, "description": question.prompt}
    if question.description:
        schema["description"] += f". {question.description}"
    if question.type in ("text", "one", "many"):
        schema["type"] = "array" if question.type == "many" else "string"
    if question.options is not None:
        values: dict[str, Any] = {"enum": [each.value for each in question.options]}
        schema |= {"items": values} if question.type == "many" else values
    return schema


def model_values(action: type[Action], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a model gives an action, without secrets, which only the form asks for.
    Raises ``AgentError`` for one that the action does not have."""
    names = action.Parameters.model_fields
    values = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in values if name not in names]
    if unknown and not action.has_wizard():
        taken = ", ".join(names) or "none"
        raise AgentError(
            "invalid_request",
            f"It has no parameter {unknown[0]!r}. Its parameters are: {taken}.",
        )
    secrets = {each.name for each in questions_of(action.Parameters) if each.secret}
    return {name: value for name, value in values.items() if name not in secrets}


class OfferedActions:
    """What a turn's model finds and proposes by ``findActions`` and ``proposeAction``. ``shown`` is
    the last proposal. ``refines`` is one that was open when the message came: it keeps what is not
    proposed anew. ``is_command``: the message named its service."""

    def __init__(self, session: SessionState, request: TurnRequest, emit: Emit) -> None:
        self._session = session
        self._runtime = session.runtime
        self._request = request
        self._emit = emit
        self.refines: OpenProposal | None = None
        self.is_command = False
        self.shown: OpenProposal | None = None

    def find(self, query: str) -> list[dict[str, Any]]:
        """See ``FindActions``."""
        return actions_found(self._runtime.router(), query)

    async def propose(
        self,
        service_id: str,
        action_id: str,
        given: dict[str, Any],
        sources: Mapping[str, str],
    ) -> str:
        """See ``ProposeAction``."""
        try:
            action = find_action(self._runtime.service_registry(), service_id, action_id)
            given = model_values(action, given)
        except AgentError as error:
            raise ToolFailure(
                "invalid_arguments", error.message, "Find it with findActions."
            ) from error
        service_id = service_id.strip().lower()
        known = self.refines
        if known is not None and (known.service, known.proposal.action) != (service_id, action.id):
            known = None
        opened = await propose(
            self._runtime,
            service_id,
            action,
            self._request.text,
            {**known.values, **given} if known is not None else given,
            notebook=known.notebook if known is not None else self._request.gate.active,
            client_id=self._request.chat.client_id,
            proposal_id=known.proposal.proposal_id if known is not None else None,
        )
        said = [each for each in opened.proposal.parameters if each.name in given]
        for each in said:
            words = sources.get(each.name)
            if words is not None and is_in(words, self._request.text):
                each.source = words
        problems = [each.problem for each in said if each.problem is not None]
        if problems:
            raise ToolFailure(
                "invalid_arguments",
                " ".join(problems),
                "Correct it, leave it out, or ask the user.",
            )
        await self._emit(self._chosen(service_id, opened.proposal))
        await self.show(opened)
        return opened.proposal.title

    def _chosen(self, service_id: str, proposal: ActionProposal) -> events.IntentDetected:
        service = self._runtime.service_registry().find(service_id)
        assert service is not None
        near = self._runtime.router().nearest_actions(self._request.text, service)
        return events.IntentDetected(
            service=service.id,
            subcommand=proposal.action,
            title=f"{service.name}: {proposal.title}",
            confidence=1.0 if self.is_command else MODEL_CONFIDENCE,
            alternatives=[each for each in near if each.subcommand != proposal.action],
            how="command" if self.is_command else "model",
        )

    async def show(self, opened: OpenProposal) -> None:
        """Show the proposal's form."""
        proposal = opened.proposal
        fields = {name: getattr(proposal, name) for name in type(proposal).model_fields}
        await self._emit(events.ActionProposed(**fields))
        self._session.proposal = self.shown = opened


def proposal_text(proposal: ActionProposal) -> str:
    """The proposal for who reads text alone: the magic, the command line, the model later on."""
    lines = [f"**{proposal.title}**"]
    for each in proposal.parameters:
        if each.found:
            lines.append(f"- {each.title}: {each.display}")
    missing = [each.title for each in proposal.parameters if not each.found and each.required]
    if missing:
        lines.append(f"\nRequired: {', '.join(missing)}.")
    lines += [f"- {each.problem}" for each in proposal.parameters if each.problem]
    if proposal.destroys:
        lines.append(f"\n{proposal.destroys}")
    return "\n".join([*lines, "", "Nothing has been done yet."])


async def run_request(
    runtime: Runtime, session_id: str, known: OpenProposal | None, proposal_id: str
) -> ChatRequest:
    """The message that runs a proposed action, with its parameters, which are not stored.

    Raises ``AgentError`` ``not_found`` for a proposal that the session does not have.
    """
    if known is None or known.proposal.proposal_id != proposal_id:
        known = await _stored(runtime, session_id, proposal_id)
    if known is None:
        raise AgentError("not_found", "This proposal is no longer in the conversation.")
    proposal = known.proposal
    return ChatRequest(
        message=proposal.title,
        active_notebook=known.notebook,
        client_id=known.client_id,
        location="panel" if known.client_id else "api",
        action=ActionCall(
            service=proposal.service,
            action=proposal.action,
            proposal_id=proposal.proposal_id,
        ),
    )


async def _stored(runtime: Runtime, session_id: str, proposal_id: str) -> OpenProposal | None:
    """An older proposal, or one from before the server was started."""
    found, after = None, 0
    while page := await runtime.store.events.after(session_id, after):
        for event in page:
            if event["type"] == "action_proposed" and event["proposalId"] == proposal_id:
                found = ActionProposed.model_validate(event)
        after = page[-1]["seq"]
    if found is None:
        return None
    fields = {name: getattr(found, name) for name in ActionProposal.model_fields}
    proposal = ActionProposal(**fields)
    return OpenProposal(proposal, {}, proposal.notebook)

"""Proposals of a session: made by a dry run, refined by a further message, run by the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...protocol.errors import AgentError
from ...protocol.events import ActionProposed
from ...protocol.requests import ChatRequest
from ...protocol.services import ActionCall, ActionProposal
from ...services.action import Action
from ...services.dry_run import dry_run
from ...services.dry_run_result import failed_proposal
from ...services.matcher import Matcher
from ...services.questions import Filler
from ...services.registry import ServiceRegistry
from ..open_proposal import OpenProposal
from ..runtime import Runtime
from .context import ReadingContext


def find_action(registry: ServiceRegistry, service_id: str, action_id: str) -> type[Action]:
    """The action. Raises ``AgentError`` ``not_found`` that says what there is."""
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
    """A dry run of the action; nothing is executed. Whatever the action's own code raises, or
    offers to choose from, there is a proposal: it may say that its questions cannot be asked."""
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


async def run_request(
    runtime: Runtime, session_id: str, known: OpenProposal | None, proposal_id: str
) -> ChatRequest:
    """The message that runs a proposed action; its parameters go with it, and are not stored.

    Raises ``AgentError`` ``not_found`` for a proposal that the session does not have.
    """
    if known is None or known.proposal.proposal_id != proposal_id:
        known = await _stored(runtime, session_id, proposal_id)
    if known is None:
        raise AgentError("not_found", "This proposal is not in the conversation any more.")
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
    """A proposal from before the server was started, or an older one."""
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

"""``services`` and ``intent``: what the agent can do, and what a message asks for."""

from __future__ import annotations

from ...agent.actions.proposals import find_action, propose
from ...agent.request import confined
from ...agent.service_turns.intent import Offered, detect, understand
from ...protocol.errors import AgentError
from ...protocol.requests import ChatReply, ChatRequest
from ...protocol.services import (
    ActionCall,
    ActionProposal,
    ActionRunRequest,
    DryRunRequest,
    Intent,
    IntentReply,
    IntentRequest,
    ServiceInfo,
    ServicesReply,
)
from ...services.registry import service_info
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class ServicesHandler(Handler):
    """All services."""

    @route("read")
    async def get(self) -> ServicesReply:
        registry = self.parts.runtime.service_registry()
        return ServicesReply(
            services=[service_info(each) for each in registry], problems=registry.problems
        )


class ServiceHandler(Handler):
    """One service."""

    @route("read")
    async def get(self, service_id: str) -> ServiceInfo:
        registry = self.parts.runtime.service_registry()
        service = registry.find(service_id)
        if service is None:
            names = ", ".join(each.id for each in registry)
            raise AgentError("not_found", f"There is no service {service_id!r}, but {names}.")
        return service_info(service)


class DryRunHandler(Handler):
    """Finds an action's parameters in a message by matching only; runs nothing."""

    @route("execute")
    async def post(self, service_id: str, action_id: str) -> ActionProposal:
        body = self.body(DryRunRequest)
        runtime = self.parts.runtime
        action = find_action(runtime.service_registry(), service_id, action_id)
        notebook = body.active_notebook
        found = await propose(
            runtime,
            service_id,
            action,
            body.message,
            body.parameters,
            notebook=await confined(runtime, notebook) if notebook is not None else None,
            client_id=body.client_id,
        )
        return found.proposal


class RunHandler(Handler):
    """Runs an action as a turn of a session, and replies at its end."""

    @route("execute")
    async def post(self, service_id: str, action_id: str) -> None:
        body = self.body(ActionRunRequest)
        action = find_action(self.parts.runtime.service_registry(), service_id, action_id)
        request = ChatRequest(
            session_id=body.session_id,
            message=action.title,
            active_notebook=body.active_notebook,
            client_id=body.client_id,
            location="api",
            action=ActionCall(service=service_id, action=action_id, parameters=body.parameters),
        )
        await self.run_turn(request)


class IntentHandler(Handler):
    """What a message asks for, as far as no model is needed to know."""

    @route("read")
    async def post(self) -> IntentReply:
        body = self.body(IntentRequest)
        runtime = self.parts.runtime
        router = runtime.router()
        detected = detect(router, body.message, runtime.settings().intent_detection)
        chosen = await understand(router, detected, None) if detected is not None else None
        if chosen is None:
            return IntentReply(how="ranking" if detected is None else detected.how)
        if isinstance(chosen, Offered):
            first, *others = chosen.nearest or [Intent()]
            if detected is not None and detected.route is not None and detected.route.sure:
                return IntentReply(**first.model_dump(), alternatives=others, how="ranking")
            service = chosen.service.id if chosen.service is not None else None
            return IntentReply(service=service, alternatives=chosen.nearest, how="ranking")
        return IntentReply(
            service=chosen.service.id,
            subcommand=chosen.subcommand,
            confidence=chosen.confidence,
            alternatives=chosen.alternatives,
            how=chosen.how,
        )


ROUTES = [
    Route(
        "services",
        ServicesHandler,
        {"get": Operation("Services, each a slash command", response=ServicesReply)},
    ),
    Route(
        "services/{service_id}",
        ServiceHandler,
        {"get": Operation("One service", response=ServiceInfo)},
    ),
    Route(
        "services/{service_id}/actions/{action_id}/dry-run",
        DryRunHandler,
        {
            "post": Operation(
                "Find an action's parameters; nothing is executed", DryRunRequest, ActionProposal
            )
        },
    ),
    Route(
        "services/{service_id}/actions/{action_id}/run",
        RunHandler,
        {"post": Operation("Run an action, answered at its end", ActionRunRequest, ChatReply)},
    ),
    Route(
        "intent",
        IntentHandler,
        {"post": Operation("What a message asks for", IntentRequest, IntentReply)},
    ),
]

"""``config``, ``connections``, ``instructions``, ``models`` and ``usage``."""

from __future__ import annotations

from typing import cast, get_args
from urllib.parse import unquote

from ...models.capabilities import described
from ...models.prices import ASSUMED_WINDOW
from ...protocol.connections import (
    ConnectionsReply,
    ConnectionTestReply,
    ConnectionTestRequest,
    ConnectRequest,
    LookReply,
    LookRequest,
)
from ...protocol.errors import AgentError
from ...protocol.requests import ConfigPatch, ConfigReply, ModelsReply
from ...protocol.sessions import UsageBy, UsageReply
from ...protocol.tools import FolderFileDecision, InstructionsReply
from ..base.handler import Handler, Operation, Route, route

# ``GET config``: the effective settings and their sources; ``PATCH config``: the user's settings.


class ConfigHandler(Handler):
    """The settings; no secret is ever shown."""

    @route("read")
    async def get(self) -> ConfigReply:
        session_id = self.get_query_argument("sessionId", "")
        if not session_id:
            return self.parts.config.reply()
        record = await self.parts.store.sessions.get(session_id)
        return self.parts.config.reply(record.settings)

    @route("write")
    async def patch(self) -> ConfigReply:
        values = self.body(ConfigPatch).values
        if self.parts.config.loosened(values):
            self.asker.require_page()
        return self.parts.config.change(values)


ROUTES = [
    Route(
        "config",
        ConfigHandler,
        {
            "get": Operation(
                "Effective settings and their sources",
                response=ConfigReply,
                query={"sessionId": "the session in which the settings apply"},
            ),
            "patch": Operation("Change the user's settings", ConfigPatch, ConfigReply),
        },
    )
]


# ``connections``: models that users connect in the panel. Replies never contain a key.


class ConnectionsHandler(Handler):
    """Lists what is and what can be connected; connects a model."""

    @route("read")
    async def get(self) -> ConnectionsReply:
        return await self.parts.connect.reply()

    @route("write", decides=True)
    async def post(self) -> ConnectionsReply:
        return await self.parts.connect.connect(self.body(ConnectRequest))


class ConnectionHandler(Handler):
    """One connection."""

    @route("write")
    async def delete(self, connection_id: str) -> ConnectionsReply:
        return await self.parts.connect.forget(unquote(connection_id))


class LookHandler(Handler):
    """Looks for model servers on this computer."""

    @route("execute")
    async def post(self) -> LookReply:
        return await self.parts.connect.look(self.body(LookRequest).again)


class TestHandler(Handler):
    """Tries a key, an address or a model; saves nothing."""

    @route("execute")
    async def post(self) -> ConnectionTestReply:
        return await self.parts.connect.test(self.body(ConnectionTestRequest))


CONNECTIONS_ROUTES = [
    Route(
        "connections",
        ConnectionsHandler,
        {
            "get": Operation(
                "Connected models, and where their keys are kept", response=ConnectionsReply
            ),
            "post": Operation("Connect a model", ConnectRequest, ConnectionsReply),
        },
    ),
    Route(
        "connections/look",
        LookHandler,
        {"post": Operation("Look for model servers on this computer", LookRequest, LookReply)},
    ),
    Route(
        "connections/test",
        TestHandler,
        {
            "post": Operation(
                "Try a key, an address or a model", ConnectionTestRequest, ConnectionTestReply
            )
        },
    ),
    Route(
        "connections/{connection_id}",
        ConnectionHandler,
        {"delete": Operation("Forget a connection and its key", response=ConnectionsReply)},
    ),
]


# ``instructions``: the server root's ``AGENTS.md``, and whether it is sent to models.


class InstructionsHandler(Handler):
    """The ``AGENTS.md`` of the server root, which may have come with a repository."""

    @route("read")
    async def get(self) -> InstructionsReply:
        return self.parts.instructions.reply()

    @route("execute", decides=True)
    async def put(self) -> InstructionsReply:
        return self.parts.instructions.decide(self.body(FolderFileDecision))


INSTRUCTIONS_ROUTES = [
    Route(
        "instructions",
        InstructionsHandler,
        {
            "get": Operation("The AGENTS.md of the server root", response=InstructionsReply),
            "put": Operation(
                "Allow the current AGENTS.md of the server root, or refuse it",
                FolderFileDecision,
                InstructionsReply,
            ),
        },
    ),
]


# ``GET models``: models, whether they are ready, and the default.


class ModelsHandler(Handler):
    """Reads the settings and the environment; opens no connection."""

    @route("read")
    async def get(self) -> ModelsReply:
        reply = self.parts.models()
        asked = self.get_query_argument("model", "")
        if asked:
            info = await self.parts.connect.model(asked)
            reply.models = [info, *(each for each in reply.models if each.id != asked)]
        settings = self.parts.settings()
        is_locked = "reasoning_effort" in settings.locked
        for each in reply.models:
            described(each, settings.context_window or ASSUMED_WINDOW)
            if is_locked:
                # These are the efforts that a user can choose.
                each.reasoning_efforts = None
        return reply


MODELS_ROUTES = [
    Route(
        "models",
        ModelsHandler,
        {
            "get": Operation(
                "Models and readiness",
                response=ModelsReply,
                query={"model": "a model to list first, with whether it could be called"},
            )
        },
    )
]


MAX_DAYS = 366


class UsageHandler(Handler):
    """Sums up the stored conversations."""

    @route("read")
    async def get(self) -> UsageReply:
        days = self.number("days", 30)
        if days is None or not 1 <= days <= MAX_DAYS:
            raise AgentError("invalid_request", f"days must be from 1 to {MAX_DAYS}.")
        by = self.get_query_argument("by", "day")
        if by not in get_args(UsageBy):
            raise AgentError(
                "invalid_request", f"by must be one of {', '.join(get_args(UsageBy))}."
            )
        sums = self.parts.store.usage
        return await sums.read(cast(UsageBy, by), days)


USAGE_ROUTES = [
    Route(
        "usage",
        UsageHandler,
        {
            "get": Operation(
                "Tokens, cost, time and tool errors of the last days",
                response=UsageReply,
                query={
                    "days": f"the number of days up to today, 1 to {MAX_DAYS} (default: 30)",
                    "by": "day (default), model or session",
                },
            )
        },
    )
]

"""The agent's side of the protocol: its methods, as the client calls them."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NoReturn, cast

import acp
from acp.schema import (
    AgentCapabilities,
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    SessionCapabilities,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionInfo,
    SessionListCapabilities,
    SessionMode,
    SessionModeState,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    UnstructuredCommandInput,
)

from .._version import __version__
from .server_client import OpenServer, ServerError, ServerGone, Servers
from .session import PromptRefused, Session
from .updates import TurnUpdates, message_chunk, user_chunk

# What the user of a client may choose for a session: its mode and its model.


DEFAULT_MODE = "agent"
MODE, MODEL = "mode", "model"
MODES = [
    SessionMode(id="ask", name="Ask", description="Answers; reads, and changes nothing"),
    SessionMode(
        id="edit", name="Edit", description="Answers with code to copy; changes nothing by itself"
    ),
    SessionMode(
        id="agent", name="Agent", description="Changes and runs notebooks and files of the project"
    ),
]


def mode_state(mode: str) -> SessionModeState:
    """The modes, and the one that is chosen."""
    return SessionModeState(current_mode_id=mode, available_modes=MODES)


def config_options(
    mode: str, model: str | None, models: dict[str, Any]
) -> list[SessionConfigOptionSelect]:
    """Mode and model as options, which newer clients show in place of modes. ``models`` is the
    answer of ``GET models``; without a model that is ready there is no choice of one."""
    options = [
        SessionConfigOptionSelect(
            id=MODE,
            name="Mode",
            category="mode",
            type="select",
            current_value=mode,
            options=[
                SessionConfigSelectOption(
                    value=each.id, name=each.name, description=each.description
                )
                for each in MODES
            ],
        )
    ]
    current = model or models.get("default")
    if not models["ready"] or not current:
        return options
    ready = {each["id"]: each["label"] for each in models["models"] if each["ready"]}
    ready.setdefault(current, current)
    options.append(
        SessionConfigOptionSelect(
            id=MODEL,
            name="Model",
            category="model",
            type="select",
            current_value=current,
            options=[
                SessionConfigSelectOption(value=each, name=label) for each, label in ready.items()
            ],
        )
    )
    return options


def context_window_of(model: str | None, models: dict[str, Any]) -> int | None:
    """How many tokens the model can read, None where that is not known."""
    current = model or models.get("default")
    windows = {each["id"]: each.get("contextWindow") for each in models["models"]}
    return windows.get(current)


def commands(services: dict[str, Any]) -> list[AvailableCommand]:
    """The services as slash commands, from the answer of ``GET services``."""
    found = [
        AvailableCommand(
            name=each["id"],
            description=each["description"],
            input=AvailableCommandInput(
                root=UnstructuredCommandInput(hint=next(iter(each["examples"]), "what to do"))
            ),
        )
        for each in services["services"]
    ]
    return [*found, AvailableCommand(name="help", description="All commands, with examples")]


# A session's turns, sent again to a client that loads it.


PAGE = 100


async def replay(session: Session) -> None:
    """Send what was said and done, the oldest first. What the user went back before is left out."""
    for turn in await _turns(session):
        if turn.get("withdrawnAt"):
            continue
        await session.client.session_update(session.id, user_chunk(turn["message"]))
        updates = TurnUpdates(session.server.root)
        for event in turn.get("events") or ():
            for update in updates.of(event):
                await session.client.session_update(session.id, update)
        if (error := turn.get("error")) is not None:
            text = f"\n\n*{error['message']}*"
            await session.client.session_update(session.id, message_chunk(text))
        session.count(turn["usage"])


async def _turns(session: Session) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    before: str | None = None
    while True:
        query = {"before": before} if before else {}
        page = await session.server.get(
            f"sessions/{session.id}/turns", limit=PAGE, include="events", **query
        )
        found[:0] = page["turns"]
        before = page.get("before")
        if before is None:
            return found


log = logging.getLogger(__name__)

INVALID_PARAMS, INTERNAL_ERROR, NOT_FOUND = -32602, -32603, -32002
CODES = {"invalid_request": INVALID_PARAMS, "not_found": NOT_FOUND}
GONE = (
    "The Jupyter server does not answer any more. What was done until then is kept; send the "
    "message again, and another server is looked for, or started."
)


class Agent:
    """Serves one client. Its sessions are sessions of the Jupyter server whose root contains the
    folder that the client names (``cwd``)."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._sessions: dict[str, Session] = {}
        self._client: Any = None
        self._tasks: set[asyncio.Task[None]] = set()

    def on_connect(self, conn: Any) -> None:
        """The connection to the client."""
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """What this agent can do. It speaks one version; a client that does not, leaves."""
        return InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(embedded_context=True),
                session_capabilities=SessionCapabilities(list=SessionListCapabilities()),
            ),
            agent_info=Implementation(
                name="jupyter-datalayer-agent",
                title="Jupyter Datalayer Agent",
                version=__version__,
            ),
            auth_methods=[],
        )

    async def new_session(
        self, cwd: str, mcp_servers: list[Any] | None = None, **_: Any
    ) -> NewSessionResponse:
        """A new session, in Agent mode."""
        _note_servers(mcp_servers)
        async with self._errors():
            folder = _folder(cwd)
            server = await self._servers.of(folder)
            made = await server.post("sessions", {"settings": {"mode": DEFAULT_MODE}})
            session = Session(made["id"], folder, server, self._client, DEFAULT_MODE)
            options = await self._options(session)
            self._begin(session)
            return NewSessionResponse(
                session_id=session.id, modes=mode_state(session.mode), config_options=options
            )

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: list[Any] | None = None, **_: Any
    ) -> LoadSessionResponse:
        """Go on in a session of before, or of the panel: its turns are sent again."""
        _note_servers(mcp_servers)
        async with self._errors():
            folder = _folder(cwd)
            server = await self._servers.of(folder)
            found = await server.get(f"sessions/{session_id}")
            settings = found["settings"]
            session = Session(
                session_id,
                folder,
                server,
                self._client,
                settings.get("mode") or DEFAULT_MODE,
                settings.get("model"),
                server.root / settings["notebook"] if settings.get("notebook") else None,
                own=False,
                title=found["title"],
            )
            options = await self._options(session)
            await replay(session)
            self._begin(session)
            return LoadSessionResponse(modes=mode_state(session.mode), config_options=options)

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        """The conversations, newest first; those of the panel, too."""
        folder = _folder(cwd or os.getcwd())
        async with self._errors():
            server = await self._servers.of(folder)
            page = await server.get("sessions", **({"cursor": cursor} if cursor else {}))
        return ListSessionsResponse(
            sessions=[
                SessionInfo(
                    session_id=each["id"],
                    cwd=str(folder),
                    title=each["title"],
                    updated_at=_iso(each["updatedAt"]),
                )
                for each in page["sessions"]
                if each["turnCount"]
            ],
            next_cursor=page.get("nextCursor"),
        )

    async def set_session_mode(
        self, mode_id: str, session_id: str, **_: Any
    ) -> SetSessionModeResponse:
        """Choose the mode of the next messages."""
        session = self._session(session_id)
        if mode_id not in [each.id for each in MODES]:
            names = ", ".join(each.id for each in MODES)
            _refuse(INVALID_PARAMS, f"There is no mode {mode_id!r}, but {names}.")
        async with self._errors(session):
            await session.server.patch(f"sessions/{session.id}", {"settings": {"mode": mode_id}})
        session.mode = mode_id
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        """Choose the mode, or the model."""
        session = self._session(session_id)
        if config_id == MODE:
            await self.set_session_mode(str(value), session_id)
        elif config_id == MODEL:
            async with self._errors(session):
                settings = {"settings": {"model": str(value)}}
                await session.server.patch(f"sessions/{session.id}", settings)
            session.model = str(value)
        else:
            _refuse(INVALID_PARAMS, f"There is no option {config_id!r}, but {MODE} and {MODEL}.")
        async with self._errors(session):
            return SetSessionConfigOptionResponse(config_options=await self._options(session))

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> PromptResponse:
        """Carry out a message; its turn is streamed meanwhile."""
        session = self._session(session_id)
        async with self._errors(session):
            session.server = await self._servers.of(session.cwd)
            return await session.prompt(prompt)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the running turn."""
        if (session := self._sessions.get(session_id)) is not None:
            await session.cancel()

    async def close(self) -> None:
        """The client is gone: stop what it began, and end the servers that were started for it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*(each.leave() for each in self._sessions.values()))
        await self._servers.close()

    # -- helpers ---------------------------------------------------------------------------------

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            _refuse(NOT_FOUND, f"There is no session {session_id!r}. Load it, or begin a new one.")
        return session

    async def _options(self, session: Session) -> list[Any]:
        query = {"model": session.model} if session.model else {}
        models = await session.server.get("models", **query)
        session.context_window = context_window_of(session.model, models)
        return list(config_options(session.mode, session.model, models))

    def _begin(self, session: Session) -> None:
        """Take in the session; its commands follow the answer, which names the session."""
        self._sessions[session.id] = session
        task = asyncio.create_task(self._send_commands(session))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_commands(self, session: Session) -> None:
        with contextlib.suppress(ServerError, ServerGone, ConnectionError):
            services = await session.server.get("services")
            await self._client.session_update(
                session.id,
                AvailableCommandsUpdate(
                    session_update="available_commands_update",
                    available_commands=commands(services),
                ),
            )

    @contextlib.asynccontextmanager
    async def _errors(self, session: Session | None = None) -> AsyncIterator[None]:
        """Failures as errors of the protocol, with a message that a client shows."""
        try:
            yield
        except PromptRefused as error:
            _refuse(INVALID_PARAMS, str(error))
        except ServerError as error:
            _refuse(CODES.get(error.code, INTERNAL_ERROR), str(error), error.code)
        except ServerGone:
            if session is not None:
                await self._servers.drop(session.server)
            _refuse(INTERNAL_ERROR, GONE)


def _folder(cwd: str) -> Path:
    folder = Path(cwd)
    if not folder.is_absolute() or not folder.is_dir():
        _refuse(INVALID_PARAMS, f"{cwd!r} is not the absolute path of a folder.")
    return folder.resolve()


def _refuse(code: int, message: str, kind: str | None = None) -> NoReturn:
    raise acp.RequestError(code, message, {"code": kind} if kind else None)


def _note_servers(mcp_servers: list[Any] | None) -> None:
    if mcp_servers:
        names = ", ".join(each.name for each in mcp_servers)
        log.warning("The client's MCP servers are not used: %s", names)


def _iso(ms: int) -> str:
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).isoformat()


# Serves the protocol over standard input and output, until the client closes them.


def run(open_server: OpenServer) -> None:
    """Serve one client. Standard output is the protocol's; logs go to standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_serve(open_server))


async def _serve(open_server: OpenServer) -> None:
    serving = asyncio.current_task()
    assert serving is not None
    with contextlib.suppress(NotImplementedError):
        # Else a private server would outlive this process for a while.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
    agent = Agent(Servers(open_server))
    try:
        # Of the protocol's methods it has those that it says it has.
        await acp.run_agent(cast(acp.Agent, agent))
    finally:
        await agent.close()

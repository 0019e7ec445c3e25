"""Connecting a model from the panel: found, tried, saved, and the user's default from then on."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from pydantic import SecretStr

from ...models.connected_models import all_models, model_named
from ...models.connections.address import AddressError
from ...models.connections.connection import (
    CHECK_KEY,
    SERVER_LABELS,
    WITH_A_KEY,
    KeyPlace,
    ModelConnection,
    ServerModel,
    id_for,
)
from ...models.connections.detection import DetectedServer
from ...models.connections.http_get import ServerError
from ...models.connections.key_store import KeyStoreError
from ...models.connections.look import LocalServers, server_at
from ...models.connections.registry import Connections
from ...models.litellm_model import LitellmModel
from ...models.trial import trial_request, try_model
from ...models.types import ModelError
from ...notebook.page.hub import PageHub
from ...protocol.connections import (
    ConnectionsReply,
    ConnectionTarget,
    ConnectionTestReply,
    ConnectionTestRequest,
    ConnectRequest,
    LookReply,
)
from ...protocol.errors import AgentError, ErrorCode
from ...protocol.requests import LockableChoice, ModelInfo, ModelsReply
from ...settings.layers import Layers, SettingRefused
from .connection_replies import connection_info, found_message, found_server, provider_info


class ConnectService:
    """What users connect, for the routes. Every method raises ``AgentError``."""

    def __init__(
        self, connections: Connections, model: LitellmModel, layers: Layers, pages: PageHub
    ) -> None:
        self._connections = connections
        self._model = model
        self._layers = layers
        self._pages = pages
        self._local = LocalServers()

    def models(self) -> ModelsReply:
        """Every model that may be chosen, with its readiness."""
        values = self._layers.values()
        reply = all_models(self._connections, values["model"], values["api_base"])
        reply.locked = "model" in self._layers.locked
        reply.locked_choices = [
            each for each in get_args(LockableChoice) if each in self._layers.locked
        ]
        reply.can_connect = locked_reason(self._layers) is None
        return reply

    async def model(self, name: str) -> ModelInfo:
        """The model of that name, with its readiness."""
        return await model_named(self._connections, name, self._layers.values()["api_base"])

    async def reply(self) -> ConnectionsReply:
        """What is connected, what can be, and where keys are kept; never a key."""
        keyring = problem = None
        try:
            keyring = await self._connections.keys.keyring_name()
        except KeyStoreError as error:
            problem = str(error)
        default = self.models().default
        found = self._connections.all()
        return ConnectionsReply(
            connections=[connection_info(each, default) for each in found.values()],
            providers=[
                provider_info(each, found.get(each.prefix), self._connections)
                for each in WITH_A_KEY
            ],
            keyring=keyring,
            keyring_problem=problem,
            key_folder=str(self._connections.keys.files.folder),
            locked=locked_reason(self._layers),
            model_locked="model" in self._layers.locked,
        )

    async def look(self, again: bool) -> LookReply:
        """The model servers of this computer. Nobody is asked while a model is ready, unless the
        user wants to look ``again``, nor where nothing can be connected."""
        ports = self._layers.values()["local_model_ports"]
        if locked_reason(self._layers) is not None or (self.models().ready and not again):
            return LookReply(looked=False, servers=[])
        return LookReply(
            looked=True, servers=[found_server(each) for each in await self._local.look(ports)]
        )

    async def test(self, request: ConnectionTestRequest) -> ConnectionTestReply:
        """Whether it works: one small request to the model, or to a server without a model one for
        its list. A failure is an answer, not an error."""
        self._check_unlocked()
        key = _typed(request.key)
        server = None
        try:
            connection = self._of_provider(request)
            if connection is None:
                server = await self._server(request, key)
                if server.needs_key:
                    return ConnectionTestReply(
                        ok=False, message="This server needs a key.", server=found_server(server)
                    )
                connection = self._of_server(server)
            name = self._model_name(connection, request.model)
            if server is not None and request.model is None:
                return ConnectionTestReply(
                    ok=True, message=found_message(len(server.models)), server=found_server(server)
                )
            saved = self._connections.all().get(connection.id)
            if key is None and saved is not None and saved.api_base == connection.api_base:
                key = await self._connections.key_of(saved)
            call = self._connections.call_of(connection, trial_request(name), key)
            await try_model(self._model, call)
        except (ModelError, ServerError, AddressError) as error:
            found = None if server is None else found_server(server)
            # The user is there already.
            message = " ".join(str(error).replace(CHECK_KEY, "").split())
            return ConnectionTestReply(ok=False, message=message, server=found)
        return ConnectionTestReply(
            ok=True,
            message=f"{name.partition('/')[2]} answered.",
            server=None if server is None else found_server(server),
        )

    async def connect(self, request: ConnectRequest) -> ConnectionsReply:
        """Save what the user entered, make the model the default one, and notify the pages."""
        self._check_unlocked()
        key = _typed(request.key)
        place = await self._place(request) if key is not None else None
        connection = self._of_provider(request)
        if connection is None:
            connection = self._of_server(await self._reachable(request, key))
            if not connection.models and request.model is None:
                raise AgentError(
                    "invalid_request",
                    f"{connection.label} has no model yet. Load one there, and look again.",
                )
        name = None
        if request.model is not None or connection.server is not None:
            name = self._model_name(connection, request.model)
            self._check_model_changeable(name)
            if not connection.lists(name):
                chosen = ServerModel(name.partition("/")[2])
                connection = _with(connection, chosen)
        saved = self._connections.all().get(connection.id)
        if key is None and connection.server is None and (saved is None or not saved.key_in):
            if self._connections.variable_set(connection) is None:
                raise AgentError("invalid_request", f"{connection.label} needs a key.")
        else:
            connection = _with(connection, *(saved.models if saved and not saved.server else ()))
            try:
                await self._connections.save(connection, key, place)
            except (KeyStoreError, OSError) as error:
                raise AgentError("internal", f"Nothing was saved. {error}") from error
        if name is not None and self._layers.values()["model"] != name:
            self._change_model(name)
        self._pages.notify_models_changed()
        return await self.reply()

    async def forget(self, connection_id: str) -> ConnectionsReply:
        """Remove a connection with its key; also as the user's default model."""
        self._check_unlocked()
        model = self._layers.settings()["model"]
        try:
            if not await self._connections.forget(connection_id):
                raise AgentError("not_found", f"There is no connection {connection_id!r}.")
        except (KeyStoreError, OSError) as error:
            raise AgentError("internal", str(error)) from error
        chosen = model.value if model.source == "user" else None
        if chosen is not None and chosen.partition("/")[0] == connection_id:
            values = self._layers.values()
            if not self._connections.readiness(chosen, values["api_base"]).ready:
                self._change_model(None)
        self._pages.notify_models_changed()
        return await self.reply()

    # -- parts of these

    def _check_unlocked(self) -> None:
        reason = locked_reason(self._layers)
        if reason is not None:
            raise AgentError("forbidden", reason)

    def _check_model_changeable(self, name: str) -> None:
        if "model" in self._layers.locked and self._layers.values()["model"] != name:
            raise AgentError("forbidden", "The model is set by the administrator of this server.")

    def _change_model(self, name: str | None) -> None:
        try:
            self._layers.change({"model": name})
        except SettingRefused as error:
            code: ErrorCode = "forbidden" if error.forbidden else "invalid_request"
            raise AgentError(code, str(error)) from error
        except OSError as error:
            raise AgentError("internal", f"The settings cannot be written: {error}") from error

    async def _place(self, request: ConnectRequest) -> KeyPlace:
        """Where the key goes. A file needs the user's consent, given in this request."""
        if request.store_in == "file":
            if request.consent:
                return "file"
            raise AgentError(
                "invalid_request",
                "A key is kept in a file only with consent: true. The file is in "
                f"{self._connections.keys.files.folder}; only your user can read it.",
            )
        try:
            await self._connections.keys.keyring_name()
        except KeyStoreError as error:
            raise AgentError(
                "invalid_request",
                f"{error} The key can be kept in a file that only your user can read: storeIn: "
                "file, consent: true.",
            ) from error
        return "keyring"

    def _of_provider(self, request: ConnectionTarget) -> ModelConnection | None:
        if request.provider is None:
            return None
        for each in WITH_A_KEY:
            if each.prefix == request.provider:
                return ModelConnection(each.prefix, each.label)
        names = ", ".join(each.prefix for each in WITH_A_KEY)
        # What was given is not repeated: it might be a key in the wrong field.
        raise AgentError("invalid_request", f"There is no such provider. There are {names}.")

    def _of_server(self, server: DetectedServer) -> ModelConnection:
        taken = {each.id: each.api_base for each in self._connections.all().values()}
        connection_id = id_for(server.kind, server.api_base, taken)
        label = SERVER_LABELS[server.kind]
        if ":" in connection_id:
            label = f"{label} at {connection_id}"
        return ModelConnection(
            connection_id, label, server.kind, server.api_base, models=server.models
        )

    async def _server(self, request: ConnectionTarget, key: str | None) -> DetectedServer:
        """Raises ``ServerError`` and ``AddressError``."""
        assert request.address is not None
        found = await server_at(request.address, key)
        if found.needs_key and key is None:
            saved = self._connections.all().get(self._of_server(found).id)
            if saved is not None and saved.key_in and saved.api_base == found.api_base:
                return await server_at(request.address, await self._connections.key_of(saved))
        return found

    async def _reachable(self, request: ConnectionTarget, key: str | None) -> DetectedServer:
        try:
            server = await self._server(request, key)
        except AddressError as error:
            raise AgentError("invalid_request", str(error)) from error
        except (ServerError, ModelError) as error:
            raise AgentError("model_error", f"Nothing was saved. {error}") from error
        if server.needs_key:
            raise AgentError("invalid_request", "This server needs a key.")
        return server

    def _model_name(self, connection: ModelConnection, model: str | None) -> str:
        """The full name of a model, given with or without its first part; else the first one."""
        if model is not None:
            name = model.strip().removeprefix(f"{connection.id}/")
        elif connection.server is not None:
            name = connection.models[0].name if connection.models else ""
        else:
            known = next(each for each in WITH_A_KEY if each.prefix == connection.id)
            name = known.models[-1].name
        if not name and model is not None:
            raise AgentError("invalid_request", "Enter the model's name.")
        return f"{connection.id}/{name}"


def locked_reason(layers: Layers) -> str | None:
    """Why nothing can be connected in the panel, None where users may."""
    if not layers.values()["connect_models"]:
        return "The administrator of this server switched off connecting models in the panel."
    if "api_base" in layers.locked:
        return "The administrator of this server locked the address of the model."
    return None


def _typed(key: SecretStr | None) -> str | None:
    """The key without the white space that copying leaves around it. Raises ``AgentError``, which
    says nothing of its characters."""
    text = key.get_secret_value().strip() if key is not None else ""
    if not text:
        return None
    if not text.isascii() or not text.isprintable() or " " in text:
        raise AgentError("invalid_request", "The key contains characters that no key has.")
    return text


def _with(connection: ModelConnection, *models: ServerModel) -> ModelConnection:
    """The connection with more models, of which none comes twice."""
    by_name = {each.name: each for each in (*models, *connection.models)}
    return replace(connection, models=tuple(by_name.values()))

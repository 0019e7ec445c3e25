"""Connects a model from the panel: found, tried, saved, and made the user's default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from pydantic import SecretStr

from ...models.catalogue import Provider
from ...models.connected_models import all_models, model_named
from ...models.connections.address import AddressError, normalized
from ...models.connections.connection import (
    CHECK_KEY,
    CONNECTABLE,
    SERVER_LABELS,
    ClientCertificate,
    KeyPlace,
    ModelConnection,
    ServerModel,
    id_for,
)
from ...models.connections.detection import DetectedServer, LocalServers, ServerError, server_at
from ...models.connections.key_store import KeyStoreError, Secrets
from ...models.connections.provider_forms import API_KEY, BEARER, FORMS, Field, ProviderForm, SignIn
from ...models.connections.registry import HEADER, OLLAMA_CONTEXT, Connections
from ...models.connections.way import Way, header_problem, server_of
from ...models.litellm_model import LitellmModel
from ...models.prices import ASSUMED_WINDOW
from ...models.trial import trial_request, try_model
from ...models.types import ModelError
from ...notebook.page import PageHub
from ...protocol.connections import (
    ConnectableField,
    ConnectableModel,
    ConnectableProvider,
    ConnectableSignIn,
    ConnectionInfo,
    ConnectionsReply,
    ConnectionTarget,
    ConnectionTestReply,
    ConnectionTestRequest,
    ConnectRequest,
    FoundModel,
    FoundServer,
    KeySource,
    LookReply,
)
from ...protocol.errors import AgentError, ErrorCode
from ...protocol.requests import LockableChoice, ModelInfo, ModelsReply
from ...settings.layers import Layers, SettingRefused

# What the page is sent about connections; never a key.


def provider_info(
    provider: Provider, connection: ModelConnection | None, connections: Connections
) -> ConnectableProvider:
    """A provider that can be connected, with where its key comes from."""
    plain = ModelConnection(provider.prefix, provider.label)
    variable = connections.variable_set(plain)
    source: KeySource | None = "environment" if variable else None
    if connection is not None and connections.has_secrets(connection):
        source = connection.key_in
    known = [(f"{provider.prefix}/{each.name}", each.label) for each in provider.models]
    info = ConnectableProvider(
        id=provider.prefix,
        label=provider.label,
        key_source=source,
        variable=variable,
        models=[ConnectableModel(id=name, label=label) for name, label in known],
    )
    form = plain.form
    if form is None:
        return info
    saved = {} if connection is None else {**connection.values}
    if connection is not None and connection.api_base:
        saved["api_base"] = connection.api_base
    info.fields = [_field(each, saved) for each in form.fields]
    info.sign_ins = [
        ConnectableSignIn(
            id=each.id, label=each.label, fields=[_field(one, saved) for one in each.fields]
        )
        for each in form.sign_ins
    ]
    info.sign_in = None if connection is None else connection.sign_in
    info.model_label, info.model_example = form.model_label, form.model_example
    return info


def _field(field: Field, saved: Mapping[str, str]) -> ConnectableField:
    return ConnectableField(
        name=field.name,
        label=field.label,
        is_secret=field.is_secret,
        is_required=field.is_required,
        example=field.example,
        value=None if field.is_secret else saved.get(field.name),
    )


def connection_info(
    connection: ModelConnection, default: str | None, connections: Connections
) -> ConnectionInfo:
    """A connection for the page."""
    shown = connection.certificate
    return ConnectionInfo(
        id=connection.id,
        label=connection.label,
        address=connection.api_base,
        key_source=connection.key_in,
        needs_key=connections.needs_key(connection),
        headers=list(connection.headers),
        certificate=None if shown is None else shown.certificate,
        certificate_key=None if shown is None else shown.key,
        models=[f"{connection.id}/{each.name}" for each in connection.models],
        is_default=default is not None and connection.has(default),
    )


def assumed_window(server: DetectedServer) -> int:
    """The window to assume if the server does not report one; Ollama is asked for this much."""
    return OLLAMA_CONTEXT if server.kind == "ollama" else ASSUMED_WINDOW


def found_server(server: DetectedServer) -> FoundServer:
    """A server with its models, for the page."""
    return FoundServer(
        label=SERVER_LABELS[server.kind],
        address=server.api_base,
        needs_key=server.needs_key,
        models=[
            FoundModel(
                name=each.name,
                size=each.size,
                parameters=each.parameters,
                context_window=each.context_window,
                assumed_context_window=None if each.context_window else assumed_window(server),
                vision=each.vision,
                tools=each.tools,
            )
            for each in server.models
        ],
    )


def found_message(models: int) -> str:
    """How many models a server has."""
    if models == 0:
        return "Connected, but the server has no model yet."
    return f"Connected: {models} {'model' if models == 1 else 'models'} found."


class ConnectService:
    """What users connect, as the routes use it. Every method raises ``AgentError``."""

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
        """What is connected, what can be, and where keys are stored; never a key."""
        keyring = problem = None
        try:
            keyring = await self._connections.keys.keyring_name()
        except KeyStoreError as error:
            problem = str(error)
        default = self.models().default
        found = self._connections.all()
        return ConnectionsReply(
            connections=[
                connection_info(each, default, self._connections) for each in found.values()
            ],
            providers=[
                provider_info(each, found.get(each.prefix), self._connections)
                for each in CONNECTABLE.values()
            ],
            keyring=keyring,
            keyring_problem=problem,
            key_folder=str(self._connections.keys.files.folder),
            locked=locked_reason(self._layers),
            model_locked="model" in self._layers.locked,
        )

    async def look(self, again: bool) -> LookReply:
        """The model servers of this computer. They are not searched for while a model is ready,
        unless the user wants to look ``again``, nor if nothing can be connected."""
        ports = self._layers.values()["local_model_ports"]
        if locked_reason(self._layers) is not None or (self.models().ready and not again):
            return LookReply(looked=False, servers=[])
        return LookReply(
            looked=True, servers=[found_server(each) for each in await self._local.look(ports)]
        )

    async def test(self, request: ConnectionTestRequest) -> ConnectionTestReply:
        """Whether it works: one small request to the model or, for a server without a model, a
        request for its list. A failure is an answer, not an error."""
        self._check_unlocked()
        server = None
        try:
            entered = await self._entered(request)
            connection = self._of_provider(request)
            if connection is None:
                server = await self._server(request, entered)
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
            connection = replace(connection, certificate=entered.certificate)
            call = self._connections.call_of(connection, trial_request(name), entered.secrets)
            await try_model(self._model, call)
        except (ModelError, ServerError, AddressError) as error:
            found = None if server is None else found_server(server)
            # The user is already at the place that this points to.
            message = " ".join(str(error).replace(CHECK_KEY, "").split())
            return ConnectionTestReply(ok=False, message=message, server=found)
        return ConnectionTestReply(
            ok=True,
            message=f"{name.partition('/')[2]} answered.",
            server=None if server is None else found_server(server),
        )

    async def connect(self, request: ConnectRequest) -> ConnectionsReply:
        """Save what the user entered, make the model the default, and notify the pages."""
        self._check_unlocked()
        try:
            entered = await self._entered(request)
        except (ModelError, AddressError) as error:
            raise AgentError("invalid_request", str(error)) from error
        is_kept_anew = entered.has_changed or request.store_in is not None
        place = await self._place(request, entered) if entered.secrets and is_kept_anew else None
        connection = self._of_provider(request)
        if connection is None:
            connection = self._of_server(await self._reachable(request, entered))
            if not connection.models and request.model is None:
                raise AgentError(
                    "invalid_request",
                    f"{connection.label} has no model yet. Load one there, then look again.",
                )
        names = (name.removeprefix(HEADER) for name in entered.secrets if name.startswith(HEADER))
        connection = replace(connection, headers=tuple(names), certificate=entered.certificate)
        name = None
        is_named = connection.server is not None or connection.form is not None
        if request.model is not None or is_named:
            name = self._model_name(connection, request.model)
            self._check_model_changeable(name)
            if not connection.lists(name):
                chosen = ServerModel(name.partition("/")[2])
                connection = _with(connection, chosen)
        saved = entered.saved
        if not is_named and not entered.secrets:
            if self._connections.variable_set(connection) is None:
                raise AgentError("invalid_request", f"{connection.label} needs a key.")
        else:
            connection = _with(connection, *(saved.models if saved and not saved.server else ()))
            try:
                secrets = entered.secrets if is_kept_anew else None
                await self._connections.save(connection, secrets, place)
            except (KeyStoreError, OSError) as error:
                raise AgentError("internal", f"Nothing was saved. {error}") from error
        if name is not None and self._layers.values()["model"] != name:
            self._change_model(name)
        self._pages.notify_models_changed()
        return await self.reply()

    async def forget(self, connection_id: str) -> ConnectionsReply:
        """Remove a connection and its key, also as the user's default model."""
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
            raise AgentError("internal", f"The settings could not be written: {error}") from error

    async def _place(self, request: ConnectRequest, entered: _Entered) -> KeyPlace:
        """Where to store secrets. A file needs the user's consent, given now or earlier."""
        if request.store_in is None and entered.saved is not None and entered.saved.key_in:
            return entered.saved.key_in
        if request.store_in == "memory":
            return "memory"
        if request.store_in == "file":
            if request.consent:
                return "file"
            raise AgentError(
                "invalid_request",
                "A key is stored in a file only with consent: true. The file is in "
                f"{self._connections.keys.files.folder}; only your user can read it.",
            )
        try:
            await self._connections.keys.keyring_name()
        except KeyStoreError as error:
            raise AgentError(
                "invalid_request",
                f"{error} The key can be kept until the server stops (storeIn: memory), or in a "
                "file that only your user can read (storeIn: file, consent: true).",
            ) from error
        return "keyring"

    async def _entered(self, request: ConnectionTarget) -> _Entered:
        """What the user typed, completed from what is saved for the same provider or address.

        Raises ``AgentError``, ``AddressError``; ``ModelError`` for a key that cannot be read."""
        saved = self._saved(request)
        before: Secrets = {}
        if saved is not None and not self._connections.needs_key(saved):
            before = await self._connections.secrets_of(saved)
        form = None if request.provider is None else FORMS.get(request.provider)
        secrets = dict(before)
        key = _typed(request.key)
        if form is None:
            if request.values or request.sign_in is not None:
                raise AgentError("invalid_request", "Only providers with a form take values.")
            if key is not None:
                secrets[API_KEY] = key
        else:
            secrets = _signing_in(form, request, key, before)
        if request.headers is not None:
            typed = {name: _value(value) for name, value in request.headers.items()}
            secrets = {
                name: value for name, value in secrets.items() if not name.startswith(HEADER)
            }
            problem = header_problem(typed)
            if problem is not None:
                raise AgentError("invalid_request", problem)
            for name, value in typed.items():
                kept = before.get(f"{HEADER}{name}") if value is None else value
                if kept is None:
                    raise AgentError("invalid_request", f"Enter the value of the header {name}.")
                secrets[f"{HEADER}{name}"] = kept
        has_authorization = f"{HEADER}authorization" in {name.lower() for name in secrets}
        if has_authorization and secrets.keys() & {API_KEY, BEARER}:
            raise AgentError(
                "invalid_request",
                "A key is sent as Authorization. Leave out either the key or that header.",
            )
        certificate = None if saved is None else saved.certificate
        if request.certificate is not None:
            shown, file = request.certificate.strip(), (request.certificate_key or "").strip()
            certificate = ClientCertificate(shown, file or None) if shown else None
        if request.provider is not None and form is None and (request.headers or certificate):
            raise AgentError(
                "invalid_request",
                "Headers and a client certificate are for a server at an address.",
            )
        return _Entered(secrets, before, certificate, saved)

    def _saved(self, request: ConnectionTarget) -> ModelConnection | None:
        """The connection of the same provider, or to the same server. Raises ``AddressError``."""
        found = self._connections.all()
        if request.address is None:
            connection = self._of_provider(request)
            saved = found.get(request.provider or "")
            # What is stored is for the endpoint that it was entered for.
            is_same = saved and connection and saved.api_base == connection.api_base
            return saved if is_same else None
        server = server_of(normalized(request.address))
        at = (each for each in found.values() if each.server and each.api_base)
        return next((each for each in at if server_of(each.api_base or "") == server), None)

    def _of_provider(self, request: ConnectionTarget) -> ModelConnection | None:
        if request.provider is None:
            return None
        known = CONNECTABLE.get(request.provider)
        if known is None:
            # The input is not repeated, since it might be a key in the wrong field.
            raise AgentError(
                "invalid_request",
                f"There is no such provider. There are {', '.join(CONNECTABLE)}.",
            )
        connection = ModelConnection(known.prefix, known.label)
        if connection.form is None:
            return connection
        way = _way_to_sign_in(connection.form, request)
        values = {}
        for field in (*connection.form.fields, *way.fields):
            given = request.values.get(field.name)
            text = "" if given is None else given.get_secret_value().strip()
            if field.is_secret:
                continue
            if not text.isprintable():
                raise AgentError("invalid_request", f"{field.label}: enter one line.")
            if text:
                values[field.name] = text
            elif field.is_required:
                raise AgentError("invalid_request", f"Enter a value: {field.label}.")
        base = values.pop("api_base", None)
        try:
            api_base = None if base is None else normalized(base)
        except AddressError as error:
            raise AgentError("invalid_request", f"Endpoint: {error}") from error
        return replace(connection, sign_in=way.id, values=values, api_base=api_base)

    def _of_server(self, server: DetectedServer) -> ModelConnection:
        taken = {each.id: each.api_base for each in self._connections.all().values()}
        connection_id = id_for(server.kind, server.api_base, taken)
        label = SERVER_LABELS[server.kind]
        if ":" in connection_id:
            label = f"{label} at {connection_id}"
        return ModelConnection(
            connection_id, label, server.kind, server.api_base, models=server.models
        )

    async def _server(self, request: ConnectionTarget, entered: _Entered) -> DetectedServer:
        """Raises ``ServerError`` and ``AddressError``."""
        assert request.address is not None
        headers = {
            name.removeprefix(HEADER): value
            for name, value in entered.secrets.items()
            if name.startswith(HEADER)
        }
        way = Way(self._connections.environ, headers=headers, certificate=entered.certificate)
        return await server_at(request.address, entered.secrets.get(API_KEY), way=way)

    async def _reachable(self, request: ConnectionTarget, entered: _Entered) -> DetectedServer:
        try:
            server = await self._server(request, entered)
        except AddressError as error:
            raise AgentError("invalid_request", str(error)) from error
        except ServerError as error:
            raise AgentError("model_error", f"Nothing was saved. {error}") from error
        if server.needs_key:
            raise AgentError("invalid_request", "This server needs a key.")
        return server

    def _model_name(self, connection: ModelConnection, model: str | None) -> str:
        """The full name of a model, given with or without its prefix; by default the first one."""
        if model is not None:
            name = model.strip().removeprefix(f"{connection.id}/")
        elif connection.server is not None:
            name = connection.models[0].name if connection.models else ""
        else:
            known = CONNECTABLE[connection.id]
            name = known.models[-1].name if connection.form is None else ""
        if not name and (model is not None or connection.form is not None):
            raise AgentError("invalid_request", "Enter the model's name.")
        return f"{connection.id}/{name}"


def locked_reason(layers: Layers) -> str | None:
    """Why nothing can be connected in the panel, None where users may."""
    if not layers.values()["connect_models"]:
        return "The administrator of this server switched off connecting models in the panel."
    if "api_base" in layers.locked:
        return "The administrator of this server locked the address of the model."
    return None


@dataclass(frozen=True)
class _Entered:
    """What a connection is made from: all its secrets, those that were saved ``before``, and the
    connection that they were saved for."""

    secrets: Secrets
    before: Secrets
    certificate: ClientCertificate | None
    saved: ModelConnection | None

    @property
    def has_changed(self) -> bool:
        return self.secrets != self.before


def _way_to_sign_in(form: ProviderForm, request: ConnectionTarget) -> SignIn:
    way = form.sign_in(request.sign_in)
    if way is None:
        known = ", ".join(each.id for each in form.sign_ins)
        raise AgentError("invalid_request", f"There is no such way to sign in. There are {known}.")
    known_names = {each.name for each in (*form.fields, *way.fields)}
    if not request.values.keys() <= known_names:
        raise AgentError(
            "invalid_request", f"The values of this form are {', '.join(sorted(known_names))}."
        )
    return way


def _signing_in(
    form: ProviderForm, request: ConnectionTarget, key: str | None, before: Secrets
) -> dict[str, str]:
    """The secrets for the chosen way to sign in, and the extra headers."""
    secrets = {name: value for name, value in before.items() if name.startswith(HEADER)}
    asked = [each for each in _way_to_sign_in(form, request).fields if each.is_secret]
    if not request.values.keys() & {each.name for each in asked} and key is None:
        # Nothing was typed: use what is saved, if it is for the same way to sign in.
        kept = {each.name: before[each.name] for each in asked if each.name in before}
    else:
        kept = {
            each.name: typed
            for each in asked
            if (typed := _typed(request.values.get(each.name))) is not None
        }
        if key is not None:
            kept[asked[0].name if len(asked) == 1 else API_KEY] = key
    missing = [each.label for each in asked if each.is_required and each.name not in kept]
    if missing:
        raise AgentError("invalid_request", f"Enter a value: {', '.join(missing)}.")
    return {**secrets, **kept}


def _typed(key: SecretStr | None) -> str | None:
    """The key without white space around it, which copying may add. Raises ``AgentError``, which
    reveals none of its characters."""
    text = key.get_secret_value().strip() if key is not None else ""
    if not text:
        return None
    if not text.isascii() or not text.isprintable() or " " in text:
        raise AgentError("invalid_request", "The key contains characters that no key can have.")
    return text


def _value(value: SecretStr | None) -> str | None:
    """The value of a header; what is no header's is left to ``header_problem``."""
    return None if value is None else value.get_secret_value().strip(" \t")


def _with(connection: ModelConnection, *models: ServerModel) -> ModelConnection:
    """The connection with more models, none of them twice."""
    by_name = {each.name: each for each in (*models, *connection.models)}
    return replace(connection, models=tuple(by_name.values()))

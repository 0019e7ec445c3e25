"""All connections, and what a model call gets from them.

A key is read when a call needs it, and passed to that call alone, never through the server's
environment, which kernels inherit.
"""

from __future__ import annotations

import json
import logging
import os
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..catalogue import (
    Environment,
    api_key,
    default_model,
    installed_providers,
    provider_of,
    readiness,
    set_connected,
)
from ..types import CatalogueModel, ModelError, ModelRequest, Readiness
from .connection import CONNECTABLE, ClientCertificate, KeyPlace, ModelConnection, names_a_server
from .key_store import KeyStore, KeyStoreError, Secrets, packed, unpacked
from .provider_forms import API_KEY, BEARER
from .way import header_problem

# ``connections.json``: what is connected, without keys. Read again when it has changed, since
# another server of the same user may have written it.


log = logging.getLogger(__name__)

NAME = "connections.json"


class ConnectionsFile:
    """The connections of a user, by their ids."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._stamp: tuple[int, int, int] | None = None
        self._connections: dict[str, ModelConnection] = {}
        self._unknown: list[Any] = []
        self._is_damaged = False

    @property
    def stamp(self) -> tuple[int, int, int] | None:
        """Time, size and inode of the file at the last ``read``; None if there was no file."""
        return self._stamp

    def read(self) -> Mapping[str, ModelConnection]:
        """Return the connections. An entry that cannot be read is logged once, and ``write`` keeps
        it."""
        try:
            status = self.path.stat()
        except OSError:
            self._begin(None)
            return self._connections
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:
            self._begin(stamp)
            try:
                entries = list(json.loads(self.path.read_text(encoding="utf-8"))["connections"])
            except (OSError, ValueError, TypeError, KeyError) as error:
                log.error("%s cannot be read, and is not used: %s", self.path, error)
                entries, self._is_damaged = [], True
            for entry in entries:
                self._add(entry)
        return self._connections

    def write(self, connections: Mapping[str, ModelConnection]) -> None:
        """Replace the file's connections by these, all or none. Entries that could not be read
        stay in the file, and a file that could not be read is renamed. Raises ``OSError``."""
        kept = [each for each in self._unknown if _id_of(each) not in connections]
        text = json.dumps(
            {"connections": [*(each.to_json() for each in connections.values()), *kept]},
            ensure_ascii=False,
            indent=2,
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(f".{NAME}.{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        if self._is_damaged:
            aside = self.path.with_name(f"{NAME}.damaged")
            self.path.replace(aside)
            log.warning("%s could not be read; it is now %s", self.path, aside)
        new.replace(self.path)

    def _begin(self, stamp: tuple[int, int, int] | None) -> None:
        self._stamp, self._connections, self._unknown = stamp, {}, []
        self._is_damaged = False

    def _add(self, entry: Any) -> None:
        try:
            connection = ModelConnection.from_json(entry)
        except (AttributeError, TypeError, KeyError, ValueError) as error:
            # A newer version may have written it.
            log.error("A connection in %s is not used: %s", self.path, error)
            self._unknown.append(entry)
        else:
            self._connections[connection.id] = connection


def _id_of(entry: Any) -> Any:
    return entry.get("id") if isinstance(entry, dict) else None


OLLAMA_CONTEXT = 16_384
"""The largest context window, in tokens, that is requested from Ollama. Its own default is 4096 on
most computers, and it silently drops the beginning of longer prompts; a larger window takes more
memory."""

HEADER = "header:"
"""Prefix of a header's name among the secrets."""

_SAVED = "saved"
"""Stands for a saved key where only its presence matters."""
_BASES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")


@dataclass(frozen=True)
class ConnectedCall:
    """A model request as it goes out: ``environ`` has its key and no other of the user's for
    that API. ``connection`` is None where settings and environment alone decide. ``arguments`` are
    litellm's own, ``headers`` go to the connection's address."""

    request: ModelRequest
    environ: Environment
    connection: ModelConnection | None = None
    arguments: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: ClientCertificate | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class OwnServer:
    """The configuration of the server at ``api_base``. ``headers`` maps each extra header to the
    environment variable that has its value."""

    headers: Mapping[str, str] = field(default_factory=dict)
    certificate: ClientCertificate | None = None


class Connections:
    """The connections of one user, in ``folder``.

    ``enabled``: whether an administrator allows them; if not, there are none. ``own_server``: the
    configuration of the server at ``api_base``."""

    def __init__(
        self,
        folder: Path,
        *,
        keys: KeyStore | None = None,
        environ: Environment = os.environ,
        enabled: Callable[[], bool] = lambda: True,
        own_server: Callable[[], OwnServer] = OwnServer,
    ) -> None:
        self.keys = keys or KeyStore(folder)
        self._file = ConnectionsFile(folder)
        self._environ = environ
        self._enabled = enabled
        self._own_server = own_server
        self._read: dict[str, Secrets] = {}
        self._read_at = self._file.stamp

    @property
    def environ(self) -> Environment:
        """The environment without the connections' keys."""
        return self._environ

    def all(self) -> Mapping[str, ModelConnection]:
        """The connections by their ids."""
        if not self._enabled():
            return {}
        connections = self._file.read()
        if self._file.stamp != self._read_at:
            self._read_at = self._file.stamp
            self._read.clear()
            set_connected(_windows(connections.values()))
        return connections

    def find(self, model: str) -> ModelConnection | None:
        """The connection that the model's name belongs to."""
        if installed_providers().has(model):
            return None
        provider = provider_of(model)
        first = provider.prefix if provider is not None else model.partition("/")[0]
        return self.all().get(first)

    # -- what can be called

    def environ_with_keys(self) -> Environment:
        """The environment with a placeholder as the key of each provider that has a saved one."""
        saved = {
            each.provider.keys[0]: _SAVED
            for each in self.all().values()
            if each.server is None and each.form is None and self.has_secrets(each)
        }
        return ChainMap(saved, dict(self._environ)) if saved else self._environ

    def readiness(self, model: str | None, api_base: str | None) -> Readiness:
        """Whether the model could be called now, as far as can be told without calling it."""
        connection = self.find(model) if model else None
        if connection is not None and connection.key_in == "memory" and self.needs_key(connection):
            return Readiness(False, _enter_key_again(connection), "", connection.provider.keys[:1])
        if connection is not None and (connection.server is not None or connection.form):
            return Readiness(True)
        if model and connection is None and names_a_server(model) and not api_base:
            server = model.partition("/")[0]
            return Readiness(
                False,
                f"The server {server} is no longer connected.",
                "Choose another model, or connect it again.",
            )
        return readiness(model, api_base, self.environ_with_keys())

    def needs_key(self, connection: ModelConnection) -> bool:
        """Whether its key was kept until the server stopped, and the server has stopped."""
        return connection.key_in == "memory" and not self.keys.has_in_memory(connection.id)

    def has_secrets(self, connection: ModelConnection) -> bool:
        """Whether it has a key or other secrets that can be used."""
        return connection.key_in is not None and not self.needs_key(connection)

    def default_model(self) -> str | None:
        """The first model of the first provider that has a key, saved or in the environment."""
        return default_model(self.environ_with_keys())

    async def call(self, request: ModelRequest) -> ConnectedCall:
        """The request with the address and the key of its connection, if it has one.

        Raises ``ModelError`` for a key that cannot be read."""
        connection = self.find(request.model) if request.model else None
        if connection is None or self._goes_to_the_users_own_server(request, connection):
            return self._own_call(request)
        return self.call_of(connection, request, await self.secrets_of(connection))

    def _own_call(self, request: ModelRequest) -> ConnectedCall:
        own = self._own_server()
        values = {name: self._environ.get(given, "").strip() for name, given in own.headers.items()}
        missing = next((own.headers[name] for name, value in values.items() if not value), None)
        if missing is not None:
            raise ModelError(
                "authentication",
                f"The setting api_headers names the environment variable {missing}, which is not "
                "set. Set it where JupyterLab is started.",
            )
        problem = header_problem(values)
        if problem is not None:
            raise ModelError("bad_request", f"The setting api_headers is not valid. {problem}")
        return ConnectedCall(
            request,
            self._environ,
            headers=values,
            certificate=own.certificate,
            secrets=tuple(values.values()),
        )

    def call_of(
        self, connection: ModelConnection, request: ModelRequest, secrets: Secrets
    ) -> ConnectedCall:
        """The request to this connection with these secrets, or with the environment's key."""
        environ = dict(self._environ)
        variables = connection.provider.keys
        key = secrets.get(API_KEY)
        form = connection.form
        if connection.server is not None:
            # A server must not get the key of the provider whose API it implements.
            for name in (*variables, *_BASES):
                environ.pop(name, None)
        if key is not None and form is None:
            environ[variables[0]] = key
        sent = replace(
            request,
            model=connection.litellm_name(request.model),
            api_base=connection.api_base,
            num_ctx=_num_ctx(connection, request.model),
        )
        if "api_version" in connection.values and request.model_api == "auto":
            # Azure offers the Responses API only under its own API versions.
            sent = replace(sent, model_api="chat")
        headers = {
            name.removeprefix(HEADER): value
            for name, value in secrets.items()
            if name.startswith(HEADER)
        }
        if BEARER in secrets:
            headers["Authorization"] = f"Bearer {secrets[BEARER]}"
        arguments = {
            name: value
            for name, value in {**connection.values, **secrets}.items()
            if form is not None and name != BEARER and not name.startswith(HEADER)
        }
        return ConnectedCall(
            sent,
            environ,
            connection,
            arguments=arguments,
            headers=headers,
            certificate=connection.certificate,
            secrets=tuple(secrets.values()),
        )

    async def secrets_of(self, connection: ModelConnection) -> Secrets:
        """The saved key, and the secrets that are kept with it. Raises ``ModelError``."""
        if connection.key_in is None:
            return {}
        if connection.id in self._read:
            return self._read[connection.id]
        try:
            entry = await self.keys.get(connection.id, connection.key_in)
        except KeyStoreError as error:
            raise ModelError(
                "authentication", f"The saved key could not be read. {error}"
            ) from error
        if entry is None:
            gone = (
                f"The saved key of {connection.label} is missing. Enter it again under “Connect a "
                "Model”."
            )
            again = _enter_key_again(connection)
            raise ModelError("authentication", again if connection.key_in == "memory" else gone)
        self._read[connection.id] = unpacked(entry)
        return self._read[connection.id]

    def _goes_to_the_users_own_server(
        self, request: ModelRequest, connection: ModelConnection
    ) -> bool:
        """Whether the setting ``api_base`` applies to the model rather than the provider's
        connection: it does for names like ``openai/mine``, which neither lists."""
        if not request.api_base or connection.server is not None:
            return False
        listed = provider_of(request.model)
        name = request.model.removeprefix(f"{connection.id}/")
        known = listed is not None and any(each.name == name for each in listed.models)
        return not known and not connection.lists(request.model)

    # -- changes

    async def save(
        self,
        connection: ModelConnection,
        secrets: Secrets | None,
        place: KeyPlace | None,
    ) -> ModelConnection:
        """Add or replace a connection. None for ``secrets`` keeps the saved ones while the address
        is the same; an empty mapping removes them.

        Raises ``KeyStoreError`` and ``OSError``; then no connection has changed, and no key is kept
        without one."""
        before = self.all().get(connection.id)
        if secrets and place is not None:
            await self.keys.set(connection.id, packed(secrets), place)
            if before is not None and before.key_in == "keyring" != place:
                await self.keys.delete_from_keyring(connection.id)
            connection = replace(connection, key_in=place)
        elif secrets is not None:
            if before is not None and before.key_in is not None:
                await self.keys.delete(connection.id, before.key_in)
        elif before is not None and before.api_base == connection.api_base:
            connection = replace(connection, key_in=before.key_in)
        self._read.pop(connection.id, None)
        try:
            self._file.write({**self._file.read(), connection.id: connection})
        except OSError:
            if secrets and (before is None or before.key_in is None):
                with suppress(KeyStoreError):
                    await self.keys.delete(connection.id, place)
            raise
        return connection

    async def forget(self, connection_id: str) -> bool:
        """Remove a connection and its key; False where there is none.

        Raises ``KeyStoreError`` and ``OSError``."""
        connections = dict(self._file.read())
        connection = connections.pop(connection_id, None)
        if connection is None and connection_id not in CONNECTABLE:
            return False
        self._read.pop(connection_id, None)
        await self.keys.delete(connection_id, connection.key_in if connection else None)
        if connection is None:
            return False
        self._file.write(connections)
        return True

    def variable_set(self, connection: ModelConnection) -> str | None:
        """The environment variable that has the provider's key, if one does."""
        is_own = connection.server is not None or connection.form is not None
        if is_own or not api_key(connection.provider, self._environ):
            return None
        names = connection.provider.keys
        return next(name for name in names if self._environ.get(name, "").strip())


def _enter_key_again(connection: ModelConnection) -> str:
    return (
        f"The key of {connection.label} was kept until the server stopped. Enter it again under "
        "“Connect a Model”."
    )


def _num_ctx(connection: ModelConnection, model: str) -> int | None:
    """The context window to request, in tokens; None if the server does not take one."""
    if connection.server != "ollama":
        return None
    name = model.partition("/")[2]
    listed = next((each for each in connection.models if each.name == name), None)
    most = listed.context_window if listed is not None else None
    return min(most, OLLAMA_CONTEXT) if most else OLLAMA_CONTEXT


def _windows(connections: Iterable[ModelConnection]) -> dict[str, CatalogueModel]:
    """Context windows of the servers' models and whether they see images, by full name."""
    windows = {}
    for connection in connections:
        for each in connection.models:
            name = f"{connection.id}/{each.name}"
            window = _num_ctx(connection, name) or each.context_window
            if window:
                windows[name] = CatalogueModel(each.name, each.name, window, bool(each.vision))
    return windows

"""Connecting models from the panel: what is there, what was found, what a user chose.

Keys only come in. Nothing that goes out has one: a reply says where a key is kept.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, model_validator
from typing_extensions import Self

from .base import Wire

KeySource = Literal["environment", "keyring", "file", "memory"]
"""Where a key comes from; ``memory``: kept until the server stops."""


class FoundModel(Wire):
    """A model of a server. ``size`` is in bytes, ``context_window`` in tokens;
    ``assumed_context_window`` is what the agent would count with where the server does not say."""

    name: str
    size: int | None = None
    parameters: str | None = None
    context_window: int | None = None
    assumed_context_window: int | None = None
    vision: bool | None = None
    tools: bool | None = None


class FoundServer(Wire):
    """A model server. ``needs_key``: its models are only listed with a key."""

    label: str
    address: str
    models: list[FoundModel] = []
    needs_key: bool = False


class LookRequest(Wire):
    """Body of ``POST connections/look``. Unless it is ``again``, which a user asked for, nothing is
    looked for while a model is ready."""

    again: bool = False


class LookReply(Wire):
    """The model servers of this computer; ``looked`` is false where nobody was asked."""

    looked: bool
    servers: list[FoundServer]


class ConnectionTarget(Wire):
    """A provider by its id, or a server by its address; and what the user typed.

    ``values`` are the fields of a provider's form, by their names, for the way to sign in
    ``sign_in``. ``headers`` are extra ones for a server at an address, by their names; None as a
    value keeps the saved one, without ``headers`` all are kept. ``certificate`` and
    ``certificate_key`` are paths on the server's computer; an empty one removes it."""

    provider: str | None = None
    address: str | None = Field(default=None, max_length=2000)
    key: SecretStr | None = Field(default=None, max_length=10_000)
    model: str | None = Field(default=None, max_length=500)
    sign_in: str | None = Field(default=None, max_length=50)
    values: dict[str, SecretStr] = Field(default={}, max_length=20)
    headers: dict[str, SecretStr | None] | None = Field(default=None, max_length=50)
    certificate: str | None = Field(default=None, max_length=2000)
    certificate_key: str | None = Field(default=None, max_length=2000)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.provider is None) == (self.address is None):
            raise ValueError("name either a provider or an address")
        return self


class ConnectionTestRequest(ConnectionTarget):
    """Body of ``POST connections/test``. Without a ``key`` the one that is there already is used.
    Without a ``model``, a server is only asked for its list."""


class ConnectionTestReply(Wire):
    """Whether it works, in a sentence; of a server what was found there."""

    ok: bool
    message: str
    server: FoundServer | None = None


class ConnectRequest(ConnectionTarget):
    """Body of ``POST connections``. ``model`` becomes the user's default model; ``name`` of it as
    the provider or the server has it. A key, and what else is secret, is kept in ``store_in``: in a
    file only with ``consent``, in ``memory`` until the server stops."""

    store_in: Literal["keyring", "file", "memory"] | None = None
    consent: bool = False


class ConnectionInfo(Wire):
    """A connection. ``key_source`` is None where it has no key; ``needs_key``: it had one, which
    was kept until the server stopped. ``headers`` are the names of its extra ones."""

    id: str
    label: str
    address: str | None = None
    key_source: KeySource | None = None
    needs_key: bool = False
    headers: list[str] = []
    certificate: str | None = None
    certificate_key: str | None = None
    models: list[str] = []
    is_default: bool = False


class ConnectableModel(Wire):
    """A model of a provider that may be chosen with its key."""

    id: str
    label: str


class ConnectableField(Wire):
    """A field of a provider's form. ``value`` is the saved one, never of a secret."""

    name: str
    label: str
    is_secret: bool
    is_required: bool
    example: str = ""
    value: str | None = None


class ConnectableSignIn(Wire):
    """A way to sign in, with what it asks for."""

    id: str
    label: str
    fields: list[ConnectableField]


class ConnectableProvider(Wire):
    """A provider that takes a key. ``variable`` is the environment variable that has one.

    One with ``sign_ins`` has a form: ``fields``, and those of one of the ways to sign in, of which
    ``sign_in`` is the saved one. Its models are named by the user; ``model_label`` is what it calls
    their names."""

    id: str
    label: str
    key_source: KeySource | None = None
    variable: str | None = None
    models: list[ConnectableModel]
    fields: list[ConnectableField] = []
    sign_ins: list[ConnectableSignIn] = []
    sign_in: str | None = None
    model_label: str = "Model"
    model_example: str = ""


class ConnectionsReply(Wire):
    """What is connected, what can be, and where a key would be kept.

    ``keyring`` is the name of the system's keyring; where there is none, ``keyring_problem`` says
    why. ``locked`` is the reason why nothing can be connected here."""

    connections: list[ConnectionInfo]
    providers: list[ConnectableProvider]
    keyring: str | None = None
    keyring_problem: str | None = None
    key_folder: str
    locked: str | None = None
    model_locked: bool = False

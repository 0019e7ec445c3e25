"""A connection: a provider with a key that was saved, or a model server at an address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from ..catalogue import PROVIDERS, Provider
from .provider_forms import FORMS, ProviderForm

ServerKind: TypeAlias = Literal["ollama", "lm_studio", "llama_cpp", "vllm", "openai_compatible"]
KeyPlace: TypeAlias = Literal["keyring", "file", "memory"]
"""``memory``: until the server stops."""

SERVER_LABELS: dict[ServerKind, str] = {
    "ollama": "Ollama",
    "lm_studio": "LM Studio",
    "llama_cpp": "llama.cpp",
    "vllm": "vLLM",
    "openai_compatible": "OpenAI-compatible server",
}

# The first part of a model's name, for a server on this computer: litellm's name for the kind, if
# it has one.
_LOCAL_IDS: dict[ServerKind, str] = {
    "ollama": "ollama_chat",
    "lm_studio": "lm_studio",
    "llama_cpp": "llama_cpp",
    "vllm": "hosted_vllm",
}
CHECK_KEY = "Check the key under “Connect a Model” in the Agent panel."
_HOST_AND_PORT = re.compile(r"^[\w.\-\[\]:]*:\d+(-\d+)?$")

WITH_A_KEY = tuple(
    provider for provider in PROVIDERS if provider.chooses_itself and len(provider.keys) > 0
)
"""The providers that need a key and nothing else, in the catalogue's order."""


CONNECTABLE: Mapping[str, Provider] = {
    provider.prefix: provider
    for provider in PROVIDERS
    if provider in WITH_A_KEY or provider.prefix in FORMS
}
"""The providers that users can connect, by their ids."""


@dataclass(frozen=True)
class ServerModel:
    """A model of a server. ``size`` is in bytes, ``context_window`` in tokens; None: unknown.
    ``tools`` and ``vision``: whether it takes tools and images, as far as the server says."""

    name: str
    size: int | None = None
    parameters: str | None = None
    context_window: int | None = None
    vision: bool | None = None
    tools: bool | None = None


@dataclass(frozen=True)
class ClientCertificate:
    """The certificate by which this computer identifies itself to a server: paths of PEM files.
    ``key`` is None if the certificate's file contains the key, too."""

    certificate: str
    key: str | None = None


@dataclass(frozen=True)
class ModelConnection:
    """One connection. ``id`` is what its models' names begin with, before the first ``/``.

    Without a ``server`` it is the provider ``id`` of litellm, at its own address or ``api_base``.
    ``key_in`` says where its secrets are kept. ``values`` are the fields of a provider's form that
    are not secret, ``headers`` the names of extra headers."""

    id: str
    label: str
    server: ServerKind | None = None
    api_base: str | None = None
    key_in: KeyPlace | None = None
    models: tuple[ServerModel, ...] = field(default=())
    sign_in: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    headers: tuple[str, ...] = ()
    certificate: ClientCertificate | None = None

    @property
    def form(self) -> ProviderForm | None:
        """The form of a provider that needs more than a key, else None."""
        return FORMS.get(self.id) if self.server is None else None

    @property
    def provider(self) -> Provider:
        """The provider as a call needs it: with the name of the variable that the key is passed
        in, and the advice for a key that was refused."""
        prefix = self.id if self.server is None else _prefix(self.server)
        listed = next(provider for provider in PROVIDERS if provider.prefix == prefix)
        return Provider(
            prefix,
            self.label,
            listed.keys or ("OLLAMA_API_KEY",),
            (),
            chooses_itself=False,
            responses=self.server is None and listed.responses,
            check_key=CHECK_KEY,
        )

    def litellm_name(self, model: str) -> str:
        """The name that litellm takes in place of ``id/name``."""
        if self.server is None:
            return model
        return f"{_prefix(self.server)}/{model.partition('/')[2]}"

    def has(self, model: str) -> bool:
        """Whether the name is one of this connection's."""
        return model.partition("/")[0] == self.id and "/" in model

    def lists(self, model: str) -> bool:
        """Whether the model is one of ``models``, which the server listed or the user chose."""
        return any(model == f"{self.id}/{each.name}" for each in self.models)

    def to_json(self) -> dict[str, Any]:
        """The entry in ``connections.json``, without secrets."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), {})}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ModelConnection:
        """Read an entry that ``to_json`` made. Raises ``TypeError``, ``KeyError`` or ``ValueError``
        for anything else."""
        if data.get("server") not in (None, *SERVER_LABELS):
            raise ValueError(f"no such kind of server: {data['server']!r}")
        if data.get("server") is None and data["id"] not in CONNECTABLE:
            raise ValueError(f"no such provider: {data['id']!r}")
        certificate = data.get("certificate")
        return cls(
            **{
                **data,
                "models": tuple(ServerModel(**each) for each in data.get("models", ())),
                "headers": tuple(map(str, data.get("headers", ()))),
                "certificate": None if certificate is None else ClientCertificate(**certificate),
            }
        )


def _prefix(server: ServerKind) -> str:
    return "ollama_chat" if server == "ollama" else "openai"


def id_for(server: ServerKind, api_base: str, taken: Mapping[str, str | None]) -> str:
    """The id of a server's connection: the kind's name on this computer, else ``host:port``.

    ``taken`` maps the existing ids to their addresses; an address that has an id keeps it."""
    existing = next((name for name, base in taken.items() if base == api_base), None)
    if existing is not None:
        return existing
    parts = urlsplit(api_base)
    local = _LOCAL_IDS.get(server) if is_loopback(parts.hostname) else None
    if local is not None and local not in taken:
        return local
    port = parts.port or (443 if parts.scheme == "https" else 80)
    first = f"{parts.hostname}:{port}"
    others = (f"{first}-{number}" for number in range(2, len(taken) + 3))
    return next(each for each in (first, *others) if each not in taken)


def names_a_server(model: str) -> bool:
    """Whether the model's name can only belong to a server that was connected in the panel."""
    first, slash, _ = model.partition("/")
    return bool(slash) and (first == "llama_cpp" or _HOST_AND_PORT.match(first) is not None)


def is_loopback(host: str | None) -> bool:
    """Whether the host is this computer, by its address or by a name that is reserved for it
    (RFC 6761)."""
    name = (host or "").lower().rstrip(".")
    if name in ("localhost", "localhost.localdomain") or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback

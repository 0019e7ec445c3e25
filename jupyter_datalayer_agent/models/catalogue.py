"""The providers and models that are offered, and whether each can be called now.

Nothing here imports litellm, opens a connection or returns a secret. Any other model name of
litellm works too: the list is a suggestion.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_datalayer_agent.protocol.requests import ModelInfo, ModelsReply

from .connection_help import CONNECTIONS
from .installed_providers import InstalledProviders
from .local.added_models import LABEL, PREFIX, LocalModel, added_models
from .local.servers import needed, readiness_of, size_text
from .types import CatalogueModel, Readiness

Environment = Mapping[str, str]


@dataclass(frozen=True)
class Provider:
    """A provider as litellm names it (``prefix``).

    ``keys``: environment variables, one of which must hold the key; empty if none is needed.
    ``also``: variables that must be set, too. ``chooses_itself``: a key is enough to make the
    provider the default."""

    prefix: str
    label: str
    keys: tuple[str, ...]
    models: tuple[CatalogueModel, ...]
    also: tuple[str, ...] = ()
    chooses_itself: bool = True
    responses: bool = False
    """Whether the provider serves the Responses API itself."""
    check_key: str = ""
    """What to do about a key that was refused; left empty, it names the variables."""


# Windows and flags as litellm 1.109's price list has them (November 2026).
PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "anthropic",
        "Anthropic",
        ("ANTHROPIC_API_KEY",),
        (
            CatalogueModel("claude-sonnet-5-5", "Claude Sonnet 5.5", 1_000_000),
            CatalogueModel("claude-opus-5-5", "Claude Opus 5.5", 1_000_000),
            CatalogueModel("claude-haiku-4-5", "Claude Haiku 4.5", 200_000),
        ),
    ),
    Provider(
        "openai",
        "OpenAI",
        ("OPENAI_API_KEY",),
        (
            CatalogueModel("gpt-6.1-sol", "GPT-6.1 Sol", 922_000),
            CatalogueModel("gpt-6.1-terra", "GPT-6.1 Terra", 922_000),
            CatalogueModel("gpt-5.3-codex", "GPT-5.3 Codex", 272_000),
        ),
        responses=True,
    ),
    Provider(
        "gemini",
        "Google Gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        (
            CatalogueModel("gemini-3.8-flash", "Gemini 3.8 Flash", 1_048_576),
            CatalogueModel("gemini-3.1-pro-preview", "Gemini 3.1 Pro", 1_048_576),
        ),
    ),
    Provider(
        "mistral",
        "Mistral",
        ("MISTRAL_API_KEY",),
        (
            CatalogueModel("mistral-large-latest", "Mistral Large", 262_144),
            CatalogueModel("mistral-medium-latest", "Mistral Medium", 262_144),
        ),
    ),
    Provider(
        "deepseek",
        "DeepSeek",
        ("DEEPSEEK_API_KEY",),
        (
            CatalogueModel("deepseek-v4-pro", "DeepSeek V4 Pro", 1_000_000, vision=False),
            CatalogueModel("deepseek-v4-flash", "DeepSeek V4 Flash", 1_000_000),
        ),
    ),
    Provider(
        "xai",
        "xAI",
        ("XAI_API_KEY",),
        (CatalogueModel("grok-4.20", "Grok 4.20", 1_000_000),),
    ),
    Provider(
        "groq",
        "Groq",
        ("GROQ_API_KEY",),
        (CatalogueModel("openai/gpt-oss-120b", "GPT-OSS 120B on Groq", 131_072, vision=False),),
    ),
    Provider(
        "openrouter",
        "OpenRouter",
        ("OPENROUTER_API_KEY",),
        (CatalogueModel("anthropic/claude-sonnet-5.5", "Claude Sonnet 5.5", 1_000_000),),
    ),
    Provider(
        "azure",
        "Azure OpenAI",
        ("AZURE_API_KEY", "AZURE_AD_TOKEN"),
        (),
        also=("AZURE_API_BASE",),
        chooses_itself=False,
        responses=True,
    ),
    Provider(
        "bedrock",
        "Amazon Bedrock",
        ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ROLE_ARN"),
        (
            CatalogueModel(
                "global.anthropic.claude-sonnet-5-5", "Claude Sonnet 5.5 on Bedrock", 1_000_000
            ),
        ),
        chooses_itself=False,
    ),
    Provider("ollama_chat", "Ollama", (), (), chooses_itself=False),
    Provider("ollama", "Ollama", (), (), chooses_itself=False),
)

_BY_PREFIX = {provider.prefix: provider for provider in PROVIDERS}


@functools.cache
def installed_providers() -> InstalledProviders:
    """The providers of other packages. None may take the name of one that is listed here."""
    return InstalledProviders(taken=(*_BY_PREFIX, PREFIX.rstrip("/")))


def provider_of(model: str) -> Provider | None:
    """The provider of ``provider/name``, or of an unambiguous bare name, if listed here."""
    prefix, slash, _ = model.partition("/")
    if slash:
        return _BY_PREFIX.get(prefix)
    if model.startswith(("gpt-", "chatgpt-", "o1", "o3", "o4")):
        return _BY_PREFIX["openai"]
    return _BY_PREFIX["anthropic"] if model.startswith("claude-") else None


def api_key(provider: Provider, environ: Environment) -> str | None:
    """The provider's key, without white space around it, which copying may add.

    ``None`` if no variable is set, an empty string if one is empty."""
    found = None
    for name in provider.keys:
        if name in environ:
            found = environ[name].strip()
            if found:
                break
    return found


def readiness(
    model: str | None, api_base: str | None = None, environ: Environment = os.environ
) -> Readiness:
    """Whether ``model`` could be called now, as far as settings and environment show.

    No request is made, so only a call reveals a wrong key."""
    if not model:
        return _no_model(environ)
    if model.startswith(PREFIX):
        return readiness_of(model)
    if installed_providers().has(model):
        return installed_providers().readiness(model)
    provider = provider_of(model)
    if provider is None or not provider.keys or (api_base and provider.prefix == "openai"):
        return Readiness(True)
    key = api_key(provider, environ)
    if key is None:
        return Readiness(
            False,
            f"{provider.label} has no key: {_one_of(provider.keys)} is not set.",
            f"Connect it in the Agent panel, or set {provider.keys[0]} and restart JupyterLab.",
            provider.keys,
        )
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        what = "is empty" if not key else "contains invalid characters"
        return Readiness(
            False,
            f"The key of {provider.label} {what}.",
            f"Set {_one_of(provider.keys)} to a valid key, and restart JupyterLab.",
            provider.keys,
        )
    missing = tuple(name for name in provider.also if not environ.get(name))
    if missing and not api_base:
        return Readiness(
            False,
            f"{provider.label} also needs {', '.join(missing)}.",
            f"Set {', '.join(missing)}, or the setting `api_base`.",
            missing,
        )
    return Readiness(True)


def default_model(environ: Environment = os.environ) -> str | None:
    """The first model of the first provider whose key is in the environment, else of a package's
    provider that is ready, else the first one on this computer that could be started."""
    for provider in PROVIDERS:
        if provider.chooses_itself and provider.models and api_key(provider, environ):
            return f"{provider.prefix}/{provider.models[0].name}"
    return installed_providers().default_model() or next(
        (each.id for each in added_models().all() if readiness_of(each.id).ready), None
    )


def models_reply(
    current: str | None = None, api_base: str | None = None, environ: Environment = os.environ
) -> ModelsReply:
    """The answer of ``GET models``. ``current`` is the configured model, which comes first if it is
    not listed; without one, the environment suggests the default."""
    chosen = current or default_model(environ)
    # With the user's own address, OpenAI's names would be sent there instead of to OpenAI.
    listed = [
        _info(provider, model, environ)
        for provider in PROVIDERS
        if not (api_base and provider.prefix == "openai")
        for model in provider.models
    ]
    listed += installed_providers().infos()
    listed += map(local_info, added_models().all())
    state = readiness(chosen, api_base, environ)
    if chosen and all(info.id != chosen for info in listed):
        provider = provider_of(chosen)
        own = ModelInfo(
            id=chosen,
            label=chosen.partition("/")[2] or chosen,
            provider=provider.label if provider else chosen.partition("/")[0],
            ready=state.ready,
            reason=state.reason or None,
        )
        listed.insert(0, own)
    message = None if state.ready else f"{state.reason} {state.what_to_do}".strip()
    return ModelsReply(
        models=listed,
        default=chosen,
        ready=state.ready,
        message=message,
        connections=[] if state.ready else list(CONNECTIONS),
    )


_connected: Mapping[str, CatalogueModel] = {}


def set_connected(models: Mapping[str, CatalogueModel]) -> None:
    """Set what servers that users connected report about their models, by full name."""
    global _connected
    _connected = models


def connected_model(model: str) -> CatalogueModel | None:
    """What a connected server reported about its model; None if no server has it."""
    return _connected.get(model)


def find_model(model: str) -> CatalogueModel | None:
    """The catalogue's entry for a model name, or what its server reported, if there is one."""
    if model.startswith(PREFIX):
        local = added_models().find(model)
        if local is None:
            return None
        return CatalogueModel(local.name, local.name, local.window, vision=False)
    if installed_providers().has(model):
        return installed_providers().find(model)
    if (connected := connected_model(model)) is not None:
        return connected
    provider = provider_of(model)
    name = model.removeprefix(f"{provider.prefix}/") if provider else ""
    return (
        next((known for known in provider.models if known.name == name), None) if provider else None
    )


def local_info(model: LocalModel) -> ModelInfo:
    """A model on this computer, with the memory that it needs."""
    state = readiness_of(model.id)
    reason = f"{state.reason} {state.what_to_do}".strip()
    return ModelInfo(
        id=model.id,
        label=f"{model.name} (needs {size_text(needed(model))})",
        provider=LABEL,
        ready=state.ready,
        reason=reason or None,
        context_window=model.window,
    )


def _info(provider: Provider, model: CatalogueModel, environ: Environment) -> ModelInfo:
    name = f"{provider.prefix}/{model.name}"
    state = readiness(name, None, environ)
    return ModelInfo(
        id=name,
        label=model.label,
        provider=provider.label,
        ready=state.ready,
        reason=state.reason or None,
        vision=model.vision,
        context_window=model.context_window,
    )


NOT_CONNECTED = (
    "No model is connected. In the Agent panel, “Connect a Model” takes a key or finds one on this "
    "computer."
)
"""For an answer without a model; the start page has the long text of ``readiness``."""


def _no_model(environ: Environment) -> Readiness:
    looked_for = [provider.keys[0] for provider in PROVIDERS if provider.chooses_itself]
    return Readiness(
        False,
        f"No model is configured, and none of {', '.join(looked_for)} is set.",
        "Connect one in the Agent panel, or set one of them and start JupyterLab again.",
        tuple(looked_for),
    )


def _one_of(names: tuple[str, ...]) -> str:
    return " or ".join(names)

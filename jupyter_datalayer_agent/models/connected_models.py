"""``GET models``: the models that users connected, and those of the catalogue."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

from ..protocol.requests import ModelInfo, ModelsReply
from . import loader
from .catalogue import (
    find_model,
    installed_providers,
    local_info,
    models_reply,
    provider_of,
    readiness,
)
from .connection_help import CONNECTIONS
from .connections.connection import ModelConnection
from .connections.registry import Connections
from .local.added_models import PREFIX, added_models
from .provider_arguments import OTHER_PREFIXES
from .types import ModelError, Readiness

# Whether a model can be called, as far as that is known without a call.


async def named_model(
    model: str, api_base: str | None, environ: Mapping[str, str] = os.environ
) -> ModelInfo:
    """The model with its readiness and, where it is not ready, the reason.

    A name that only its provider, or the server at ``api_base``, can check counts as ready. litellm
    is loaded for a name whose provider is not known otherwise.
    """
    if model.startswith(PREFIX):
        local = added_models().find(model)
        if local is not None:
            return local_info(local)
    if installed_providers().has(model):
        return installed_providers().info(model)
    prefix, slash, name = model.partition("/")
    state = readiness(model, api_base, environ)
    provider = provider_of(model)
    if state.ready and provider is None and not api_base and prefix not in OTHER_PREFIXES:
        state = await _whose(model)
    reason = f"{state.reason} {state.what_to_do}".strip()
    return ModelInfo(
        id=model,
        label=name if slash else model,
        provider=provider.label if provider else prefix,
        ready=state.ready,
        reason=reason or None,
    )


async def _whose(model: str) -> Readiness:
    try:
        litellm = await loader.litellm()
    except ModelError as error:
        return Readiness(False, error.message)
    if _knows(litellm, model):
        return Readiness(True)
    prefix, slash, _ = model.partition("/")
    unknown = f"There is no provider {prefix}." if slash else "The provider is missing."
    return Readiness(False, unknown, "Name it as provider/name, openai/gpt-6.1-sol for example.")


def _knows(litellm: ModuleType, model: str) -> bool:
    """Whether litellm knows the provider by the prefix, or by the whole name."""
    prefix, slash, _ = model.partition("/")
    if (slash and prefix in litellm.provider_list) or model in litellm.model_cost:
        return True
    try:
        litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError:
        return False
    return True


def all_models(connections: Connections, current: str | None, api_base: str | None) -> ModelsReply:
    """The models of all connections, then those of the catalogue. ``current`` is the configured
    model; without one, the default is from the first provider that has a key."""
    found = connections.all()
    chosen = current or connections.default_model()
    # OpenAI's names go to OpenAI where its key was saved, whatever the address of others.
    base = None if "openai" in found else api_base
    reply = models_reply(chosen, base, connections.environ_with_keys())
    connected = {each.id: each for one in found.values() for each in _infos(one)}
    reply.models = [
        *connected.values(),
        *(each for each in reply.models if each.id not in connected),
    ]
    state = connections.readiness(chosen, api_base)
    reply.ready = state.ready
    reply.message = None if state.ready else f"{state.reason} {state.what_to_do}".strip()
    reply.connections = [] if state.ready else list(CONNECTIONS)
    for each in reply.models:
        if each.id == chosen:
            each.ready, each.reason = state.ready, state.reason or None
    _distinguish([each for each in reply.models if each.ready])
    return reply


async def model_named(connections: Connections, model: str, api_base: str | None) -> ModelInfo:
    """The model with its readiness and, where it is not ready, the reason."""
    connection = connections.find(model)
    for info in _infos(connection) if connection is not None else ():
        if info.id == model:
            return info
    info = await named_model(model, api_base, connections.environ_with_keys())
    state = connections.readiness(model, api_base)
    if not state.ready:
        info.ready, info.reason = False, f"{state.reason} {state.what_to_do}".strip()
    return info


def _distinguish(models: Sequence[ModelInfo]) -> None:
    """Add the server to the labels of models with the same name."""
    labels = Counter(each.label for each in models)
    for each in models:
        if labels[each.label] > 1:
            each.label = f"{each.label} · {each.id.partition('/')[0]}"


def _infos(connection: ModelConnection) -> Iterator[ModelInfo]:
    for each in connection.models:
        name = f"{connection.id}/{each.name}"
        known = find_model(name)
        yield ModelInfo(
            id=name,
            label=known.label if known is not None else each.name,
            provider=connection.label,
            ready=True,
            vision=bool(each.vision) if known is None else known.vision,
            context_window=each.context_window if known is None else known.context_window,
        )

"""Whether a model could be called, as far as that is known without a call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import ModuleType

from ..protocol.requests import ModelInfo
from . import loader
from .catalogue import installed_providers, local_info, provider_of, readiness
from .local.added_models import PREFIX, added_models
from .provider_arguments import OTHER_PREFIXES
from .types import ModelError, Readiness


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

"""From a ``ModelRequest`` to the arguments of ``litellm.aresponses``, and which API it will use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..protocol.sharing import PRIVATE_NOTE
from .catalogue import Provider, api_key, provider_of
from .types import Item, ModelRequest

CONNECT_TIMEOUT = 20.0
"""Seconds to reach the server; how long it may then be silent is the caller's to say."""

NO_KEY = "none"
"""Sent to a server of one's own where no key is set: most need none, but litellm insists."""

_OPENAI_HOST = "https://api.openai.com"
_OWN_BASE = {"openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE")}


@dataclass(frozen=True)
class Route:
    """Where a request goes: the name for litellm, its provider if it is a known one, the base URL
    (``None``: the provider's own), and whether it speaks Responses rather than chat completions."""

    model: str
    provider: Provider | None
    api_base: str | None
    responses: bool


def route(request: ModelRequest, environ: Mapping[str, str] = os.environ) -> Route:
    """Decide where ``request`` goes.

    ``auto`` is the Responses API for the providers known to serve it, at their own address: servers
    that merely imitate OpenAI's API seldom have it, and all have chat completions."""
    provider = provider_of(request.model)
    api_base = request.api_base or _base_from_environment(provider, environ)
    model = request.model
    if api_base and provider is None and not request.model.startswith("openai/"):
        model = _for_own_server(model)
        provider = provider_of(model)
    serves = provider is not None and provider.responses
    foreign = api_base is not None and not api_base.startswith(_OPENAI_HOST)
    own = serves and not (foreign and provider is not None and provider.prefix == "openai")
    responses = request.model_api == "responses" or (request.model_api == "auto" and own)
    return Route(model, provider, api_base, responses)


def _base_from_environment(provider: Provider | None, environ: Mapping[str, str]) -> str | None:
    names = _OWN_BASE.get(provider.prefix, ()) if provider else ()
    return next((environ[name] for name in names if environ.get(name)), None)


# Prefixes of litellm that are not in the catalogue and are sometimes used with a base URL.
OTHER_PREFIXES = frozenset(
    [
        "hosted_vllm",
        "vllm",
        "lm_studio",
        "llamafile",
        "custom_openai",
        "text-completion-openai",
        "litellm_proxy",
        "huggingface",
        "together_ai",
        "fireworks_ai",
        "nvidia_nim",
        "vertex_ai",
        "cohere",
        "cohere_chat",
        "perplexity",
        "databricks",
        "watsonx",
        "moonshot",
        "cerebras",
        "sambanova",
        "azure_ai",
        "github",
        "github_copilot",
        "novita",
        "hyperbolic",
        "baseten",
        "replicate",
        "sagemaker",
        "sagemaker_chat",
        "deepinfra",
        "dashscope",
        "volcengine",
        "nebius",
        "xinference",
        "oobabooga",
        "docker_model_runner",
    ]
)


def _for_own_server(model: str) -> str:
    """A name such as ``Qwen/Qwen3-8B`` on a server of one's own speaks OpenAI's API."""
    prefix, slash, _ = model.partition("/")
    return model if slash and prefix in OTHER_PREFIXES else f"openai/{model}"


def call_arguments(
    request: ModelRequest,
    where: Route,
    *,
    idle_timeout: float,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Keyword arguments of ``litellm.aresponses``. What the request leaves open is not sent."""
    import httpx  # here, since it takes 50 ms: litellm has imported it by now

    arguments: dict[str, Any] = {
        "model": where.model,
        "input": input_items(request.input, where.responses),
        "instructions": request.instructions or None,
        "tools": [dict(tool) for tool in request.tools] or None,
        "tool_choice": request.tool_choice if request.tools else None,
        "parallel_tool_calls": request.parallel_tool_calls if request.tools else None,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_output_tokens,
        "text": text_format(request.output_schema),
        "reasoning": {"effort": request.reasoning_effort} if request.reasoning_effort else None,
        "api_base": where.api_base,
        "api_key": _key(where, environ),
    }
    arguments = {name: value for name, value in arguments.items() if value is not None}
    arguments.update(
        stream=request.stream,
        store=False,
        # Attempts are the turn loop's. What a model does not take (temperature, say) is left out
        # instead of refused.
        max_retries=0,
        num_retries=0,
        drop_params=True,
        # The caller watches for silence itself, and knows more to say of it.
        timeout=httpx.Timeout(idle_timeout + 10, connect=CONNECT_TIMEOUT),
    )
    if not where.responses:
        arguments["use_chat_completions_api"] = True
    return arguments


def text_format(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """``text`` of the Responses API for an answer in JSON; the bridge to chat completions makes
    ``response_format`` of it."""
    if schema is None:
        return None
    return {"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": False}}


def _key(where: Route, environ: Mapping[str, str]) -> str | None:
    """The key, passed explicitly since litellm would send one with white space around it as it is,
    which fails as a connection error. ``None`` leaves it to litellm (Bedrock, and unknown ones)."""
    if where.provider is None or where.provider.prefix == "bedrock":
        return None
    if not where.provider.keys:
        return None
    return api_key(where.provider, environ) or (NO_KEY if where.api_base else None)


def input_items(items: Iterable[Item], responses: bool) -> list[Item]:
    """Items as they can be sent with ``store: false``.

    The server has kept none of them, so an id refers to nothing and is left out, and a reasoning
    item is only of use with its encrypted content, which the Responses API takes back."""
    sent = []
    for item in items:
        reasoning = item.get("type") == "reasoning"
        if reasoning and responses and not item.get("encrypted_content"):
            continue
        left_out = {"status", PRIVATE_NOTE} | (set() if reasoning and responses else {"id"})
        kept = {name: value for name, value in item.items() if name not in left_out}
        sent.append(kept if responses else _plain_message(kept))
    return sent


def _plain_message(item: Item) -> Item:
    """A message of text alone with its text as a string: servers that imitate OpenAI's chat API do
    not all take a list of parts, least of all from the assistant."""
    parts = item.get("content")
    if item.get("type", "message") != "message" or not isinstance(parts, list):
        return item
    if not all(part.get("type") in ("output_text", "input_text", "text") for part in parts):
        return item
    return {**item, "content": "".join(part["text"] for part in parts)}


def takes_reasoning(litellm: ModuleType, model: str) -> bool:
    """Whether litellm knows ``model`` as one that reasons."""
    return bool(litellm.supports_reasoning(model=model))


def register(litellm: ModuleType, where: Route) -> None:
    """Tell litellm that a model which is not in its price list streams.

    Else it asks the server for the whole answer and replays it in small pieces."""
    prefix, _, name = where.model.rpartition("/")
    if where.model in litellm.model_cost or name in litellm.model_cost:
        return
    provider = where.provider.prefix if where.provider else prefix.partition("/")[0]
    entry = {"litellm_provider": provider, "mode": "chat", "supports_native_streaming": True}
    litellm.register_model({where.model: entry})

"""From a ``ModelRequest`` to the arguments of ``litellm.aresponses`` or ``litellm.acompletion``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from ..protocol.tools import PRIVATE_NOTE
from .catalogue import Provider, api_key, provider_of
from .chat_messages import (
    Message,
    chat_messages,
    chat_tool_choice,
    chat_tools,
    input_items,
    system_message,
)
from .types import Item, ModelRequest, is_thought

# Marks for prompt caches that keep only what a request marks: Anthropic's ``cache_control``.
#
# Other providers cache by themselves, and some refuse the marks. Tools come before the system
# prompt in what is cached, so that its mark covers them; the mark on the last message covers the
# conversation, of which the next request finds the longest part that was marked before.
# https://docs.claude.com/en/docs/build-with-claude/prompt-caching


MARK = {"type": "ephemeral"}
_PROVIDERS = ("anthropic", "bedrock", "openrouter", "vertex_ai")


def takes_cache_marks(model: str) -> bool:
    """Whether requests to this model of litellm may have marks: Claude, at Anthropic or at one of
    those that pass the marks on."""
    provider, slash, name = model.partition("/")
    if not slash:
        return model.startswith("claude-")
    return provider in _PROVIDERS and "claude" in name


def marked(messages: list[Message]) -> list[Message]:
    """The messages of chat completions with marks; they themselves stay as they are."""
    if not messages:
        return messages
    last = len(messages) - 1
    is_marked = {0, last} if messages[0]["role"] == "system" else {last}
    return [_mark(each) if at in is_marked else each for at, each in enumerate(messages)]


def _mark(message: Message) -> Message:
    content = message.get("content")
    if message["role"] == "tool":
        return {**message, "cache_control": MARK}
    if isinstance(content, str) and content:
        return {**message, "content": [{"type": "text", "text": content, "cache_control": MARK}]}
    if isinstance(content, list) and content:
        *before, last = content
        return {**message, "content": [*before, {**last, "cache_control": MARK}]}
    return message


CONNECT_TIMEOUT = 20.0
"""Seconds to reach the server; how long it may then be silent is up to the caller."""

NO_KEY = "none"
"""Sent to a user's own server without a key: most need none, but litellm requires one."""

_IN_THE_BODY = {"role": "user", "content": "The messages are in extra_body."}
"""Passed to litellm instead of the conversation, since it requires a message."""

_OPENAI_HOST = "https://api.openai.com"
_OWN_BASE = {"openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE")}


@dataclass(frozen=True)
class ModelRoute:
    """Where a request goes: the name for litellm, its provider if it is a known one, the base URL
    (``None``: the provider's own), and whether it speaks Responses rather than chat completions."""

    model: str
    provider: Provider | None
    api_base: str | None
    responses: bool

    @property
    def openai(self) -> bool:
        """Whether litellm treats it like OpenAI, and leaves messages unchanged."""
        return self.model.startswith("openai/") or (
            self.provider is not None and self.provider.prefix == "openai"
        )

    @property
    def foreign(self) -> bool:
        """Whether it is a server at another address than OpenAI's."""
        return self.api_base is not None and not self.api_base.startswith(_OPENAI_HOST)


def route(request: ModelRequest, environ: Mapping[str, str] = os.environ) -> ModelRoute:
    """Decide where ``request`` goes.

    ``auto`` is the Responses API for the providers known to serve it, at their own address: servers
    that merely imitate OpenAI's API seldom have it, and all have chat completions."""
    provider = provider_of(request.model)
    # A line end that was copied along would make it another address.
    api_base = (request.api_base or "").strip() or _base_from_environment(provider, environ)
    model = request.model
    if api_base and provider is None and not request.model.startswith("openai/"):
        model = _for_own_server(model)
        provider = provider_of(model)
    serves = provider is not None and provider.responses
    where = ModelRoute(model, provider, api_base, responses=request.model_api == "responses")
    own = serves and not (where.openai and where.foreign)
    return replace(where, responses=own) if request.model_api == "auto" else where


def _base_from_environment(provider: Provider | None, environ: Mapping[str, str]) -> str | None:
    names = _OWN_BASE.get(provider.prefix, ()) if provider else ()
    return next((environ[name].strip() for name in names if environ.get(name, "").strip()), None)


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
    """A name such as ``Qwen/Qwen3-8B`` on a user's own server uses OpenAI's API."""
    prefix, slash, _ = model.partition("/")
    return model if slash and prefix in OTHER_PREFIXES else f"openai/{model}"


def call_arguments(
    request: ModelRequest,
    where: ModelRoute,
    *,
    idle_timeout: float,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Keyword arguments of ``litellm.aresponses``, or of ``litellm.acompletion`` where the route is
    over chat completions. What the request leaves open is not sent."""
    import httpx  # here, since it takes 50 ms: litellm has imported it by now

    parallel = request.parallel_tool_calls is not False
    arguments: dict[str, Any] = {
        "model": where.model,
        # Parallel calls are what every API does by itself, and strict servers refuse the word.
        "parallel_tool_calls": False if request.tools and not parallel else None,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "api_base": where.api_base,
        "api_key": request.api_key or _key(where, environ),
        "num_ctx": request.num_ctx,
        **(_of_responses(request, where) if where.responses else _of_chat(request, where)),
    }
    arguments = {name: value for name, value in arguments.items() if value is not None}
    arguments.update(
        stream=request.stream,
        # Attempts are the turn loop's. What a model does not take (temperature, say) is left out
        # instead of refused.
        max_retries=0,
        num_retries=0,
        drop_params=True,
        # The caller watches for silence itself, and can report more about it.
        timeout=httpx.Timeout(idle_timeout + 10, connect=CONNECT_TIMEOUT),
    )
    return arguments


def _of_responses(request: ModelRequest, where: ModelRoute) -> dict[str, Any]:
    # Servers that imitate it may not count tokens; litellm then does, what it was given.
    is_own = where.openai and not where.foreign
    known = request.mapper if is_own else None
    arguments: dict[str, Any] = {
        "input": input_items(request.input) if known is None else known.responses(request.input),
        "instructions": request.instructions or None,
        "tools": [dict(tool) for tool in request.tools] or None,
        "tool_choice": request.tool_choice if request.tools else None,
        "max_output_tokens": request.max_output_tokens,
        "text": text_format(request.output_schema),
        "reasoning": {"effort": request.reasoning_effort} if request.reasoning_effort else None,
        "store": False,
    }
    return _in_the_body(arguments, "input") if is_own else arguments


def _of_chat(request: ModelRequest, where: ModelRoute) -> dict[str, Any]:
    thinking = not where.openai or where.foreign
    tools = chat_tools(request.tools) or None
    schema = request.output_schema
    known = request.mapper if where.openai else None
    if known is None:
        messages = chat_messages(request.instructions, request.input, thinking=thinking)
        if not where.openai:
            messages = [_without_empty_text(message) for message in messages]
        if takes_cache_marks(where.model):
            messages = marked(messages)
    else:
        items = known.chat(request.input, thinking=thinking)
        messages = [*system_message(request.instructions), *items]
    arguments: dict[str, Any] = {
        "messages": messages,
        "tools": tools,
        "tool_choice": chat_tool_choice(request.tool_choice) if tools else None,
        "max_tokens": request.max_output_tokens,
        "response_format": None if schema is None else response_format(schema),
        "reasoning_effort": request.reasoning_effort,
        "stream_options": {"include_usage": True} if request.stream else None,
    }
    return _in_the_body(arguments, "messages") if where.openai else arguments


def _without_empty_text(message: Message) -> Message:
    """An answer that is only a call: litellm makes an empty part of an empty text for Gemini."""
    is_call = message["role"] == "assistant" and not message["content"]
    return {**message, "content": None} if is_call else message


def _in_the_body(arguments: dict[str, Any], conversation: str) -> dict[str, Any]:
    """What grows with the conversation moved to ``extra_body``, which is sent as it is.

    Else openai's client and litellm look through every message of it in each call: over chat
    completions 0.2 ms for a tool call and its answer, 67 ms for a chat with 300 of them."""
    body = {name: arguments.pop(name) for name in (conversation, "tools", "tool_choice")}
    arguments[conversation] = [_IN_THE_BODY]
    arguments["extra_body"] = {name: value for name, value in body.items() if value is not None}
    return arguments


def text_format(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """``text`` of the Responses API for an answer in JSON."""
    if schema is None:
        return None
    return {"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": False}}


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """``response_format`` of chat completions for an answer in JSON."""
    answer = {"name": "answer", "schema": schema, "strict": False}
    return {"type": "json_schema", "json_schema": answer}


def _key(where: ModelRoute, environ: Mapping[str, str]) -> str | None:
    """The key, passed explicitly since litellm would send one with white space around it as it is,
    which fails as a connection error. ``None`` leaves it to litellm (Bedrock, and unknown ones)."""
    if where.provider is None or where.provider.prefix == "bedrock":
        return None
    if not where.provider.keys:
        return None
    if where.provider.prefix == "azure" and not environ.get(where.provider.keys[0], "").strip():
        # A token is no key. litellm reads it from the environment by itself.
        return NO_KEY if where.api_base and not api_key(where.provider, environ) else None
    return api_key(where.provider, environ) or (NO_KEY if where.api_base else None)


def sized_items(request: ModelRequest) -> list[Item]:
    """What is sent of the request's items, for its size: chat completions leave out at least what
    the Responses API does not take, and reasoning goes along where it was shown."""
    if route(request).responses:
        return input_items(request.input)
    left_out = {"id", "status", PRIVATE_NOTE}
    return [
        {name: value for name, value in item.items() if name not in left_out}
        for item in request.input
        if not is_thought(item)
    ]


def may_write_calls(request: ModelRequest, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the model may write a tool call as text although tools were sent.

    The catalogue's providers with a key make calls of their models' answers themselves."""
    if not request.tools or request.tool_choice == "none":
        return False
    where = route(request, environ)
    hosted = where.provider is not None and bool(where.provider.keys)
    return not hosted or (where.openai and where.foreign)


def takes_reasoning(litellm: ModuleType, model: str) -> bool:
    """Whether litellm knows ``model`` as one that reasons."""
    return bool(litellm.supports_reasoning(model=model))


def serves_responses(litellm: Any, where: ModelRoute) -> bool:
    """Whether litellm can reach a Responses API there; else it would make one up of chat
    completions, which reports less about an answer and costs more."""
    from litellm.types.utils import LlmProviders
    from litellm.utils import ProviderConfigManager

    model, provider, *_ = litellm.get_llm_provider(where.model, api_base=where.api_base)
    config = ProviderConfigManager.get_provider_responses_api_config(
        provider=LlmProviders(provider), model=model
    )
    return config is not None


def register(litellm: ModuleType, where: ModelRoute) -> None:
    """Tell litellm that a model which is not in its price list streams.

    Else it asks the server for the whole answer and replays it in small chunks."""
    prefix, _, name = where.model.rpartition("/")
    if where.model in litellm.model_cost or name in litellm.model_cost:
        return
    provider = where.provider.prefix if where.provider else prefix.partition("/")[0]
    entry = {"litellm_provider": provider, "mode": "chat", "supports_native_streaming": True}
    litellm.register_model({where.model: entry})

"""A first call without a network, in the thread that imports litellm.

The first call builds schemas of litellm's and openai's classes and imports what was not needed
before: a quarter of a second, which would else stop the event loop of the server.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import Any

from .provider_arguments import ModelRoute, call_arguments
from .types import ModelRequest

BASE = "http://warm-up.invalid"

_TOOL = {
    "type": "function",
    "name": "warm",
    "description": "",
    "parameters": {"type": "object", "properties": {"up": {"type": "string"}}},
}
_REQUEST = ModelRequest(
    model="openai/warm-up",
    instructions="Say hello.",
    input=[{"role": "user", "content": "Hello."}],
    tools=[_TOOL],
    api_base=BASE,
)
_ROUTE = ModelRoute(_REQUEST.model, None, BASE, responses=False)


def warm_up(litellm: Any) -> None:
    """Make the call in a separate event loop, and look a price up. No connection is opened."""
    asyncio.run(_call(litellm))
    # For a model with a price, litellm asks every provider's class before it returns the stream.
    litellm.get_model_info("gpt-4")


def warm_up_rest(litellm: Any) -> None:
    """What the first count of tokens and the first answer of the Responses API would build."""
    litellm.token_counter(model="gpt-4", text="warm")
    # The one class of the Responses API that takes long: it is a whole answer.
    importlib.import_module("litellm.types.llms.openai").ResponseCompletedEvent.model_rebuild()


async def _call(litellm: Any) -> None:
    httpx = importlib.import_module("httpx")
    openai = importlib.import_module("openai")

    def answer(request: Any) -> Any:
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, content=_answer(), headers=headers)

    transport = httpx.MockTransport(answer)
    arguments = call_arguments(_REQUEST, _ROUTE, idle_timeout=10, environ={})
    async with openai.AsyncOpenAI(
        api_key="none", base_url=BASE, http_client=httpx.AsyncClient(transport=transport)
    ) as client:
        stream = await litellm.acompletion(**{**arguments, "api_key": "none"}, client=client)
        async for _ in stream:
            pass
    # litellm's bookkeeping of the call must not be left to a loop that is closed.
    worker = importlib.import_module("litellm.litellm_core_utils.logging_worker")
    await worker.GLOBAL_LOGGING_WORKER.flush()
    await worker.GLOBAL_LOGGING_WORKER.stop()


def _answer() -> bytes:
    """The chunks of a chat completion: some text, a call, the end."""
    call = {"index": 0, "id": "c", "function": {"name": "warm", "arguments": "{}"}}
    deltas: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": "Hello."}, None),
        ({"tool_calls": [call]}, None),
        ({}, "tool_calls"),
    ]
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in deltas
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    chunks.append({"choices": [], "usage": usage})
    head = {"id": "warm", "object": "chat.completion.chunk", "created": 0, "model": "warm-up"}
    lines = [json.dumps({**head, **chunk}) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()

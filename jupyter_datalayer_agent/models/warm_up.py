"""A first call without a network, in the thread that imports litellm.

The first call builds schemas of litellm's and openai's classes, imports what was not needed before
and reads a tokenizer: half a second, which would else stop the event loop of the server.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import Any

BASE = "http://warm-up.invalid"

_TOOL = {
    "type": "function",
    "name": "warm",
    "description": "",
    "parameters": {"type": "object", "properties": {"up": {"type": "string"}}},
}


def warm_up(litellm: Any) -> None:
    """Make the call in an event loop of its own. No connection is opened."""
    litellm.token_counter(model="gpt-4", text="warm")
    asyncio.run(_call(litellm))


async def _call(litellm: Any) -> None:
    httpx = importlib.import_module("httpx")
    openai = importlib.import_module("openai")

    def answer(request: Any) -> Any:
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, content=_answer(), headers=headers)

    transport = httpx.MockTransport(answer)
    async with openai.AsyncOpenAI(
        api_key="none", base_url=BASE, http_client=httpx.AsyncClient(transport=transport)
    ) as client:
        stream = await litellm.aresponses(
            model="openai/warm-up",
            input=[{"role": "user", "content": "Hello."}],
            instructions="Say hello.",
            tools=[_TOOL],
            stream=True,
            store=False,
            max_retries=0,
            use_chat_completions_api=True,
            api_base=BASE,
            api_key="none",
            client=client,
        )
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

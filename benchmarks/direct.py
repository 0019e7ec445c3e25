"""What litellm needs by itself, against the same scripted model server.

In a process of its own, as the server is in one: beside the scripted model's thread it would wait
for Python's lock, and so look slower than it is.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from typing import Any

from tests.support.model_script import Step
from tests.support.model_server import ScriptedModelServer

WARM_UP = 3


@dataclass(frozen=True)
class DirectTimes:
    """In seconds: to the first piece of the answer, and to its end."""

    first: float
    whole: float


def replay(
    model: ScriptedModelServer,
    bodies: Sequence[dict[str, Any]],
    steps: Sequence[Step],
    *,
    plain: bool = False,
) -> list[DirectTimes]:
    """Send recorded chat requests again, each answered by its step, by litellm alone.

    The same messages and tools: much of litellm's time goes by the size of a request. By its
    Responses API over chat completions, which is what the extension calls; with ``plain`` by
    ``acompletion``.
    """
    model.script(*[steps[0]] * WARM_UP, *steps)
    return _process().submit(_replay, model.base_url, list(bodies), plain).result()


@cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def _replay(base_url: str, bodies: list[dict[str, Any]], plain: bool) -> list[DirectTimes]:
    """In the other process."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    common = {"model": "openai/scripted", "api_base": base_url, "api_key": "sk-test"}

    async def open_stream(body: dict[str, Any]) -> Any:
        if plain:
            return await litellm.acompletion(**{**body, **common}, max_retries=0)
        return await litellm.aresponses(
            **common,
            **as_responses(body),
            stream=True,
            max_retries=0,
            use_chat_completions_api=True,
        )

    async def once(body: dict[str, Any]) -> DirectTimes:
        began = time.perf_counter()
        first = 0.0
        async for part in await open_stream(body):
            if not first and _has_content(part):
                first = time.perf_counter() - began
        return DirectTimes(first, time.perf_counter() - began)

    async def all_of_them() -> list[DirectTimes]:
        for _ in range(WARM_UP):
            await once(bodies[0])
        return [await once(body) for body in bodies]

    return asyncio.run(all_of_them())


def as_responses(body: dict[str, Any]) -> dict[str, Any]:
    """A chat request's messages and tools in the form of the Responses API."""
    system, *messages = body["messages"]
    items: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            items.append(
                {
                    "type": "function_call_output",
                    "call_id": message["tool_call_id"],
                    "output": message["content"],
                }
            )
        if message["role"] in ("user", "assistant") and message["content"]:
            items.append({"role": message["role"], "content": message["content"]})
        for call in message.get("tool_calls") or []:
            items.append({"type": "function_call", "call_id": call["id"], **call["function"]})
    tools = [{"type": "function", **tool["function"]} for tool in body["tools"]]
    return {"instructions": system["content"], "input": items, "tools": tools}


def _has_content(part: Any) -> bool:
    choices = getattr(part, "choices", None)
    if choices is None:
        kind = getattr(part, "type", "")
        return str(getattr(kind, "value", kind)).endswith(".delta")
    delta = choices[0].delta if choices else None
    return bool(delta is not None and (delta.content or delta.tool_calls))

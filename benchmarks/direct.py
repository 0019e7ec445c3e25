"""What litellm needs by itself, in this process, against the same scripted model server."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.model_script import Step
from tests.support.model_server import ScriptedModelServer


@dataclass(frozen=True)
class DirectTimes:
    """In seconds: to the first piece of the answer, and to its end."""

    first: float
    whole: float


def replay(
    model: ScriptedModelServer, bodies: Sequence[dict[str, Any]], steps: Sequence[Step]
) -> list[DirectTimes]:
    """Send recorded chat requests again, each answered by its step, by ``litellm.acompletion``.

    The same messages and tools: much of litellm's time goes by the size of a request.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    async def once(body: dict[str, Any], step: Step) -> DirectTimes:
        model.script(step)
        began = time.perf_counter()
        first = 0.0
        response: Any = await litellm.acompletion(
            **{**body, "model": "openai/scripted"},
            api_base=model.base_url,
            api_key="sk-test",
            max_retries=0,
        )
        async for chunk in response:
            delta = chunk.choices[0].delta if chunk.choices else None
            if not first and delta is not None and (delta.content or delta.tool_calls):
                first = time.perf_counter() - began
        return DirectTimes(first, time.perf_counter() - began)

    async def all_of_them() -> list[DirectTimes]:
        for _ in range(3):
            await once(bodies[0], steps[0])
        return [await once(body, step) for body, step in zip(bodies, steps, strict=True)]

    return asyncio.run(all_of_them())

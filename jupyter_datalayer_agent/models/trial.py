"""One small request to a model, to see whether it answers."""

from __future__ import annotations

import contextlib

import anyio

from .connections.registry import ConnectedCall
from .litellm_model import LitellmModel
from .types import ModelError, ModelRequest, ReasoningChunk, TextChunk

SECONDS = 90.0
"""A local model is loaded first, which may take a minute."""
MAX_TOKENS = 64
"""Of the answer; less than 16 some providers refuse."""


def trial_request(model: str) -> ModelRequest:
    """The request: a few tokens, no tools."""
    return ModelRequest(
        model=model,
        instructions="",
        input=[{"role": "user", "content": "Reply with the word ready."}],
        max_output_tokens=MAX_TOKENS,
    )


async def try_model(model: LitellmModel, call: ConnectedCall) -> None:
    """Raises ``ModelError`` unless the model answers. How its answer ends does not matter: some
    servers end it without a word."""
    answers = False
    try:
        with anyio.fail_after(SECONDS):
            async with contextlib.aclosing(model.stream_call(call)) as events:
                async for event in events:
                    answers = answers or isinstance(event, (TextChunk, ReasoningChunk))
    except TimeoutError as error:
        raise ModelError(
            "connection", f"The model did not answer within {SECONDS:g} seconds."
        ) from error
    except ModelError as error:
        if not (answers and error.code == "broken_stream"):
            raise

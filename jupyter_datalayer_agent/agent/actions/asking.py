"""Requests about a message that are no part of the conversation: JSON by a schema, or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ...models.prices import cheapest, learn_prices
from ...models.types import Model, ModelError, ModelRequest
from ...protocol.requests import Usage
from ...settings.turn_settings import Settings
from ..context.system_prompt import prompt_text
from ..history.history import user_item
from ..model_calls.complete import ask_once
from .filler import Ask, json_in

log = logging.getLogger(__name__)

MAX_TOKENS = 1_000


def cheap_asker(
    model: Model, name: str, settings: Settings, count: Callable[[Usage, str], None]
) -> Ask:
    """Asks the cheapest of the turn's model ``name`` and those of ``mode_models``. Which one that
    is is known once litellm is loaded, which the first message of a server waits for."""
    asks: Ask | None = None

    async def ask(prompt: str, text: str, schema: dict[str, Any]) -> Any:
        nonlocal asks
        if asks is None:
            names = [name, *settings.mode_models.values()]
            if len(names) > 1:
                try:
                    await learn_prices()
                except ModelError as error:
                    log.warning("A request about a message failed: %s", error.message)
                    return None
            cheap = cheapest(names)
            asks = asker(model, cheap, settings, lambda usage: count(usage, cheap))
        return await asks(prompt, text, schema)

    return ask


def asker(model: Model, name: str, settings: Settings, on_usage: Callable[[Usage], None]) -> Ask:
    """Asks the model ``name``. What each request used is given to ``on_usage``, however it ended. A
    server that takes no schema is asked without one: the prompt describes it, too."""
    takes_schema = True

    async def ask(prompt: str, text: str, schema: dict[str, Any]) -> Any:
        nonlocal takes_schema
        request = ModelRequest(
            model=name,
            instructions=prompt_text(prompt),
            input=[user_item(text)],
            temperature=settings.temperature,
            max_output_tokens=MAX_TOKENS,
            output_schema=schema if takes_schema else None,
            stream=settings.streaming,
            api_base=settings.api_base,
            model_api=settings.model_api,
        )
        spent: list[Usage] = []
        try:
            return json_in((await ask_once(model, request, spent)).text)
        except ModelError as error:
            if error.code == "bad_request" and takes_schema:
                takes_schema = False
                return await ask(prompt, text, schema)
            log.warning("A request about a message failed: %s", error.message)
            return None
        finally:
            for usage in spent:
                on_usage(usage)

    return ask

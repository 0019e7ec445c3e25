"""A model's window and prices, from litellm's price list and our catalogue.

The list is read where a call has loaded litellm, or is about to.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import Any

from ..protocol.requests import Usage
from . import loader
from .catalogue import connected_model, find_model
from .local.added_models import PREFIX

# litellm's price list, which is read where litellm is loaded anyway.


def price_entry(model: str) -> dict[str, Any] | None:
    """The price list's entry of ``provider/name``, or of the bare name, which is the maker's. A
    model on this computer has none, whatever its user called it."""
    if not loader.is_loaded() or model.startswith(PREFIX):
        return None
    prices: dict[str, dict[str, Any]] = sys.modules["litellm"].model_cost
    for name in (model, model.partition("/")[2]):
        entry = prices.get(name)
        # An entry that was registered for streaming only has no prices.
        if entry is not None and ("input_cost_per_token" in entry or "max_input_tokens" in entry):
            return entry
    return None


log = logging.getLogger(__name__)

ASSUMED_WINDOW = 128_000
"""The context window of a model that neither its server, nor litellm, nor the catalogue know."""


def context_window(model: str) -> int | None:
    """How many tokens ``model`` reads, as the server that has it, litellm, or else the catalogue
    says; None: unknown."""
    connected = connected_model(model)
    if connected is not None:
        return connected.context_window
    entry = price_entry(model)
    listed = (entry.get("max_input_tokens") or entry.get("max_tokens")) if entry else None
    if isinstance(listed, (int, float)) and listed > 0:
        return int(listed)
    known = find_model(model)
    return None if known is None else known.context_window


async def learn_window(model: str) -> None:
    """Wait for litellm's list where nothing else knows the window of ``model``: for a call that is
    about to be made, and would load it. Raises ``ModelError`` ``litellm_unusable``."""
    if find_model(model) is None:
        await loader.litellm()


def cost_of(model: str, usage: Usage, cache_written: int = 0) -> float | None:
    """US dollars of a call, by litellm's price list; None where it has no price of ``model``.
    ``cache_written`` of the input tokens were put into the prompt cache, which may cost more."""
    entry = price_entry(model)
    if entry is None or entry.get("input_cost_per_token") is None:
        return None
    try:
        paid = sys.modules["litellm"].cost_per_token(
            model=model,
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.output_tokens,
            cache_read_input_tokens=usage.cached_tokens,
            cache_creation_input_tokens=cache_written,
        )
    except Exception:  # litellm raises plain exceptions for names that it cannot place
        log.debug("No price of %s", model, exc_info=True)
        return None
    return float(sum(paid))


async def learn_prices() -> None:
    """Wait for litellm's list: for a call that is about to be made, and would load it. Raises
    ``ModelError`` ``litellm_unusable``."""
    await loader.litellm()


def cheapest(models: Iterable[str]) -> str:
    """The model of which a short request costs least; the first one where prices are not known."""
    first, *others = models
    best, least = first, _price(first)
    for each in others:
        price = _price(each)
        if price is not None and least is not None and price < least:
            best, least = each, price
    return best


def _price(model: str) -> float | None:
    return cost_of(model, Usage(input_tokens=1_000, output_tokens=100))

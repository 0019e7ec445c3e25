"""litellm's price list, which is read where litellm is loaded anyway."""

from __future__ import annotations

import sys
from typing import Any

from . import loader
from .local.added_models import PREFIX


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

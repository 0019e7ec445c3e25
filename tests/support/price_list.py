"""litellm's price list as it ships: a model that was called is added to the one in memory."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = "model_prices_and_context_window_backup.json"


def shipped_price_list(litellm: ModuleType) -> dict[str, dict[str, Any]]:
    """What litellm knows of each model by itself."""
    text = Path(str(litellm.__file__)).with_name(FILE).read_text(encoding="utf-8")
    return dict(json.loads(text))

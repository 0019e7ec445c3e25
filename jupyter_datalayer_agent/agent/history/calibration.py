"""How much of a conversation a model reads, in our own estimated tokens."""

from __future__ import annotations

from ...models.prices import ASSUMED_WINDOW, context_window
from ...protocol.requests import Usage
from ...settings.turn_settings import Settings

FULL = 0.9
"""The share of its window at which a conversation is compacted."""
MOST_WEIGHT = 3.0


class TokenCalibration:
    """What a session learned about its models: how they count tokens, and what they refused."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._refused: dict[str, int] = {}

    def window(self, settings: Settings, model: str) -> int:
        """The model's window in estimated tokens."""
        window = settings.context_window or context_window(model) or ASSUMED_WINDOW
        estimated = int(window / self._weights.get(model, 1.0))
        return min(estimated, self._refused.get(model, estimated))

    def full(self, settings: Settings, model: str) -> int:
        """The size of a request, in estimated tokens, above which it is compacted."""
        return int(self.window(settings, model) * FULL)

    def refused_below(self, model: str, size: int) -> bool:
        """Whether the provider refused a request of less than this, in estimated tokens."""
        return self._refused.get(model, size) < size

    def learn(self, model: str, estimated: int, usage: Usage) -> None:
        """Record the provider's count for a request of ``estimated`` tokens. Only a higher count
        changes anything: with a lower one there is more room than estimated."""
        if usage.estimated or estimated <= 0:
            return
        weight = usage.input_tokens / estimated
        self._weights[model] = min(MOST_WEIGHT, max(1.0, weight))

    def refused(self, model: str, estimated: int) -> None:
        """The provider refused a request of ``estimated`` tokens as too long."""
        self._refused[model] = min(estimated, self._refused.get(model, estimated))

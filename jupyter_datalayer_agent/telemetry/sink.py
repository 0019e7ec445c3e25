"""Takes every session's events and gives their signals to the reporters."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from ..protocol.events import BaseEvent
from .signals import Signal, Signals

log = logging.getLogger(__name__)

Reporter = Callable[[Signal], None]
"""Takes a signal; called in the event loop, so it must not block."""

MAX_COMPLAINTS = 5
"""How often the failure of one reporter is logged with its traceback."""


class Telemetry:
    """Takes every event of every session after it was written. Raises nothing.

    An event without signals (a piece of streamed text) costs one look-up.
    """

    def __init__(self, reporters: Sequence[Reporter]) -> None:
        self.signals = Signals()
        self._reporters = list(reporters)
        self._complaints: dict[object, int] = {}

    def __call__(self, session: str, event: BaseEvent) -> None:
        if not self.signals.concerns(event):
            return
        try:
            signals = list(self.signals.of(session, event))
        except Exception:
            # The boundary: telemetry must not fail a turn.
            if self._may_complain(self.signals):
                log.exception("Telemetry: an event could not be read")
            return
        for signal in signals:
            for reporter in self._reporters:
                try:
                    reporter(signal)
                except Exception:
                    # A boundary, too: one that fails does not stop the others.
                    if self._may_complain(reporter):
                        log.exception("Telemetry: %s failed", type(reporter).__name__)

    def _may_complain(self, who: object) -> bool:
        self._complaints[who] = self._complaints.get(who, 0) + 1
        return self._complaints[who] <= MAX_COMPLAINTS

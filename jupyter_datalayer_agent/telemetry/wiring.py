"""The signal reporters of this server, by its settings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from ..protocol.events import BaseEvent
from .jupyter_events import SignalLog
from .logs import Logs
from .signals import Signal, Signals
from .spans import Spans

# Takes every session's events and gives their signals to the reporters.


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


def telemetry(
    event_logger: Any,
    *,
    metrics: bool,
    log_content: bool,
    version: str,
    redact: Callable[[str], str],
    is_tool: Callable[[str], bool],
    is_model: Callable[[str], bool],
) -> Telemetry:
    """The sink of a server's events; ``event_logger`` is Jupyter Server's, or None.

    ``redact`` removes keys from a text; ``is_tool`` and ``is_model``: may a name be a label?
    """
    reporters: list[Reporter] = [Logs(content=log_content, redact=redact), Spans(version)]
    if event_logger is not None:
        reporters.append(SignalLog(event_logger, event_logger.schemas.__contains__))
    if metrics:
        from .metrics import Metrics

        reporters.append(Metrics(is_tool, is_model))
    return Telemetry(reporters)

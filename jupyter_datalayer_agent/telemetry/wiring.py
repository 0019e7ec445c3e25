"""The signal reporters of this server, by its settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .jupyter_events import SignalLog
from .logs import Logs
from .sink import Reporter, Telemetry
from .spans import Spans


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

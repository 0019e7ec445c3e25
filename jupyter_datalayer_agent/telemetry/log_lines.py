"""Log formats: text, or one JSON object a line. Imported at the server's start."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

PACKAGE = __package__.partition(".")[0]
TEXT = "%(color)s[%(levelname)1.1s %(asctime)s.%(msecs).03d %(name)s]%(end_color)s %(message)s"


class Line:
    """A log message: a name, and fields. As text: ``name key=value key=value``."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self.name = name
        self.fields = fields

    def __str__(self) -> str:
        pairs = (f"{key}={_plain(value)}" for key, value in self.fields.items())
        return " ".join([self.name, *pairs])


class JsonFormatter(logging.Formatter):
    """A line is an object: ``time`` (ISO 8601, UTC), ``level``, ``logger``, and ``message``, or of
    a ``Line`` its name as ``event`` and its fields; ``exception`` where there was one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        at = datetime.fromtimestamp(record.created, timezone.utc)
        entry: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        line = record.msg
        if isinstance(line, Line):
            entry |= {"event": line.name, **line.fields}
        else:
            entry["message"] = record.getMessage()
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def with_package(config: dict[str, Any], log_format: str) -> dict[str, Any]:
    """An application's logging configuration, in which the package's modules log as the
    application does, in ``log_format``: ``text``, ``json``, or a format of Python's logging."""
    formatter = config["formatters"]["console"]
    if log_format == "json":
        name = f"{JsonFormatter.__module__}.{JsonFormatter.__name__}"
        config["formatters"]["console"] = {"()": name}
    elif log_format == "text":
        formatter["format"] = TEXT
    config["loggers"][PACKAGE] = {
        "level": config["handlers"]["console"]["level"],
        "handlers": list(config["handlers"]),
    }
    return config


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or set(text) & set(' "=\n') else text

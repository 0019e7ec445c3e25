"""Completion after ``%agent``: options, their values, commands."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .failure import AgentMagicError
from .options import COMMANDS, FLAGS, FORMATS, MODES, VALUED
from .server import Server

SECONDS = 2.0
KEPT_SECONDS = 20.0


class Completer:
    """Completions at the cursor. Answers of the server are cached for a while."""

    def __init__(self, find: Callable[[], Server]) -> None:
        self._find = find
        self._kept: dict[str, tuple[float, list[str]]] = {}

    def __call__(self, shell: Any, event: Any) -> list[str]:
        """IPython's hook ``complete_command``."""
        before = event.text_until_cursor.split()
        if not event.text_until_cursor[-1:].isspace():
            before = before[:-1]
        option = before[-1][2:] if before and before[-1].startswith("--") else ""
        values = self._values(option)
        if values is not None:
            return [value for value in values if value.startswith(event.symbol)]
        candidates = [f"--{name}" for name in (*VALUED, *FLAGS)]
        if len(before) == 1:
            candidates += COMMANDS
        return [word for word in candidates if word.startswith(event.symbol)]

    def _values(self, option: str) -> list[str] | None:
        if option == "mode":
            return list(MODES)
        if option == "format":
            return list(FORMATS)
        if option == "model":
            return self._asked("models", lambda reply: [
                model["id"] for model in reply["models"] if model["ready"]
            ])  # fmt: skip
        if option == "session":
            return self._asked("sessions", lambda reply: [
                "new", *(_quoted(each["title"]) for each in reply["sessions"])
            ])  # fmt: skip
        return [] if option in ("out", "attach") else None

    def _asked(self, route: str, names: Callable[[Any], list[str]]) -> list[str]:
        at, kept = self._kept.get(route, (0.0, []))
        if not kept or time.monotonic() - at > KEPT_SECONDS:
            try:
                kept = names(self._find().get(route, seconds=SECONDS))
            except AgentMagicError:
                return kept
            self._kept[route] = (time.monotonic(), kept)
        return kept


def _quoted(title: str) -> str:
    return f'"{title}"' if " " in title else title

"""The names under which a model is sent the tools of MCP servers: ``server__tool``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

LONGEST = 64
"""Characters of a function's name, by OpenAI's API."""

_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_DIGITS = 6


def model_name(server: str, tool: str, is_taken: Callable[[str], bool]) -> str:
    """The name of a server's tool; one that is too long or taken ends with a hash of both."""
    name = f"{_plain(server)}__{_plain(tool)}"
    made = name
    tries = 0
    while len(made) > LONGEST or is_taken(made):
        digest = hashlib.sha256(f"{server}\0{tool}\0{tries}".encode()).hexdigest()[:_DIGITS]
        made = f"{name[: LONGEST - _DIGITS - 1]}_{digest}"
        tries += 1
    return made


def _plain(name: str) -> str:
    return _OTHER.sub("_", name).strip("_") or "_"

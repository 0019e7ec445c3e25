"""What is in a directory: bounded, directories first, by a pattern if wanted."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

from ..document import DocumentError
from .contents import FileContents

# So many directories are looked into at most.
_MOST_DIRECTORIES = 300
# So many entries are looked at before others have their turn.
_AT_ONCE = 20
# Folders that tools fill: they are listed, and only looked into where they are asked for.
_FILLED_BY_TOOLS = frozenset(["node_modules", "__pycache__", "site-packages"])


@dataclass
class Listing:
    """``entries`` are those that are shown; ``count`` is how many there are, at least if not
    ``is_whole``."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0
    is_whole: bool = True


async def listing(
    contents: FileContents,
    path: str,
    why_closed: Callable[[str], Awaitable[str | None]],
    *,
    pattern: str | None,
    depth: int,
    limit: int,
) -> Listing:
    """The entries of a directory and of those below it, ``depth`` levels.

    A pattern with a ``/`` is about paths, one without about names. An entry is ``{name, bytes?,
    modified?, closed?}``: its path below ``path``, directories ending in ``/``.
    """
    found = Listing()
    waiting = deque([(path, 1)])
    visited = 0
    while waiting:
        folder, level = waiting.popleft()
        if visited == _MOST_DIRECTORIES:
            found.is_whole = False
            break
        visited += 1
        try:
            models = await contents.listing(folder)
        except DocumentError:
            if folder == path:
                raise
            continue  # it vanished, or may not be read
        for number, model in enumerate(sorted(models, key=_directories_first)):
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)  # a directory may have any number of entries
            at = str(model["path"]).strip("/")
            name = at.removeprefix(f"{path}/") if path else at
            is_folder = model["type"] == "directory"
            opens = is_folder and level < depth and not _is_filled(model)
            fits = not pattern or fnmatch(name if "/" in pattern else str(model["name"]), pattern)
            found.count += fits
            is_shown = fits and len(found.entries) < limit
            closed = await why_closed(at) if opens or is_shown else None
            if opens and not closed:
                waiting.append((at, level + 1))
            if is_shown:
                found.entries.append(_entry(name, model, closed))
    return found


def _directories_first(model: dict[str, Any]) -> tuple[bool, str]:
    return model["type"] != "directory", str(model["name"]).lower()


def _is_filled(model: dict[str, Any]) -> bool:
    return model["name"] in _FILLED_BY_TOOLS


def _entry(name: str, model: dict[str, Any], closed: str | None) -> dict[str, Any]:
    if closed:
        return {"name": name, "closed": closed}
    if model["type"] == "directory":
        return {"name": f"{name}/"}
    entry: dict[str, Any] = {"name": name}
    if model.get("size") is not None:
        entry["bytes"] = model["size"]
    if (modified := model.get("last_modified")) is not None:
        entry["modified"] = modified.strftime("%Y-%m-%d %H:%M")
    return entry

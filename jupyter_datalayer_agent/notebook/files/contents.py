"""Bytes of files through the ContentsManager: read, saved and read back."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatch
from typing import Any

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ... import opening
from ..document import DocumentError
from ..locks import uncancelled
from ..renames import Renames, TrackedPath
from ..save_hooks import may_change_files, may_format
from .text_state import NotEncodable, NotText, TextState

MOST_BYTES = 20_000_000
"""Larger files are read with code."""


class FileContents:
    """Files of a ContentsManager, sync or async, of any storage; those on this machine, in
    ``root_dir``, are read from there. ``check_writable`` raises ``DocumentError`` where a file may
    not be written now; ``written`` is called with the path of each file that was written."""

    def __init__(
        self,
        contents_manager: Any,
        renames: Renames,
        written: Callable[[str], None],
        check_writable: Callable[[str], Awaitable[None]],
        root_dir: str | None = None,
    ) -> None:
        self._root = root_dir
        self.manager = contents_manager
        self._check_writable = check_writable
        self._renames = renames
        self._written = written

    async def exists(self, path: str) -> bool:
        """Whether there is a file or a directory."""
        try:
            return bool(
                await ensure_async(self.manager.file_exists(path))
                or await ensure_async(self.manager.dir_exists(path))
            )
        except HTTPError:
            return False

    async def size(self, path: str) -> int:
        """The file's size in bytes. Raises ``DocumentError`` where there is no file."""
        if await ensure_async(self.manager.dir_exists(path)):
            raise DocumentError(
                "invalid_arguments", f"{path or 'The root'} is a directory.", "List it instead."
            )
        # As the file that it is: a manager that serves it as a notebook may not be able to.
        model = await self._get(path, content=False, type="file")
        return int(model.get("size") or 0)

    async def read(self, path: str) -> bytes:
        """All bytes. Raises ``DocumentError``, with names that are near where there is no file."""
        async with self._renames.using(self._renames.track(path)) as path:
            return await self._read(path)

    async def _read(self, path: str) -> bytes:
        size = await self.size(path)
        if size > MOST_BYTES:
            raise DocumentError(
                "too_large",
                f"{path} has {size:,} bytes; at most {MOST_BYTES:,} are read.",
                "Read a part of it with code: open the file, and print some of its lines.",
            )
        if self._root is not None:
            return await asyncio.to_thread(self._read_file, self._root, path)
        try:
            model = await self._get(path, content=True, type="file", format="text")
            return str(model["content"]).encode("utf-8", "surrogatepass")
        except _NoText:
            model = await self._get(path, content=True, type="file", format="base64")
        try:
            return base64.b64decode(model["content"])
        except (binascii.Error, ValueError, TypeError) as error:
            raise DocumentError("internal", f"{path} cannot be read.") from error

    def _read_file(self, root: str, path: str) -> bytes:
        # Not by the manager: it opens a path that was checked before, and may have become a link.
        try:
            return opening.read(self.manager._get_os_path(path), MOST_BYTES, root)
        except opening.NotRead as error:
            raise DocumentError("not_allowed", f"{path} {error.strerror}.") from error
        except FileNotFoundError as error:
            raise DocumentError("not_found", f"There is no file {path}.") from error
        except OSError as error:
            raise DocumentError("internal", f"{path} cannot be read: {_why(error)}") from error

    async def replace(
        self, document: TrackedPath, before: bytes, state: TextState
    ) -> TextState | None:
        """Write the file and read it back, if it still holds these bytes; None if not. Returns the
        text as it was saved. Raises ``DocumentError``."""
        async with self._renames.using(document) as path:
            if await self._read(path) != before or document.path != path:
                return None
            return await self._save(path, state, before)

    async def save(self, path: str, state: TextState) -> TextState:
        """Write the file and read it back, as ``replace`` does. Raises ``DocumentError``."""
        async with self._renames.using(self._renames.track(path)) as path:
            return await self._save(path, state)

    async def formatted(self, path: str, state: TextState) -> TextState | None:
        """What a save hook made of a text that a page just saved; None where it is as it was."""
        if not may_format(self.manager):
            return None
        saved = _state_of(await self.read(path))
        return None if saved is None or saved.content == state.content else saved

    async def _save(self, path: str, state: TextState, before: bytes | None = None) -> TextState:
        data = encoded(path, state)
        model: dict[str, Any] = {"type": "file", "format": "text", "content": state.raw}
        if state.encoding != "utf-8":
            content = base64.b64encode(data).decode("ascii")
            model = {"type": "file", "format": "base64", "content": content}
        await self._check_writable(path)
        try:
            await uncancelled(ensure_async(self.manager.save(model, path)))
        except (HTTPError, OSError) as error:
            raise DocumentError("internal", f"{path} could not be saved: {_why(error)}") from error
        finally:
            self._written(path)
        found = await self._read(path)
        if found == data:
            return state
        # One hook changes the model that it is given, another the file that was written.
        is_formatted = found == _bytes_in(model) or may_change_files(self.manager)
        formatted = _state_of(found) if found != before and is_formatted else None
        if formatted is None:
            raise DocumentError(
                "internal",
                f"{path} was saved, but when it was read back it was not as it was written.",
                "A save hook or another program may have changed it. Read it again.",
            )
        return formatted

    async def listing(self, path: str) -> list[dict[str, Any]]:
        """The entries of a directory. Raises ``DocumentError``."""
        model = await self._get(path, content=True, type="directory")
        entries: list[dict[str, Any]] = model["content"]
        return entries

    async def _get(self, path: str, **how: Any) -> dict[str, Any]:
        try:
            model: dict[str, Any] = await ensure_async(self.manager.get(path, **how))
        except HTTPError as error:
            if error.status_code == 404:
                raise DocumentError(
                    "not_found", f"There is no file {path}.", await self._near(path)
                ) from error
            if error.status_code == 403:
                raise DocumentError("not_allowed", f"The server may not read {path}.") from error
            if how.get("format") == "text":
                raise _NoText from error
            raise DocumentError(
                "invalid_arguments", f"{path} cannot be read: {_why(error)}"
            ) from error
        except OSError as error:
            raise DocumentError("internal", f"{path} cannot be read: {_why(error)}") from error
        return model

    async def _near(self, path: str) -> str:
        """A hint with the names in the same directory that are most like it."""
        folder, _, name = path.rpartition("/")
        if not await ensure_async(self.manager.dir_exists(folder)):
            return f"There is no directory {folder} either. listFiles shows what there is."
        try:
            entries = await ensure_async(self.manager.get(folder, content=True, type="directory"))
        except (HTTPError, OSError):
            return "listFiles shows what there is."
        names = {str(each["name"]).lower(): str(each["path"]) for each in entries["content"]}
        near = get_close_matches(name.lower(), names, n=3)
        if not near:
            return "listFiles shows what there is."
        return f"Near: {', '.join(names[each].strip('/') for each in near)}."


class _NoText(Exception):
    """The file is not UTF-8."""


def _bytes_in(model: dict[str, Any]) -> bytes | None:
    """The bytes that a manager writes of a file's model."""
    content = model.get("content")
    if not isinstance(content, str):
        return None
    if model.get("format") != "base64":
        return content.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(content)
    except (binascii.Error, ValueError):
        return None


def _state_of(data: bytes) -> TextState | None:
    try:
        return TextState.of_bytes(data)
    except NotText:
        return None


def encoded(path: str, state: TextState) -> bytes:
    """The bytes of a text. Raises ``DocumentError`` for a character that its encoding lacks."""
    try:
        return state.to_bytes()
    except NotEncodable as error:
        raise DocumentError(
            "invalid_arguments",
            f"{path} was not changed: {error}.",
            "Write the text without it; the file keeps its encoding.",
        ) from error


def _why(error: HTTPError | OSError) -> str:
    said = getattr(error, "log_message", None) or getattr(error, "strerror", None) or str(error)
    return str(said).splitlines()[0][:300] if said else "unknown reason"


# What is in a directory: bounded, directories first, by a pattern if wanted.


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

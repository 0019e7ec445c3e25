"""The two files that define MCP servers: the user's own, and the one of the server root.

The user's is in Jupyter's configuration directory. The one in the server root, which may have come
with a cloned repository, counts only once the user has allowed it as it is; its content's hash is
what is allowed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from .config_text import ConfigProblem, ConfigText, read_config, to_entry
from .definition import ServerDefinition
from .private_file import write_private
from .state_file import StateFile

NAME = "mcp.json"
LARGEST = 1_000_000
"""Bytes of a file that is read."""


@dataclass(frozen=True)
class FolderFile:
    """The file of the server root: ``content_hash`` is what the user allows or not."""

    path: Path
    content_hash: str
    config: ConfigText
    is_allowed: bool
    was_allowed: bool
    """Whether it was allowed with another content."""


@dataclass(frozen=True)
class Found:
    """The servers that may be used, and what is wrong."""

    servers: tuple[ServerDefinition, ...]
    problems: tuple[ConfigProblem, ...]
    folder: FolderFile | None


class ConfigFiles:
    """Reads both files, again whenever they have changed. ``root`` is the server root."""

    def __init__(self, directory: Path, root: Path | None, state: StateFile) -> None:
        self.user_file = directory / NAME
        self._folder_file = None if root is None else root / NAME
        self._state = state
        self._read: dict[Path, tuple[object, bytes | str]] = {}

    def read(self) -> Found:
        """The servers of both files, the user's first; of two with one name the user's counts."""
        own = self._config(self.user_file)
        folder = self._folder()
        servers = list(own.servers)
        problems = list(own.problems)
        if folder is not None and folder.is_allowed:
            taken = {each.name for each in servers}
            servers += [each for each in folder.config.servers if each.name not in taken]
            problems += folder.config.problems
        return Found(tuple(servers), tuple(problems), folder)

    def save(self, server: ServerDefinition) -> None:
        """Add or replace a server of the user's file. Raises ``OSError`` and ``ValueError``."""
        self._change(server.name, to_entry(server))

    def remove(self, name: str) -> None:
        """Remove a server from the user's file. Raises ``OSError`` and ``ValueError``."""
        self._change(name, None)

    def _change(self, name: str, entry: dict[str, object] | None) -> None:
        """Change one server and leave everything else in the file."""
        data = self._bytes(self.user_file)
        if isinstance(data, str):
            raise ValueError(data)
        found = json.loads(data.decode("utf-8-sig")) if data and data.strip() else {}
        servers = found.setdefault("mcpServers", {}) if isinstance(found, dict) else None
        if not isinstance(servers, dict):
            raise ValueError(f'There is no object "mcpServers" in {self.user_file}.')
        if entry is None:
            servers.pop(name, None)
        else:
            # What other programs understand of it, like "disabled", is kept.
            old = servers.get(name)
            kept = old if isinstance(old, dict) else {}
            ours = ("command", "args", "env", "cwd", "url", "headers", "type")
            servers[name] = {**{k: v for k, v in kept.items() if k not in ours}, **entry}
        write_private(self.user_file, json.dumps(found, indent=2, ensure_ascii=False) + "\n")

    def _folder(self) -> FolderFile | None:
        path = self._folder_file
        if path is None or _is_same(path, self.user_file):
            return None
        data = self._bytes(path)
        if data is None:
            return None
        content = data.encode() if isinstance(data, str) else data
        content_hash = hashlib.sha256(content).hexdigest()
        allowed = self._state.allowed_hash(path)
        return FolderFile(
            path,
            content_hash,
            _parsed(data, path, "folder"),
            is_allowed=allowed == content_hash,
            was_allowed=allowed is not None and allowed != content_hash,
        )

    def _config(self, path: Path) -> ConfigText:
        data = self._bytes(path)
        return ConfigText() if data is None else _parsed(data, path, "user")

    def _bytes(self, path: Path) -> bytes | str | None:
        """The content of a file; None where there is none, a text that says why it is not read."""
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return f"The file cannot be read: {error.strerror}."
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._read.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        content = _content(path, status.st_size)
        self._read[path] = (stamp, content)
        return content


def _content(path: Path, size: int) -> bytes | str:
    if not path.is_file():
        return "This is not a file."
    if size > LARGEST:
        return f"The file has {size:,} bytes; up to {LARGEST:,} are read."
    try:
        with path.open("rb") as file:
            return file.read(LARGEST)
    except OSError as error:
        return f"The file cannot be read: {error.strerror}."


def _parsed(data: bytes | str, path: Path, source: str) -> ConfigText:
    if isinstance(data, str):
        return ConfigText(problems=(ConfigProblem(path, None, data),))
    if not data.strip():
        return ConfigText()
    return read_config(data, path, "user" if source == "user" else "folder")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve()
    except OSError:
        return False

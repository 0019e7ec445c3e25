"""The two files that define MCP servers: the user's own, and the one of the server root.

The user's is in Jupyter's configuration directory. The one in the server root, which may have come
with a cloned repository, counts only once the user has allowed it as it is; its content's hash is
what is allowed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ...opening import NotRead, opened
from .config_text import ConfigProblem, ConfigText, read_config, to_entry
from .definition import ServerDefinition
from .private_file import write_private
from .state_file import FolderFile, StateFile

NAME = "mcp.json"
LARGEST = 1_000_000
"""Bytes of a file that is read."""


@dataclass(frozen=True)
class FolderConfig:
    """The file of the server root."""

    file: FolderFile
    config: ConfigText


@dataclass(frozen=True)
class Found:
    """The servers that may be used, and what is wrong."""

    servers: tuple[ServerDefinition, ...]
    problems: tuple[ConfigProblem, ...]
    folder: FolderConfig | None


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
        if isinstance(folder, ConfigProblem):
            return Found(tuple(servers), (*problems, folder), None)
        if folder is not None and folder.file.is_allowed:
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

    def _folder(self) -> FolderConfig | ConfigProblem | None:
        path = self._folder_file
        if path is None or _is_same(path, self.user_file):
            return None
        data = self._bytes(path, str(path.parent))
        if data is None:
            return None
        if isinstance(data, str):
            return ConfigProblem(path, None, data)
        return FolderConfig(self._state.folder_file(path, data), _parsed(data, path, "folder"))

    def _config(self, path: Path) -> ConfigText:
        data = self._bytes(path)
        return ConfigText() if data is None else _parsed(data, path, "user")

    def _bytes(self, path: Path, root: str | None = None) -> bytes | str | None:
        """The content of a file, which has to be in the directory ``root``; None where there is
        none, a text that says why it is not read."""
        try:
            with opened(path, root) as file:
                status = file.status
                stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
                known = self._read.get(path)
                if known is not None and known[0] == stamp:
                    return known[1]
                content: bytes | str = file.read(LARGEST + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except NotRead as error:
            return f"The file is not read: it {error.strerror}."
        except OSError as error:
            return f"The file cannot be read: {error.strerror}."
        if len(content) > LARGEST:
            content = f"The file has {status.st_size:,} bytes; up to {LARGEST:,} are read."
        self._read[path] = (stamp, content)
        return content


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

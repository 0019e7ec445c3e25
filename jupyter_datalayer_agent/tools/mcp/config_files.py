"""The two files that define MCP servers: the user's own, and the one in the server root.

The user's is in Jupyter's configuration directory. The one in the server root may have come with a
cloned repository, so it counts only once the user has allowed its content, which is recorded by its
hash.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...opening import NotRead, opened
from .definition import ServerDefinition, Source
from .state_file import FolderFile, StateFile, write_private

# Parses the text of an ``mcp.json`` into servers and problems with their lines.


SERVER_NAME = re.compile(r"[\w .@/-]{1,64}")
_CLIENT_ID = re.compile(r"[\x21-\x7e]{1,500}")
_EXAMPLE = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'


@dataclass(frozen=True)
class ConfigProblem:
    """What is wrong with a file: where, and what to do."""

    file: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else str(self.file)
        return f"{place}: {self.message}"


@dataclass(frozen=True)
class ConfigText:
    """The servers of a file that are defined correctly, and the problems of the rest."""

    servers: tuple[ServerDefinition, ...] = ()
    problems: tuple[ConfigProblem, ...] = ()


class _Wrong(Exception):
    pass


def read_config(data: bytes, file: Path, source: Source) -> ConfigText:
    """The servers that a file's bytes define. An error in one does not affect the others."""
    try:
        text = data.decode("utf-8-sig")
        found = json.loads(text)
    except UnicodeDecodeError:
        return _only(file, None, "Not valid UTF-8. Save the file as UTF-8.")
    except json.JSONDecodeError as error:
        hint = "Comments and trailing commas are not allowed." if _may_be_json5(text) else ""
        message = f"This is not valid JSON ({error.msg}, column {error.colno}). {hint}".strip()
        return _only(file, error.lineno, message)
    except RecursionError:
        return _only(file, None, "This is nested too deeply.")
    servers = found.get("mcpServers") if isinstance(found, dict) else None
    if not isinstance(servers, dict):
        if isinstance(found, dict) and not found:
            return ConfigText()
        if isinstance(found, dict) and isinstance(found.get("servers"), dict):
            message = 'Rename "servers" to "mcpServers".'
            return _only(file, _line(text, "servers"), message)
        return _only(file, 1, f'"mcpServers" is missing. Example: {_EXAMPLE}')
    read: list[ServerDefinition] = []
    problems: list[ConfigProblem] = []
    for name, entry in servers.items():
        try:
            read.append(_server(name, entry, file, source))
        except _Wrong as wrong:
            line = _line(text, name, text.find('"mcpServers"'))
            problems.append(ConfigProblem(file, line, f"{name[:80]}: {wrong}"))
    return ConfigText(tuple(read), tuple(problems))


def to_entry(server: ServerDefinition) -> dict[str, Any]:
    """A server as it is written to a file."""
    if server.url is not None:
        entry: dict[str, Any] = {"url": server.url}
        if server.headers:
            entry["headers"] = dict(server.headers)
        return {**entry, "client_id": server.client_id} if server.client_id else entry
    entry = {"command": server.command, "args": list(server.args)}
    if server.env:
        entry["env"] = dict(server.env)
    return {**entry, "cwd": server.cwd} if server.cwd else entry


def check(server: ServerDefinition) -> str | None:
    """What is wrong with a definition, None if nothing is."""
    try:
        _server(server.name, to_entry(server), server.file, server.source)
    except _Wrong as wrong:
        return str(wrong)
    return None


def _server(name: str, entry: Any, file: Path, source: Source) -> ServerDefinition:
    if not SERVER_NAME.fullmatch(name) or not name.strip():
        raise _Wrong("Names may have up to 64 letters, digits, spaces and - _ . @ /.")
    if not isinstance(entry, dict):
        raise _Wrong('Write an object with "command" or "url".')
    command, url = entry.get("command"), entry.get("url")
    if (command is None) == (url is None):
        raise _Wrong('Give either "command" (a program) or "url" (a server over HTTP).')
    if entry.get("type") == "sse":
        raise _Wrong(
            'The transport "sse" is not supported, since MCP replaced it. Give the address for '
            "Streamable HTTP, which often ends in /mcp."
        )
    if url is not None:
        headers = _texts(entry, "headers")
        return ServerDefinition(
            name, source, file, url=_url(url), headers=headers, client_id=_client_id(entry)
        )
    if not isinstance(command, str) or not command.strip():
        raise _Wrong('"command" must be the name or path of a program, without its arguments.')
    args = entry.get("args", [])
    if not isinstance(args, list) or not all(isinstance(each, str) for each in args):
        raise _Wrong('"args" must be a list of strings.')
    if any("\0" in each for each in (command, *args)):
        raise _Wrong("A command cannot contain null characters.")
    cwd = entry.get("cwd")
    if cwd is not None and not isinstance(cwd, str):
        raise _Wrong('"cwd" must be the path of a folder.')
    return ServerDefinition(
        name, source, file, command=command, args=tuple(args), env=_texts(entry, "env"), cwd=cwd
    )


def _url(url: Any) -> str:
    if not isinstance(url, str):
        raise _Wrong('"url" must be a string.')
    if "${" not in url:
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise _Wrong('"url" is not a valid address.') from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise _Wrong('"url" must begin with http:// or https:// and name a host.')
        if parts.username or parts.password:
            raise _Wrong('"url" cannot contain a user name or password. Put a token in "headers".')
    return url


def _client_id(entry: dict[str, Any]) -> str | None:
    client_id = entry.get("client_id")
    if client_id is None:
        return None
    if not isinstance(client_id, str) or not _CLIENT_ID.fullmatch(client_id):
        raise _Wrong('"client_id" must be a string of up to 500 characters, without spaces.')
    return client_id


def _texts(entry: dict[str, Any], name: str) -> dict[str, str]:
    values = entry.get(name, {})
    if not isinstance(values, dict) or not all(isinstance(each, str) for each in values.values()):
        raise _Wrong(f'"{name}" must be an object with string values.')
    if any(
        bad in text for key, value in values.items() for text in (key, value) for bad in "\0\r\n"
    ):
        raise _Wrong(f'"{name}" cannot contain line breaks.')
    return dict(values)


def _only(file: Path, line: int | None, message: str) -> ConfigText:
    return ConfigText(problems=(ConfigProblem(file, line, message),))


def _line(text: str, key: str, begin: int = 0) -> int | None:
    """The line of a key."""
    quoted = re.escape(json.dumps(key, ensure_ascii=False))
    found = re.compile(rf"{quoted}\s*:").search(text, max(begin, 0))
    return text.count("\n", 0, found.start()) + 1 if found else None


def _may_be_json5(text: str) -> bool:
    return re.search(r"^[ \t]*//|/\*|,\s*[}\]]", text, re.MULTILINE) is not None


NAME = "mcp.json"
LARGEST = 1_000_000
"""Bytes of the largest file that is read."""


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
    """Reads both files, and again whenever they change. ``root`` is the server root."""

    def __init__(self, directory: Path, root: Path | None, state: StateFile) -> None:
        self.user_file = directory / NAME
        self._folder_file = None if root is None else root / NAME
        self._state = state
        self._read: dict[Path, tuple[object, bytes | str]] = {}

    def read(self) -> Found:
        """The servers of both files, the user's first; if both have a name, the user's counts."""
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
        """Change one server; everything else in the file stays as it is."""
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
            # Keys that only other programs know, like "disabled", are kept.
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
        """The content of a file, which has to be in the directory ``root``; None if there is none,
        a text that says why if it is not read."""
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
            content = f"The file is too large: {status.st_size:,} bytes; the limit is {LARGEST:,}."
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
    except (OSError, RuntimeError):  # RuntimeError: a link to itself, up to Python 3.12
        return False

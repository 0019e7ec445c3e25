"""What users decided about MCP servers and about files of the server root, and the tools that
servers listed last.

This file in Jupyter's data directory is separate from ``mcp.json``, which other programs read and
which may come with a repository. It holds no secrets.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...models.connections.connection import KeyPlace
from ...protocol.errors import AgentError
from .definition import ListedTool, ServerDefinition

# Files that only the user can read.


def write_private(path: Path, text: str) -> None:
    """Write a file that only the user can read, whole or not at all. Raises ``OSError``."""
    # A symbolic link stays one.
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(number, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


log = logging.getLogger(__name__)

NAME = "mcp-state.json"
Trust = Literal["ask", "call", "read"]
"""What a tool may do: nothing until the user is asked, be called in Agent mode, or be called in
every mode, since the user knows that it only reads."""


@dataclass(frozen=True)
class FolderFile:
    """A file of the server root that does something unasked, and may have come with a repository.
    It counts only once the user has allowed its content, recorded as ``content_hash``."""

    path: Path
    content_hash: str
    is_allowed: bool
    was_allowed: bool
    """Whether it was allowed with different content."""
    is_declined: bool
    """Whether the user does not want to be asked about this content again."""


class StateFile:
    """The decisions about all servers, read at first use and written when one changes."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / NAME
        self._stamp: object = None
        self._data: dict[str, Any] = {}
        self._listed: dict[str, tuple[object, list[ListedTool]]] = {}

    # -- files of a folder

    def folder_file(self, path: Path, content: bytes) -> FolderFile:
        """What the user decided about a file and this content of it."""
        content_hash = hashlib.sha256(content).hexdigest()
        allowed = self._decided("allowed", path)
        return FolderFile(
            path,
            content_hash,
            is_allowed=allowed == content_hash,
            was_allowed=allowed is not None and allowed != content_hash,
            is_declined=self._decided("declined", path) == content_hash,
        )

    def decide(self, file: FolderFile | None, name: str, content_hash: str, allowed: bool) -> None:
        """Record the user's decision on a file that was shown with ``content_hash``; ``file`` is
        its current state. Raises ``AgentError``."""
        if file is None:
            raise AgentError("not_found", f"There is no {name} in the server root.")
        if file.content_hash != content_hash:
            raise AgentError(
                "invalid_request", f"{file.path} has changed since it was shown. Review it again."
            )
        now = self._now()
        yes, no = ("allowed", "declined") if allowed else ("declined", "allowed")
        now.setdefault(yes, {})[str(file.path)] = content_hash
        now.setdefault(no, {}).pop(str(file.path), None)
        try:
            self._write()
        except OSError as error:
            raise AgentError(
                "invalid_request", f"{self.path} could not be written: {error.strerror}."
            ) from error

    def _decided(self, what: str, path: Path) -> str | None:
        decided = self._now().get(what, {}).get(str(path))
        return decided if isinstance(decided, str) else None

    # -- servers

    def is_enabled(self, server: ServerDefinition) -> bool:
        """Whether the user has it switched on."""
        return self._server(server).get("enabled", True) is not False

    def listed(self, server: ServerDefinition) -> list[ListedTool] | None:
        """The tools that it listed last; None if it never did with its current definition."""
        listed = self._server(server).get("listed")
        if not isinstance(listed, list):
            return None
        known = self._listed.get(server.key)
        if known is None or known[0] is not listed:
            tools = [tool for each in listed if (tool := ListedTool.of(each)) is not None]
            known = self._listed[server.key] = (listed, tools)
        return known[1]

    def tool_enabled(self, server: ServerDefinition, tool: ListedTool) -> bool:
        """Whether the user has this tool switched on."""
        return self._tool(server, tool).get("enabled", True) is not False

    def trust(self, server: ServerDefinition, tool: ListedTool) -> Trust:
        """How far the user trusts it; a tool that has changed since is not trusted."""
        kept = self._tool(server, tool)
        trust = kept.get("trust")
        if trust not in ("call", "read") or kept.get("hash") != tool.content_hash:
            return "ask"
        return "call" if trust == "call" else "read"

    def has_changed(self, server: ServerDefinition, tool: ListedTool) -> bool:
        """Whether it was trusted and has changed since."""
        kept = self._tool(server, tool)
        return kept.get("trust") in ("call", "read") and kept.get("hash") != tool.content_hash

    def signed_in(self, server: ServerDefinition) -> KeyPlace | None:
        """Where the tokens of a sign-in are stored; None if the user has not signed in."""
        place = self._server(server).get("signedIn")
        return place if place in ("keyring", "file") else None

    def set_signed_in(self, server: ServerDefinition, place: KeyPlace | None) -> None:
        """Record that the user has signed in or out. Raises ``OSError``."""
        if place == self.signed_in(server):
            return
        self._entry(server)["signedIn"] = place
        self._write()

    def set_enabled(self, server: ServerDefinition, enabled: bool) -> None:
        """Switch a server on or off. Raises ``OSError``."""
        self._entry(server)["enabled"] = enabled
        self._write()

    def set_listed(self, server: ServerDefinition, tools: list[ListedTool]) -> None:
        """Record what it lists now. Raises ``OSError``."""
        entry = self._entry(server)
        listed = [tool.definition for tool in tools]
        if entry.get("listed") != listed:
            entry["listed"] = listed
            self._write()

    def set_tool(
        self, server: ServerDefinition, tool: ListedTool, *, enabled: bool, trust: Trust
    ) -> None:
        """Record what the user decided about a tool in its current form. Raises ``OSError``."""
        kept: dict[str, Any] = {} if enabled else {"enabled": False}
        if trust != "ask":
            kept |= {"trust": trust, "hash": tool.content_hash}
        tools = self._entry(server).setdefault("tools", {})
        tools.pop(tool.name, None)
        if kept:
            tools[tool.name] = kept
        self._write()

    def forget(self, server: ServerDefinition) -> None:
        """Forget everything about a removed server. Raises ``OSError``."""
        if self._now().get("servers", {}).pop(server.key, None) is not None:
            self._write()

    # -- the file

    def _server(self, server: ServerDefinition) -> dict[str, Any]:
        """What is recorded of a server, if its definition has not changed."""
        kept = self._now().get("servers", {}).get(server.key)
        if not isinstance(kept, dict) or kept.get("fingerprint") != server.fingerprint:
            return {}
        return kept

    def _entry(self, server: ServerDefinition) -> dict[str, Any]:
        servers = self._now().setdefault("servers", {})
        if not self._server(server):
            servers[server.key] = {"fingerprint": server.fingerprint}
        entry: dict[str, Any] = servers[server.key]
        return entry

    def _tool(self, server: ServerDefinition, tool: ListedTool) -> dict[str, Any]:
        kept = self._server(server).get("tools", {}).get(tool.name)
        return kept if isinstance(kept, dict) else {}

    def _now(self) -> dict[str, Any]:
        """The current content of the file, which another server of the user may have written."""
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            stamp = None
        if stamp != self._stamp:
            self._stamp, self._data = stamp, {}
            if stamp is not None:
                try:
                    self._data = _checked(json.loads(self.path.read_text(encoding="utf-8")))
                except (OSError, ValueError) as error:
                    log.error("%s cannot be read, nothing is trusted: %s", self.path, error)
        return self._data

    def _write(self) -> None:
        write_private(self.path, json.dumps(self._data, ensure_ascii=False))
        status = self.path.stat()
        self._stamp = (status.st_mtime_ns, status.st_size, status.st_ino)


def _checked(found: Any) -> dict[str, Any]:
    """The usable part of a file's content."""
    if not isinstance(found, dict):
        return {}
    servers = found.get("servers")
    kept = servers if isinstance(servers, dict) else {}
    for each in kept.values():
        if isinstance(each, dict) and not isinstance(each.get("tools", {}), dict):
            del each["tools"]
    files = {name: found.get(name) for name in ("allowed", "declined")}
    decided = {name: each if isinstance(each, dict) else {} for name, each in files.items()}
    return {"servers": kept, **decided}

"""An MCP server as ``mcp.json`` defines it, with its references to environment variables."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

# A tool as an MCP server lists it, as plain JSON for every version of the SDK.


LONGEST_NAME = 200
LONGEST_DESCRIPTION = 8_000
LARGEST_SCHEMA = 40_000
"""Characters. Tools with more are not used, since each request would carry them."""

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


@dataclass(frozen=True)
class ListedTool:
    """``definition`` holds all that is used: name, title, description, schema, annotations."""

    definition: dict[str, Any]

    @classmethod
    def of(cls, found: Any) -> ListedTool | None:
        """Read a listed tool; None if it cannot be used."""
        if not isinstance(found, dict):
            return None
        name, schema = found.get("name"), found.get("inputSchema")
        if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
            return None
        if not isinstance(schema, dict) or len(json.dumps(schema)) > LARGEST_SCHEMA:
            return None
        if schema.get("type", "object") != "object":
            return None
        kept = {"name": name, "inputSchema": schema}
        for key in ("title", "description"):
            if isinstance(text := found.get(key), str):
                kept[key] = text[:LONGEST_DESCRIPTION]
        if isinstance(found.get("annotations"), dict):
            kept["annotations"] = found["annotations"]
        return cls(kept)

    @property
    def name(self) -> str:
        """Its name, as the server has it."""
        name: str = self.definition["name"]
        return name

    @property
    def title(self) -> str:
        """Its name for a user."""
        annotations = self.definition.get("annotations", {})
        title = self.definition.get("title") or annotations.get("title")
        return visible(title if isinstance(title, str) and title.strip() else self.name, 80)

    @property
    def description(self) -> str:
        """What it does, as the server says."""
        return _CONTROL.sub("", self.definition.get("description", ""))

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments, as the server has it."""
        schema = dict(self.definition["inputSchema"])
        schema.pop("$schema", None)
        return {"type": "object", "properties": {}, **schema}

    @property
    def says_it_reads(self) -> bool:
        """Whether the server says that it changes nothing, which is only a claim."""
        return self.definition.get("annotations", {}).get("readOnlyHint") is True

    @cached_property
    def content_hash(self) -> str:
        """A hash that changes with any part of the definition."""
        text = json.dumps(self.definition, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def visible(text: str, most: int) -> str:
    """Another program's text as one line, without invisible characters."""
    line = " ".join(_CONTROL.sub("", text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def plain(text: str, most: int) -> str:
    """Another program's text with its line breaks, without invisible characters."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n")).strip()
    return text if len(text) <= most else f"{text[: most - 1]}…"


Source = Literal["user", "folder"]
"""The file that defines a server: in Jupyter's configuration directory, or in the server root."""

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?")
SHORTEST_SECRET = 4
"""Characters. Shorter values could not be told apart from other text."""


class DefinitionError(Exception):
    """A server's definition does not let it start: says why and what to do."""


@dataclass(frozen=True)
class ServerDefinition:
    """A server by its name: a command with its arguments and environment, or a URL with headers
    and, for signing in there, the ``client_id`` of a program that was registered by hand.

    Values are as written, with references like ``${env:NAME}``.
    """

    name: str
    source: Source
    file: Path
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    client_id: str | None = None

    @property
    def key(self) -> str:
        """Distinguishes the server from all others of the user."""
        return f"{self.file}#{self.name}"

    @property
    def fingerprint(self) -> str:
        """A hash that changes with the definition."""
        parts: list[Any] = [self.command, self.args, dict(self.env), self.cwd]
        parts += [self.url, dict(self.headers)]
        # Left out if empty, so that servers without one stay trusted.
        parts += [self.client_id] if self.client_id else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def references(self) -> set[str]:
        """The environment variables that it refers to."""
        texts = [self.command, self.cwd, self.url, *self.args]
        texts += [*self.env.values(), *self.headers.values()]
        found = (
            _VARIABLE.fullmatch(name) for text in texts for name in _REFERENCE.findall(text or "")
        )
        return {match[1] for match in found if match is not None}

    def resolved(self, environ: Mapping[str, str] = os.environ) -> Resolved:
        """Insert the values of environment variables. Raises ``DefinitionError``."""
        found: set[str] = set()

        def expand(text: str) -> str:
            return _expand(text, environ, self, found)

        env = {name: expand(value) for name, value in self.env.items()}
        headers = {name: expand(value) for name, value in self.headers.items()}
        command = [expand(each) for each in (self.command or "", *self.args)]
        url = None if self.url is None else expand(self.url)
        cwd = None if self.cwd is None else expand(self.cwd)
        values = {*found, *env.values(), *headers.values()}
        values.update(value for _, value in parse_qsl(urlsplit(url or "").query))
        # The part after "Bearer" is secret on its own, too.
        values |= {value.split()[-1] for value in headers.values() if value.split()}
        secrets = {value for value in values if len(value) >= SHORTEST_SECRET}
        return Resolved(command, env, cwd, url, headers, frozenset(secrets))


@dataclass(frozen=True)
class Resolved:
    """What a server is started with. ``secrets`` are values to redact everywhere else."""

    command: list[str]
    env: Mapping[str, str]
    cwd: str | None
    url: str | None
    headers: Mapping[str, str]
    secrets: frozenset[str]

    def redacted(self, text: str) -> str:
        """The text without the secrets."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "[redacted]")
        return text


def _expand(
    text: str, environ: Mapping[str, str], server: ServerDefinition, found: set[str]
) -> str:
    def value(match: re.Match[str]) -> str:
        variable = _VARIABLE.fullmatch(match[1])
        if variable is None:
            raise DefinitionError(
                f"{match[0]} in {server.file} is not supported. Use ${{env:NAME}} for an "
                "environment variable."
            )
        name, default = variable.groups()
        given = environ.get(name, default)
        if given is None:
            raise DefinitionError(
                f"The environment variable {name}, which {server.file} refers to, is not set. Set "
                "it where JupyterLab is started."
            )
        found.add(given)
        return given

    return _REFERENCE.sub(value, text)

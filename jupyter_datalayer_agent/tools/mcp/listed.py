"""A tool as an MCP server lists it, as plain JSON, whatever the version of the SDK."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

LONGEST_NAME = 200
LONGEST_DESCRIPTION = 8_000
LARGEST_SCHEMA = 40_000
"""Characters. A tool with more is not used: each request would carry them."""

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


@dataclass(frozen=True)
class ListedTool:
    """``definition`` is all of it that is used: name, title, description, schema, annotations."""

    definition: dict[str, Any]

    @classmethod
    def of(cls, found: Any) -> ListedTool | None:
        """The tool of a list; None where it cannot be used."""
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
        """Whether the server says that it changes nothing: a claim."""
        return self.definition.get("annotations", {}).get("readOnlyHint") is True

    @cached_property
    def content_hash(self) -> str:
        """Another one where anything of it is another."""
        text = json.dumps(self.definition, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def visible(text: str, most: int) -> str:
    """The text of another program as one line without characters that are not seen."""
    line = " ".join(_CONTROL.sub("", text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def plain(text: str, most: int) -> str:
    """The text of another program with its line breaks, without characters that are not seen."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n")).strip()
    return text if len(text) <= most else f"{text[: most - 1]}…"

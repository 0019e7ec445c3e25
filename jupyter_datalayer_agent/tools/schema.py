"""Compacts the JSON schemas of tool arguments, each token of which is sent with each request."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..protocol.base import Wire


@cache
def compact_schema(model: type[Wire]) -> dict[str, Any]:
    """The model's JSON schema without titles, nullable unions and references, and without what a
    model does not need: "at least one", and defaults that are empty, a number, a boolean or one of
    several choices."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    compacted: dict[str, Any] = _compact(schema, definitions)
    compacted.setdefault("properties", {})
    # The class docstring is for readers of the code; the tool's own description is sent already.
    compacted.pop("description", None)
    return compacted


def _is_plain(default: Any) -> bool:
    return default in (None, True, False, [], "") or type(default) in (int, float)


def _compact(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_compact(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = dict(definitions[node["$ref"].rsplit("/", 1)[-1]])
        target.pop("description", None)
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _compact({**target, **rest}, definitions)
    options = node.get("anyOf")
    if options is not None:
        real = [each for each in options if each != {"type": "null"}]
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        if len(real) == 1:
            return _compact({**real[0], **rest}, definitions)
        node = {**rest, "anyOf": real}
    out: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("title", "additionalProperties") and not isinstance(value, dict):
            continue
        if key == "default" and (_is_plain(value) or "enum" in node or "anyOf" in node):
            continue
        if key in ("minLength", "minItems") and value == 1:
            continue
        if key == "properties":
            out[key] = {name: _compact(each, definitions) for name, each in value.items()}
        else:
            out[key] = _compact(value, definitions)
    return out

"""The form of an elicitation: a flat JSON schema of another program, rebuilt of what is known.

Nothing is passed on that is not named here: no patterns, which could take for ever to match, no
references, no nested objects. See "Requested Schema" of MCP's elicitation.
"""

from __future__ import annotations

import math
from typing import Any

from ...protocol.forms import InputForm
from .listed import plain, visible

MOST_FIELDS, MOST_CHOICES = 50, 500
LONGEST_NAME, LONGEST_TITLE, LONGEST_HELP = 100, 200, 1_000
LONGEST_TEXT = 100_000
"""Characters that can be entered."""
FORMATS = ("email", "uri", "date", "date-time")
_NOT_NAMES = ("__proto__", "constructor", "prototype")
"""Names that mean something else to JavaScript, in which the form is shown."""

Schema = dict[str, Any]


class BadForm(Exception):
    """A requested schema that cannot be shown as a form: says why, for the server's author."""


def form_of(server: str, requested: Any) -> InputForm:
    """The form for a requested schema. Raises ``BadForm``."""
    if not isinstance(requested, dict) or requested.get("type") != "object":
        raise BadForm("requestedSchema is not an object schema.")
    properties, required = requested.get("properties", {}), requested.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise BadForm("requestedSchema has no valid properties.")
    if len(properties) > MOST_FIELDS:
        raise BadForm(f"requestedSchema has more than {MOST_FIELDS} properties.")
    fields = {}
    for name, schema in properties.items():
        if not 0 < len(name) <= LONGEST_NAME or name in _NOT_NAMES:
            raise BadForm(f"A property cannot be named {name[:LONGEST_NAME]!r}.")
        fields[name] = _field(name, schema)
    needed = [name for name in fields if name in required]
    return InputForm(
        server=server, schema={"type": "object", "properties": fields, "required": needed}
    )


def problem_of(form: InputForm, values: dict[str, Any]) -> str | None:
    """What is wrong with values that the user gave, None if nothing is."""
    fields = form.fields["properties"]
    for name in values:
        if name not in fields:
            return f"The form has no field {name[:LONGEST_NAME]!r}."
    for name in form.fields["required"]:
        if name not in values:
            return f"{fields[name]['title']} is required."
    for name, value in values.items():
        if not _is_valid(fields[name], value):
            return f"{fields[name]['title']}: {str(value)[:100]!r} is not a valid value."
    return None


def _field(name: str, schema: Any) -> Schema:
    if not isinstance(schema, dict):
        raise BadForm(f"The property {name!r} has no schema.")
    kind = schema.get("type")
    if kind == "array":
        field = _choices(name, schema)
    elif kind == "string":
        field = _choice(name, schema) or _text(schema)
    elif kind in ("number", "integer"):
        field = {"type": kind, **_numbers(schema, "minimum", "maximum")}
    elif kind == "boolean":
        field = {"type": kind}
    else:
        raise BadForm(f"The property {name!r} has a type that a form does not have.")
    title, help_text = schema.get("title"), schema.get("description")
    if not isinstance(title, str) or not title.strip():
        title = name
    field["title"] = visible(title, LONGEST_TITLE)
    if isinstance(help_text, str) and help_text.strip():
        field["description"] = plain(help_text, LONGEST_HELP)
    if "default" in schema and _is_valid(field, schema["default"]):
        field["default"] = schema["default"]
    return field


def _text(schema: Schema) -> Schema:
    field = {"type": "string", **_numbers(schema, "minLength", "maxLength")}
    return {**field, "format": schema["format"]} if schema.get("format") in FORMATS else field


def _choice(name: str, schema: Schema) -> Schema | None:
    options = _options(name, schema)
    return None if options is None else {"type": "string", "oneOf": options}


def _choices(name: str, schema: Schema) -> Schema:
    items = schema.get("items")
    options = _options(name, items) if isinstance(items, dict) else None
    if options is None:
        raise BadForm(f"The property {name!r} is a list of something else than choices.")
    field = {"type": "array", "uniqueItems": True, **_numbers(schema, "minItems", "maxItems")}
    return {**field, "items": {"type": "string", "oneOf": options}}


def _options(name: str, schema: Schema) -> list[Schema] | None:
    """The choices: of ``enum``, with titles in ``enumNames``, or of ``oneOf`` or ``anyOf``."""
    if (enum := schema.get("enum")) is not None:
        titles = schema.get("enumNames")
        if not isinstance(enum, list):
            raise BadForm(f"The choices of {name!r} are not a list.")
        if not isinstance(titles, list) or len(titles) != len(enum):
            titles = enum
        pairs = list(zip(enum, titles, strict=True))
    elif isinstance(found := schema.get("oneOf", schema.get("anyOf")), list):
        known = [each for each in found if isinstance(each, dict)]
        pairs = [(each.get("const"), each.get("title", each.get("const"))) for each in known]
    else:
        return None
    if not 0 < len(pairs) <= MOST_CHOICES:
        raise BadForm(f"{name!r} has no choices, or more than {MOST_CHOICES}.")
    if not all(isinstance(value, str) for value, _ in pairs):
        raise BadForm(f"The choices of {name!r} are not texts.")
    return [
        {"const": value, "title": visible(str(title), LONGEST_TITLE) or value}
        for value, title in dict(pairs).items()
    ]


def _numbers(schema: Schema, *names: str) -> Schema:
    return {name: schema[name] for name in names if _is_number(schema.get(name))}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_valid(field: Schema, value: Any) -> bool:
    kind = field["type"]
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("number", "integer"):
        if not _is_number(value) or (kind == "integer" and value != int(value)):
            return False
        return _is_between(value, field, "minimum", "maximum")
    if kind == "array":
        known = [each["const"] for each in field["items"]["oneOf"]]
        if not isinstance(value, list) or not all(each in known for each in value):
            return False
        is_unique = len({*value}) == len(value)
        return is_unique and _is_between(len(value), field, "minItems", "maxItems")
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return False
    if "oneOf" in field:
        return any(value == each["const"] for each in field["oneOf"])
    return _is_between(len(value), field, "minLength", "maxLength")


def _is_between(value: float, field: Schema, least: str, most: str) -> bool:
    return bool(field.get(least, -math.inf) <= value <= field.get(most, math.inf))

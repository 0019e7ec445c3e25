"""Parses the arguments of a call and checks them against the tool's model."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from ..protocol.base import Wire
from ..protocol.fences import unfenced
from ..protocol.json_text import parse_json, relaxed_object
from .context import ToolFailure
from .registry import Alias, Arguments, Tool
from .schema import compact_schema

_MODEL = re.compile(r"a valid dictionary or instance of \w+")


def parse_arguments(arguments: str | dict[str, Any]) -> dict[str, Any]:
    """Return the call's arguments as an object. Raises ``ToolFailure``, which says where the JSON
    is broken."""
    if isinstance(arguments, dict):
        return arguments
    try:
        parsed = parse_json(arguments or "{}", strict=False)
    except ValueError as error:
        raise ToolFailure(
            "invalid_arguments",
            f"The arguments are not valid JSON: {error}.",
            "Send the call again with one complete JSON object.",
        ) from error
    if not isinstance(parsed, dict):
        raise ToolFailure(
            "invalid_arguments",
            f"The arguments must be a JSON object, not {type(parsed).__name__}.",
            "Send the call again with one JSON object.",
        )
    return parsed


def validated(
    model: type[Arguments], values: dict[str, Any], name: str, *, strict: bool = False
) -> Arguments:
    """Validate the arguments against the tool's model; with ``strict``, no value is converted.
    Raises ``ToolFailure``, which names each problem."""
    try:
        if strict:
            # Validated as JSON, in which an enum or a tuple has only one form.
            return model.model_validate_json(json.dumps(values), strict=True)
        return model.model_validate(values)
    except ValidationError as error:
        # A dict keeps the order and drops repetitions: pydantic reports one error for each member
        # of a union.
        found: dict[str, dict[str, None]] = {}
        for each in error.errors(include_url=False):
            problem = _MODEL.sub("an object", each["msg"].removeprefix("Value error, "))
            found.setdefault(_place(each, values), {})[problem] = None
        problems = "; ".join(
            f"{place}: {', or '.join(problem)}" for place, problem in found.items()
        )
        raise _invalid(model, name, problems) from error


def inexact(tool: Tool | Alias, arguments: dict[str, Any]) -> ToolFailure | None:
    """Return what in the arguments would be converted, corrected or ignored; None if they match
    the tool's schema exactly."""
    try:
        model = validated(tool.arguments, arguments, tool.name, strict=True)
    except ToolFailure as failure:
        return failure
    for by_alias in (True, False):
        if model.model_dump(mode="json", by_alias=by_alias, exclude_unset=True) == arguments:
            return None
    return _invalid(tool.arguments, tool.name, "arguments: do not match the schema")


def typed(tool: Tool | Alias, arguments: dict[str, Any], texts: Iterable[str]) -> dict[str, Any]:
    """Return the arguments with those in ``texts`` converted, which are text for a value of any
    type: one that the tool does not take as text is parsed as JSON (a number, a list, …)."""
    typed = dict(arguments)
    wrong = _wrong(tool, arguments)
    for key in texts:
        if typed[key] in ("null", "None") and not _wrong(tool, {key: None}):
            typed[key] = None
        elif key in wrong:
            typed[key] = _value(typed[key])
    return typed


def _wrong(tool: Tool | Alias, arguments: dict[str, Any]) -> set[str]:
    """Return the names of arguments that do not match the tool's types; for a tool of another
    program, those that are text or null."""
    if isinstance(tool, Tool) and tool.parameters is not None:
        given = tool.parameters.get("properties")
        properties = given if isinstance(given, dict) else {}
        return {key for key, value in arguments.items() if not _is_of(properties.get(key), value)}
    try:
        tool.arguments.model_validate_json(json.dumps(arguments), strict=True)
    except ValidationError as error:
        places = {to_camel(str(each["loc"][0])) for each in error.errors() if each["loc"]}
        return {key for key in arguments if to_camel(key) in places}
    return set()


def _is_of(schema: Any, value: Any) -> bool:
    given = schema.get("type") if isinstance(schema, dict) else None
    types = [given] if isinstance(given, str) else given
    if not isinstance(types, list):
        return isinstance(value, str)
    if isinstance(value, str):
        return "string" in types
    return value is not None or "null" in types


def _value(text: str) -> Any:
    """Parse a text as JSON or as a Python literal; return the text itself if it is neither."""
    try:
        return parse_json(text, strict=False)
    except ValueError:
        pass
    try:
        value = ast.literal_eval(text.strip())
        return json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text


def mended(tool: Tool | Alias, written: str) -> dict[str, Any] | None:
    """Repair arguments that are not the JSON that the tool takes, if exactly one reading fits its
    schema. Returns None if none does, or if nothing needs repair.

    Repairs: a code fence around the arguments, JSON within JSON, line breaks in strings, other
    quotes, Python's literals, keys without quotes, and commas before closing brackets.
    """
    arguments, is_json = _read(written)
    if arguments is None or (is_json and _is_valid(tool, arguments)):
        return None
    texts = [key for key in _wrong(tool, arguments) if isinstance(arguments[key], str)]
    found = typed(tool, arguments, texts)
    return found if inexact(tool, found) is None else None


def _is_valid(tool: Tool | Alias, arguments: dict[str, Any]) -> bool:
    try:
        validated(tool.arguments, arguments, tool.name)
    except ToolFailure:
        return False
    return True


def _read(written: str) -> tuple[dict[str, Any] | None, bool]:
    """Return the object that the arguments are, and whether they were valid JSON as written."""
    text, is_json = written or "{}", True
    for _ in range(2):
        try:
            value = parse_json(text)
        except ValueError:
            break
        if isinstance(value, dict):
            return value, is_json
        if not isinstance(value, str):
            return None, False
        text, is_json = value, False
    text = unfenced(text)[0].strip()
    try:
        found, end = relaxed_object(text)
    except ValueError:
        return None, False
    return (found if end == len(text) else None), False


def _invalid(model: type[Wire], name: str, problems: str) -> ToolFailure:
    return ToolFailure(
        "invalid_arguments",
        f"{name} was not called, nothing was changed: {problems}.",
        "Send the call again. The arguments follow this schema: "
        + json.dumps(compact_schema(model)),
        summary=f"{name}: invalid request, nothing was changed",
    )


def _place(problem: Mapping[str, Any], values: Any) -> str:
    """Return where a problem is in the arguments, without the names of union members."""
    if not problem["loc"]:
        return "arguments"
    *outer, last = problem["loc"]
    names = []
    for step in outer:
        if step in values if isinstance(values, dict) else isinstance(step, int):
            values = values[step]
            names.append(str(step))
    is_name = problem["type"] == "missing" or (isinstance(values, dict) and last in values)
    if is_name or isinstance(last, int):
        names.append(str(last))
    return ".".join(names) or "arguments"

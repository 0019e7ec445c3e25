"""The arguments of a call: parsed, and checked against the tool's model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ..protocol.base import Wire
from ..protocol.json_text import parse_json
from .context import ToolFailure
from .registry import Arguments, Tool
from .schema import compact_schema

_MODEL = re.compile(r"a valid dictionary or instance of \w+")


def parse_arguments(arguments: str | dict[str, Any]) -> dict[str, Any]:
    """The call's arguments as an object. Raises ``ToolFailure`` that says where the JSON is
    broken."""
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
    """The arguments as the tool's model; where ``strict``, no value is converted. Raises
    ``ToolFailure`` that names each problem."""
    try:
        if strict:
            # As JSON, in which an enum or a tuple has no other form.
            return model.model_validate_json(json.dumps(values), strict=True)
        return model.model_validate(values)
    except ValidationError as error:
        # Each once, in order: pydantic reports one error for each member of a union.
        found: dict[str, dict[str, None]] = {}
        for each in error.errors(include_url=False):
            problem = _MODEL.sub("an object", each["msg"].removeprefix("Value error, "))
            found.setdefault(_place(each, values), {})[problem] = None
        problems = "; ".join(
            f"{place}: {', or '.join(problem)}" for place, problem in found.items()
        )
        raise _invalid(model, name, problems) from error


def inexact(tool: Tool, arguments: dict[str, Any]) -> ToolFailure | None:
    """What of the arguments would be converted, corrected or ignored; None if they are exactly what
    the tool takes."""
    try:
        model = validated(tool.arguments, arguments, tool.name, strict=True)
    except ToolFailure as failure:
        return failure
    for by_alias in (True, False):
        if model.model_dump(mode="json", by_alias=by_alias, exclude_unset=True) == arguments:
            return None
    return _invalid(tool.arguments, tool.name, "arguments: not in the form of the schema")


def _invalid(model: type[Wire], name: str, problems: str) -> ToolFailure:
    return ToolFailure(
        "invalid_arguments",
        f"{name} was not called, nothing was changed: {problems}.",
        "Send the call again. The arguments follow this schema: "
        + json.dumps(compact_schema(model)),
        summary=f"{name}: invalid request, nothing was changed",
    )


def _place(problem: Mapping[str, Any], values: Any) -> str:
    """The location of a problem in the arguments, without the names of union members."""
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

"""``{name}`` in a prompt: the variable's short form, which describes it without all its content."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from typing import Any

LONGEST = 500
MOST_COLUMNS = 50
# Text in braces that is not one name (JSON, a set) is left alone, and so are its braces.
_NAME = re.compile(r"\{(\{[^\W\d]\w*\})\}|\{([^\W\d]\w*)\}")
# After these, braces belong to a formula or a shell.
_OTHER_BRACES = re.compile(r"[\w^}$\\]")

_short = reprlib.Repr()
_short.maxstring = _short.maxother = LONGEST
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxdict = 10


def filled(prompt: str, variables: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The prompt with variables replaced by their short forms, and the unknown names in braces,
    which are left alone. ``{{name}}`` is a literal ``{name}``; braces around anything else are left
    alone."""
    unknown: dict[str, None] = {}

    def put(found: re.Match[str]) -> str:
        escaped, name = found.groups()
        if escaped:
            return escaped
        if name in variables:
            return short_form(variables[name])
        if not _OTHER_BRACES.match(prompt[max(found.start() - 1, 0) : found.start()]):
            unknown.setdefault(name)
        return found[0]

    return _NAME.sub(put, prompt), list(unknown)


def short_form(value: Any) -> str:
    """Type, size and names of tables and arrays, without their values; a short ``repr`` of the
    rest, whole where that is a short text."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
    kind = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        columns = _columns(value)
        if columns is not None and len(shape) == 2:
            return f"{kind}, {shape[0]} rows × {shape[1]} columns: {columns}"
        return f"{kind}, shape {shape}, {getattr(value, 'dtype', '')}".rstrip(", ")
    try:
        text = _short.repr(value)
    except Exception as error:  # noqa: BLE001 - whatever a foreign __repr__ raises
        return f"{kind} (its repr fails: {type(error).__name__})"
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    size = f", {len(value)} items" if isinstance(value, (list, tuple, set, dict)) else ""
    return f"{text} ({kind}{size})" if size else text


def _columns(value: Any) -> str | None:
    names, types = getattr(value, "columns", None), getattr(value, "dtypes", None)
    if names is None or types is None:
        return None
    pairs = [f"{name} ({kind})" for name, kind in zip(names, types, strict=False)]
    more = f", and {len(pairs) - MOST_COLUMNS} more" if len(pairs) > MOST_COLUMNS else ""
    return ", ".join(pairs[:MOST_COLUMNS]) + more

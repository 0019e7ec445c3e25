"""Outputs as a context needs them: what they say, cut, without pictures. The page makes the same of
the outputs that it shows (``labextension/src/notebook/briefOutputs.ts``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

BRIEF_CELLS = 150
"""Of more cells only those are read that are selected, and errors."""
BRIEF_CHARACTERS = 1_000
TRACE_CHARACTERS = 20_000
JSON = "application/json"

Output = dict[str, Any]


def brief_outputs(outputs: Sequence[Mapping[str, Any]]) -> list[Output]:
    """The outputs of a cell until their texts have 1,000 characters, and every error."""
    kept: list[Output] = []
    left = BRIEF_CHARACTERS
    for output in outputs:
        kind = output.get("output_type")
        if kind == "error":
            kept.append(_error(output, TRACE_CHARACTERS))
        elif left <= 0:
            continue
        elif kind == "stream":
            text = _start(output.get("text"), left)
            left -= len(text)
            kept.append({"output_type": "stream", "name": output.get("name"), "text": text})
        else:
            data = _data(output.get("data") or {}, left)
            left -= max([1, *(len(each) for each in data.values() if isinstance(each, str))])
            kept.append({"output_type": "display_data", "data": data})
    return kept


def brief_errors(outputs: Sequence[Mapping[str, Any]]) -> list[Output]:
    """The errors among the outputs, without tracebacks."""
    return [_error(each, 0) for each in outputs if each.get("output_type") == "error"]


def _error(output: Mapping[str, Any], most: int) -> Output:
    trace = output.get("traceback")
    lines = [str(line) for line in trace] if isinstance(trace, list) else []
    return {
        "output_type": "error",
        "ename": str(output.get("ename", "")),
        "evalue": str(output.get("evalue", ""))[: 2 * BRIEF_CHARACTERS],
        "traceback": lines if sum(map(len, lines)) <= most else [],
    }


def _data(data: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Texts, cut; of other types only that they are there."""
    return {mime: _value(mime, value, most) for mime, value in data.items()}


def _value(mime: str, value: Any, most: int) -> Any:
    if mime == JSON:
        if isinstance(value, str):
            return _start(value, most)
        written = json.dumps(value, ensure_ascii=False, default=str)
        return value if len(written) <= most else _start(written, most)
    if mime.startswith("text/") or mime in ("image/svg+xml", "application/javascript"):
        # HTML says less than its length.
        return _start(value, most if mime in ("text/plain", "text/markdown") else 20 * most)
    return "" if isinstance(value, str | list) else {}


def _start(value: Any, most: int) -> str:
    if isinstance(value, str):
        return value[:most]
    text = ""
    for line in value if isinstance(value, list) else ():
        text += str(line)
        if len(text) >= most:
            break
    return text[:most]

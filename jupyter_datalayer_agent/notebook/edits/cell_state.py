"""A cell's state, compared part by part: source, metadata, outputs.

Differences between backends are ignored: a stream's text as one string or as lines, whole numbers
with and without a fraction, trust as metadata or not at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .batch import Cell, outputs_of, source_of

# Trust records where outputs come from; each backend stores it differently.
_NEVER_COMPARED = frozenset({"trusted"})
# Metadata from running, folding and scrolling is not an edit.
_OF_THE_VIEW = frozenset({"trusted", "execution", "collapsed", "scrolled", "jupyter"})
_MISSING = object()


@dataclass(frozen=True)
class CellAfterTurn:
    """How a turn left a cell; enough to see whether somebody changed it since.

    ``attachments`` and ``outputs`` are digests. ``outputs`` is None if the turn ran the cell and
    its end was not recorded; ``ran``: the turn ran the cell.
    """

    type: str
    source: str
    attachments: str
    metadata: dict[str, Any]
    outputs: str | None
    ran: bool = False

    @classmethod
    def of(cls, cell: Cell, *, ran: bool = False) -> CellAfterTurn:
        """The state of this cell."""
        return cls(
            type=cell["cell_type"],
            source=source_of(cell),
            attachments=_attachments(cell),
            metadata=_metadata(cell),
            outputs=outputs_digest(cell),
            ran=ran,
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CellAfterTurn:
        """The state from ``to_json``."""
        return cls(**data)

    def to_json(self) -> dict[str, Any]:
        """The state as JSON, for the database."""
        return asdict(self)

    def has_text_of(self, cell: Cell) -> bool:
        """Whether the cell has this type, source and attachments."""
        return (self.type, self.source, self.attachments) == _text(cell)

    def has_outputs_of(self, cell: Cell) -> bool:
        """Whether the cell shows these outputs; unrecorded ones count as equal."""
        return self.outputs is None or self.outputs == outputs_digest(cell)

    def has_marks_of(self, cell: Cell) -> bool:
        """Whether the cell has this metadata, apart from how it is shown."""
        return _marks(self.metadata) == _marks(_metadata(cell))

    def is_as_left(self, cell: Cell | None) -> bool:
        """Whether nobody changed the cell since."""
        return (
            cell is not None
            and self.has_text_of(cell)
            and self.has_outputs_of(cell)
            and self.has_marks_of(cell)
        )


def same_text(one: Cell, other: Cell) -> bool:
    """Whether type, source and attachments are the same."""
    return _text(one) == _text(other)


def same_outputs(one: Cell, other: Cell) -> bool:
    """Whether outputs and execution count are the same."""
    return outputs_digest(one) == outputs_digest(other)


def same_cell(one: Cell, other: Cell) -> bool:
    """Whether all compared parts are the same."""
    return same_text(one, other) and _metadata(one) == _metadata(other) and same_outputs(one, other)


def is_blank(cell: Cell) -> bool:
    """Whether the cell is empty, like the one that JupyterLab adds to an empty notebook."""
    return not source_of(cell).strip() and not outputs_of(cell) and not cell.get("attachments")


def merged_metadata(before: Cell, left: CellAfterTurn, now: Cell) -> dict[str, Any]:
    """The metadata without the turn's changes; later changes stay."""
    old, new = before.get("metadata", {}), now.get("metadata", {})
    result = {}
    for key in {**new, **old}:
        if key in _NEVER_COMPARED:
            continue
        was, is_left = old.get(key, _MISSING), left.metadata.get(key, _MISSING)
        is_now = new.get(key, _MISSING)
        value = was if was != is_left and is_now == is_left else is_now
        if value is not _MISSING:
            result[key] = value
    return result


def with_trust(metadata: dict[str, Any], origin: Cell) -> dict[str, Any]:
    """The metadata with the trust in ``origin``, the cell that the outputs come from."""
    if "trusted" in origin.get("metadata", {}):
        return {**metadata, "trusted": origin["metadata"]["trusted"]}
    return metadata


def outputs_digest(cell: Cell) -> str:
    """A digest of outputs and execution count; empty for a cell that has none."""
    outputs, count = outputs_of(cell), cell.get("execution_count")
    if cell["cell_type"] != "code" or (not outputs and count is None):
        return ""
    return _digest([[_plain_output(output) for output in outputs], count])


def _text(cell: Cell) -> tuple[str, str, str]:
    return cell["cell_type"], source_of(cell), _attachments(cell)


def _attachments(cell: Cell) -> str:
    attachments = cell.get("attachments")
    if not attachments:
        return ""
    return _digest({name: _plain_bundle(bundle) for name, bundle in attachments.items()})


def _metadata(cell: Cell) -> dict[str, Any]:
    metadata = cell.get("metadata", {})
    return {key: value for key, value in metadata.items() if key not in _NEVER_COMPARED}


def _marks(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in _OF_THE_VIEW}


def _plain_output(output: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in output.items() if key != "metadata" or value}
    if "text" in plain:
        plain["text"] = _joined(plain["text"])
    if isinstance(plain.get("data"), dict):
        plain["data"] = _plain_bundle(plain["data"])
    return plain


def _plain_bundle(bundle: Mapping[str, Any]) -> dict[str, Any]:
    return {
        mime: _numbers(data) if mime.endswith("json") else _joined(data)
        for mime, data in bundle.items()
    }


def _joined(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return _numbers(value)


def _numbers(value: Any) -> Any:
    """JavaScript has one kind of number and writes 1.0 as 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    return value


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""The reports of a conversion: progress, result, error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

FIRST_REJECTED = 20
"""The most rejected rows that are listed; all are counted."""

Progress = Callable[[str, float | None], None]
"""Called with the stage (``checking``, ``converting``) and the fraction, 0 to 1, where known."""


class ConversionError(Exception):
    """The file cannot be converted; the message tells the user why, and what to do.

    ``detail`` is for programs, JSON: the encodings to choose from.
    """

    def __init__(self, message: str, detail: Any = None) -> None:
        super().__init__(message)
        self.detail = detail


@dataclass
class Report:
    """The result of a conversion. ``rejected`` are lines, from 1, each with its reason."""

    format: str
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    rejected_rows: int = 0
    rejected: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def reject(self, line: int, reason: str) -> None:
        """Record a rejected row."""
        self.rejected_rows += 1
        if len(self.rejected) < FIRST_REJECTED:
            self.rejected.append((line, reason))

    def to_json(self) -> dict[str, Any]:
        """As the server reads it."""
        facts = asdict(self)
        facts["rejected"] = [{"line": line, "reason": why} for line, why in self.rejected]
        return facts


def names(things: list[str], most: int = 5) -> str:
    """The first few of a list, for a sentence."""
    shown = ", ".join(things[:most])
    return f"{shown} and {len(things) - most} more" if len(things) > most else shown

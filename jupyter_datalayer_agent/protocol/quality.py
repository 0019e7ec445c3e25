"""The quality report of a notebook."""

from __future__ import annotations

from typing import Literal

from .base import Wire

Severity = Literal["error", "warning", "info"]


class QualityIssue(Wire):
    """Something to improve. ``rule`` is a stable name; ``index`` is the cell's place, from 0."""

    severity: Severity
    rule: str
    message: str
    cell_id: str | None = None
    index: int | None = None


class QualityReport(Wire):
    """``score`` from 0 to 100. An analysis that failed is a score of 0 with the reason as an
    error."""

    score: int
    issues: list[QualityIssue]
    suggestions: list[str]

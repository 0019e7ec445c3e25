"""What a rule of the quality report is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...protocol.quality import Severity
from .notebook import AnalysedCell, AnalysedNotebook


@dataclass(frozen=True)
class Finding:
    """One thing that a rule found; ``cell`` is None where it is about the whole notebook."""

    message: str
    cell: AnalysedCell | None = None


@dataclass(frozen=True)
class QualityRule:
    """``weight`` points are taken for each thing found, ``most`` of them at most (None: no end).

    ``python``: only for notebooks in Python. ``what`` is for the documentation.
    """

    id: str
    severity: Severity
    weight: int
    most: int | None
    what: str
    suggestion: str
    check: Callable[[AnalysedNotebook], Iterable[Finding]]
    python: bool = False

    def points(self, count: int) -> int:
        """The points that so many findings take."""
        taken = self.weight * count
        return taken if self.most is None else min(taken, self.most)

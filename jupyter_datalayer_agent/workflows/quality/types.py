"""The types of the quality report's rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...protocol.quality import Severity
from .notebook import AnalysedCell, AnalysedNotebook


@dataclass(frozen=True)
class Finding:
    """A finding of a rule; ``cell`` is None if it is about the whole notebook."""

    message: str
    cell: AnalysedCell | None = None


@dataclass(frozen=True)
class QualityRule:
    """Each finding takes ``weight`` points, all together at most ``most`` (None: no limit).

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
        """The points for this many findings."""
        taken = self.weight * count
        return taken if self.most is None else min(taken, self.most)

"""From a notebook to its quality report."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

from ...protocol.workflows import QualityIssue, QualityReport
from .notebook import AnalysedNotebook, Finding, NoNotebook, QualityRule
from .rules import RULES

log = logging.getLogger(__name__)

FULL_SCORE = 100
_SEVERITIES = ("error", "warning", "info")


def analyse_notebook(notebook: Mapping[str, Any], *, stale: Collection[str] = ()) -> QualityReport:
    """The report of a notebook (nbformat 4, as parsed from its file). It starts a process (ruff)
    and takes up to seconds: call it from a thread.

    ``stale`` are ids of cells that are known to be stale. Any failure is a score of 0 with the
    reason as an error.
    """
    try:
        analysed = AnalysedNotebook(notebook, stale)
        found = [
            (rule, list(rule.check(analysed)))
            for rule in RULES
            if not rule.python or analysed.is_python
        ]
    except NoNotebook as error:
        return failed(str(error))
    except Exception as error:
        log.exception("A notebook could not be analysed")
        return failed(f"{type(error).__name__}: {error}")
    return _report(found)


def failed(reason: str) -> QualityReport:
    """The report of an analysis that failed."""
    message = f"The notebook could not be analysed: {reason}"
    issue = QualityIssue(severity="error", rule="analysis-failed", message=message)
    return QualityReport(score=0, issues=[issue], suggestions=[])


def _report(found: list[tuple[QualityRule, list[Finding]]]) -> QualityReport:
    lost = [(rule.points(len(each)), rule) for rule, each in found if each]
    issues = [_issue(rule, one) for rule, each in found for one in each]
    issues.sort(key=lambda issue: _SEVERITIES.index(issue.severity))
    worst_first = sorted(lost, key=lambda each: -each[0])
    return QualityReport(
        score=max(0, FULL_SCORE - sum(points for points, _ in lost)),
        issues=issues,
        suggestions=[rule.suggestion for _, rule in worst_first],
    )


def _issue(rule: QualityRule, found: Finding) -> QualityIssue:
    return QualityIssue(
        severity=rule.severity,
        rule=rule.id,
        message=found.message,
        cell_id=found.cell.id if found.cell is not None else None,
        index=found.cell.index if found.cell is not None else None,
    )

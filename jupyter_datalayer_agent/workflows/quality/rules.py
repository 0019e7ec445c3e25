"""All rules of the quality report, in the order in which their findings are listed."""

from __future__ import annotations

from . import linter, python_code, running, secrets, structure
from .types import QualityRule

RULES: list[QualityRule] = [
    *secrets.RULES,
    *running.RULES,
    *python_code.RULES,
    *structure.RULES,
    *linter.RULES,
]


def table() -> str:
    """The rules with their weights, as the table in ``docs/quality.md``."""
    rows = ["| rule | points | severity | what |", "| --- | --- | --- | --- |"]
    for rule in sorted(RULES, key=lambda each: -each.weight):
        points = f"−{rule.weight} each" if rule.weight else "0"
        if rule.most is not None:
            points += f", at most −{rule.most}"
        scope = "" if rule.python else " (any language)"
        rows.append(f"| `{rule.id}` | {points} | {rule.severity} | {rule.what}{scope} |")
    return "\n".join(rows)

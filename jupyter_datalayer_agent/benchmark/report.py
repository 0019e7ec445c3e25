"""Benchmark reports: shares with their intervals, as Markdown and JSON; two of them compared."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .item import Result

Z = 1.959964
"""Of a 95% interval."""


def interval(right: int, runs: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    if runs == 0:
        return 0.0, 1.0
    share = right / runs
    scale = 1 + Z**2 / runs
    middle = share + Z**2 / (2 * runs)
    width = Z * math.sqrt(share * (1 - share) / runs + Z**2 / (4 * runs**2))
    return max(0.0, (middle - width) / scale), min(1.0, (middle + width) / scale)


def report(
    results: Sequence[tuple[str, str, str, Result]],
    *,
    model: str | None,
    version: str,
    what: str = "cases",
) -> dict[str, Any]:
    """The report of runs: service, case, kind and result of each. Times in seconds. ``what``:
    cases or tasks."""
    services: dict[str, list[Result]] = defaultdict(list)
    kinds: dict[str, list[Result]] = defaultdict(list)
    cases: dict[str, list[Result]] = defaultdict(list)
    for service, case, kind, result in results:
        services[service].append(result)
        kinds[kind].append(result)
        cases[f"{service}/{case}"].append(result)
    return {
        "version": version,
        "model": model,
        "what": what,
        "total": _sums([result for *_, result in results]),
        "services": {name: _sums(each) for name, each in sorted(services.items())},
        "kinds": {name: _sums(each) for name, each in sorted(kinds.items())},
        "cases": {
            name: {**_sums(each), "problems": _problems(each)}
            for name, each in sorted(cases.items())
        },
    }


def _sums(results: Sequence[Result]) -> dict[str, Any]:
    right = sum(each.right for each in results)
    low, high = interval(right, len(results))
    costs = [each.cost for each in results if each.cost is not None]
    return {
        "runs": len(results),
        "right": right,
        "success": round(right / len(results), 4) if results else None,
        "interval": [round(low, 4), round(high, 4)],
        "proposed": sum(each.proposed for each in results),
        "offered": sum(each.offered for each in results),
        "wronglyProposed": sum(each.proposed and not each.right for each in results),
        "callsPerRun": round(sum(each.calls for each in results) / max(1, len(results)), 2),
        "tokensPerRun": round(sum(each.tokens for each in results) / max(1, len(results)), 1),
        "secondsPerRun": round(sum(each.seconds for each in results) / max(1, len(results)), 5),
        "cost": round(sum(costs), 6) if costs else None,
    }


def _problems(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys("; ".join(each.problems) for each in results if not each.right))


_CASES = (
    "Shares of runs in which all that a case expects was so, with 95% intervals (Wilson). "
    "Proposed: an action was proposed by the message alone; wrongly: it was not the right one. "
    "Offered: the user was asked which of up to three actions is meant; the case is right where "
    "the right one is among them, and a click on it finds the values."
)
_TASKS = (
    "Shares of runs in which a task's check found nothing wrong, with 95% intervals (Wilson). "
    "Calls are requests to the model."
)


def markdown(found: Mapping[str, Any]) -> str:
    """The report for readers."""
    tasks = found.get("what") == "tasks"
    row = _task_row if tasks else _row
    head = (
        f"Model: {found['model'] or 'none (matching alone)'}. Version {found['version']}. "
        f"{_TASKS if tasks else _CASES}"
    )
    if tasks:
        names = {name.partition("/")[2]: each for name, each in found["cases"].items()}
        first = _table(_TASK_HEAD.format("task"), names, row)
        kinds = _table(_TASK_HEAD.format("kind of task"), found["kinds"], row)
    else:
        first = _table(_HEAD.format("service"), found["services"], row)
        kinds = _table(_HEAD.format("kind of case"), found["kinds"], row)
    lines = [head, "", *first, row("**all**", found["total"]), "", *kinds, ""]
    wrong = {name: each for name, each in found["cases"].items() if each["problems"]}
    if wrong:
        lines += ["Not always right:", ""]
        lines += [
            f"- `{name}` ({each['right']} of {each['runs']}): {' / '.join(each['problems'])}"
            for name, each in wrong.items()
        ]
    return "\n".join(lines).rstrip() + "\n"


_HEAD = (
    "| {} | runs | right | 95% interval | proposed | wrongly | offered | calls | tokens "
    "| ms per run |"
)
_TASK_HEAD = "| {} | runs | right | 95% interval | calls | tokens | seconds per run |"


def _table(head: str, rows: Mapping[str, Any], row: Callable[[str, Any], str]) -> list[str]:
    ruler = "| " + " | ".join(["---"] * (head.count("|") - 1)) + " |"
    return [head, ruler, *(row(name, each) for name, each in rows.items())]


def _row(name: str, each: Mapping[str, Any]) -> str:
    return (
        f"{_share_of(name, each)} | {each['proposed']} | {each['wronglyProposed']} | "
        f"{each['offered']} | {each['callsPerRun']} | "
        f"{each['tokensPerRun']} | {each['secondsPerRun'] * 1000:.1f} |"
    )


def _task_row(name: str, each: Mapping[str, Any]) -> str:
    return (
        f"{_share_of(name, each)} | {each['callsPerRun']} | {each['tokensPerRun']:.0f} | "
        f"{each['secondsPerRun']:.1f} |"
    )


def _share_of(name: str, each: Mapping[str, Any]) -> str:
    low, high = each["interval"]
    return f"| {name} | {each['runs']} | {each['success']:.1%} | {low:.1%} to {high:.1%}"


def comparison(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Two reports side by side: by service, and the cases that became better or worse."""
    lines = ["| service | before | after |", "| --- | --- | --- |"]
    for name in sorted({*before["services"], *after["services"]}):
        shares = [each["services"].get(name, {}).get("success") for each in (before, after)]
        lines.append(f"| {name} | " + " | ".join(_share(each) for each in shares) + " |")
    shares = [each["total"]["success"] for each in (before, after)]
    lines.append("| **all** | " + " | ".join(_share(each) for each in shares) + " |")
    both = sorted(before["cases"].keys() & after["cases"].keys())
    for word, sign in (("Worse", -1), ("Better", 1)):
        changed = [
            f"- `{name}`: {_share(old)} → {_share(new)}"
            for name in both
            if (new := after["cases"][name]["success"] or 0) * sign
            > (old := before["cases"][name]["success"] or 0) * sign
        ]
        if changed:
            lines += ["", f"{word}:", "", *changed]
    return "\n".join(lines) + "\n"


def _share(share: float | None) -> str:
    return f"{share:.1%}" if share is not None else "-"

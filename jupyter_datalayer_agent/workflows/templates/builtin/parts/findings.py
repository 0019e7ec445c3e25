"""Findings in sentences. Every number here was computed in the notebook's kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .data import Column, Data
from .formatting import code, codes, count, listed, number, paragraph, percent

STRONG, MODERATE = 0.7, 0.4


def share_text(data: Data, rows: int) -> str:
    """``557 of 1,313 rows (42%)``"""
    return f"{rows:,} of {count(data.rows, 'row')} ({percent(data.share(rows))})"


def correlation_text(data: Data) -> str:
    """The strongest pairs, and redundant pairs."""
    pairs = data.survey["pairs"]
    if not pairs:
        return "The numbers have too few common values for correlations."
    strong = [pair for pair in pairs if abs(pair["r"]) >= STRONG]
    best = strong[:3] or [pair for pair in pairs if abs(pair["r"]) >= MODERATE][:2]
    if not best:
        top = pairs[0]
        return (
            f"No two columns are strongly correlated; the strongest correlation is between "
            f"{code(top['a'])} and {code(top['b'])} (r = {top['r']:.2f})."
        )
    named = [f"{code(p['a'])} and {code(p['b'])} (r = {p['r']:.2f})" for p in best]
    text = f"{'Strongly' if strong else 'Moderately'} correlated: {listed(named)}."
    same = [pair for pair in pairs if abs(pair["r"]) > 0.98]
    return paragraph(
        text,
        f"{count(len(same), 'pair')} above |r| = 0.98 {'is' if len(same) == 1 else 'are'} nearly "
        "redundant; a model needs one column of each."
        if same
        else "",
        "Correlation does not imply causation.",
    )


def distribution_text(data: Data, shown: Sequence[Column], groups: Sequence[Column]) -> str:
    """Skewed numbers and uneven groups."""
    right = [c.name for c in shown if c.about["skew"] > 1.5 and not c.is_discrete]
    left = [c.name for c in shown if c.about["skew"] < -1.5 and not c.is_discrete]
    logs = [c.name for c in shown if c.is_skewed]
    sentences = []
    if right:
        sentences.append(f"{codes(right)} {_has(right)} a long tail of large values.")
    if left:
        sentences.append(f"{codes(left)} {_has(left)} a long tail of small values.")
    if logs:
        sentences.append(f"The axis of {codes(logs)} is logarithmic.")
    heavy = [c.name for c in shown if c.is_heavy]
    if heavy:
        sentences.append(f"The number of rows is drawn on a logarithmic axis for {codes(heavy)}.")
    if shown and not sentences:
        sentences.append("None of the numbers is strongly skewed.")
    hidden = len(data.numbers) - len(shown)
    if hidden > 0 and shown:
        sentences.append(
            f"Of {len(data.numbers)} numeric columns the {len(shown)} most informative are shown."
        )
    lopsided = [c for c in groups if c.top and c.top[0][1] > 0.75 * (data.rows - c.missing)]
    for column in lopsided[:2]:
        value, rows = column.top[0]
        sentences.append(
            f"{code(column.name)} is mostly {code(value)} "
            f"({percent(rows / max(1, data.rows - column.missing))} of its values)."
        )
    return " ".join(sentences) or "How often each value occurs."


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def outlier_text(data: Data, explained: bool = True) -> str:
    """Values outside Tukey's fences; ``explained`` adds what that means."""
    found = [
        each
        for each in data.survey["outliers"]
        if each["count"] and not data[each["name"]].is_discrete
    ]
    rule = (
        "Outliers are taken to be values more than 1.5 interquartile ranges outside the quartiles."
    )
    if not found:
        return f"{rule} There are none."
    top = found[0]
    more = [f"{code(each['name'])} ({percent(each['share'])})" for each in found[1:4]]
    return paragraph(
        rule if explained else "Outliers:",
        f"{code(top['name'])} has the most, {count(top['count'], 'value')} "
        f"({percent(top['share'])})" + (f", then {listed(more)}." if more else "."),
        "Such values need a look before they are dropped: in skewed columns many are genuine."
        if explained
        else "",
    )


def group_text(best: dict[str, Any]) -> str:
    """How a number differs between groups."""
    eta = best["eta"]
    strength = "a large part" if eta >= 0.25 else "a part" if eta >= 0.1 else "a small part"
    if eta >= 0.5:
        strength = "most"
    value = percent if best["flag"] else number
    measure = "share" if best["flag"] else "median"
    low, high = best["low"], best["high"]
    lowest = "in several groups" if best["ties"] > 1 else f"in {code(low[0])}"
    return (
        f"{code(best['number'])} differs between the groups of {code(best['category'])}: the "
        f"{measure} is highest in {code(high[0])} ({value(high[1])}) and lowest {lowest} "
        f"({value(low[1])}). The groups explain {strength} of its variance "
        f"({percent(eta)})."
    )


def course_text(data: Data, columns: Sequence[Column]) -> str:
    """The time span, and the trend of each number."""
    time = data.survey["time"]
    unit = time["word"]
    span = f"{code(time['date'])} runs from {time['from']} to {time['to']}."
    if not columns:
        when, rows = time["busiest"]
        return f"{span} The {unit} with the most rows is {when[:10]} ({count(rows, 'row')})."
    found = {each["name"]: each for each in time["courses"]}
    sentences = []
    for column in columns[:2]:
        line = found[column.name]
        sentences.append(
            f"{_mean(time)}{code(column.name)} is highest in {_when(line['high'][0])} "
            f"({number(line['high'][1])}) and lowest in {_when(line['low'][0])} "
            f"({number(line['low'][1])})."
        )
    return paragraph(span, *sentences)


def _mean(time: dict[str, Any]) -> str:
    averaged = time["rule"] is not None or time["per_period"] > 1
    return f"The mean per {time['word']} of " if averaged else ""


def _when(text: str) -> str:
    """A period as pandas writes it (2012-01, 2012-01-02/2012-01-08, 2012-01-01 00:00:00)."""
    if "/" in text:
        return f"the week of {text.split('/')[0][:10]}"
    return text.removesuffix(" 00:00:00")


def relation_text(pair: dict[str, Any]) -> str:
    """How two numbers are related."""
    size = abs(pair["r"])
    how = "closely" if size >= STRONG else "moderately" if size >= MODERATE else "loosely"
    course = "rise together" if pair["r"] > 0 else "run against one another"
    return (
        f"{code(pair['a'])} and {code(pair['b'])} {course}, {how} (r = {pair['r']:.2f}): a "
        f"straight line explains {percent(pair['r'] ** 2)} of the variance."
    )

"""Plots as SVG text, for the documentation: readable in both themes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 60, 210, 40, 50
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f",
    "#9467bd", "#bcbd22",
)  # fmt: skip


def lines(
    title: str,
    xs: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    goal: float | None = None,
    linear: bool = False,
) -> str:
    """A line for each of ``series`` (ms) over ``xs``; ``goal`` is drawn as a dashed line. Both axes
    are logarithmic, or ``linear`` and from 0."""
    values = [value for ys in series.values() for value in ys] + ([goal] if goal else [])
    if linear:
        step = 10.0 if max(values) <= 100 else 50.0
        high = step * math.ceil(max(values) / step)
        ticks = [step * number for number in range(round(high / step) + 1)]
    else:
        low = 10 ** math.floor(math.log10(min(values)))
        high = 10 ** math.ceil(math.log10(max(values)))
        ticks = [low * 10**number for number in range(round(math.log10(high / low)) + 1)]

    def x(value: float) -> float:
        share = math.log(value / xs[0]) / math.log(xs[-1] / xs[0])
        if linear:
            share = (value - xs[0]) / (xs[-1] - xs[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        share = value / high if linear else math.log(max(value, low) / low) / math.log(high / low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="22" font-size="14" fill="#222">{escape(title)}</text>',
    ]
    for tick in ticks:
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" '
            f'stroke="#ddd"/><text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end" '
            f'fill="#444">{tick:g}</text>'
        )
    for value in xs[:: max(1, len(xs) // 10)]:
        parts.append(
            f'<text x="{x(value):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" '
            f'fill="#444">{value:,}</text>'
        )
    if goal is not None:
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(goal):.1f}" y2="{y(goal):.1f}" '
            f'stroke="#444" stroke-dasharray="6 4"/><text x="{WIDTH - RIGHT + 6}" '
            f'y="{y(goal) + 4:.1f}" fill="#444">aimed at: {goal:g} ms</text>'
        )
    for number, (name, ys) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(xs, ys, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += [
            f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour}"/>'
            for a, b in zip(xs, ys, strict=True)
        ]
        row = HEIGHT - BOTTOM - 16 * (len(series) - 1 - number)
        parts.append(
            f'<rect x="{WIDTH - RIGHT + 12}" y="{row - 9}" width="10" height="10" '
            f'fill="{colour}"/><text x="{WIDTH - RIGHT + 28}" y="{row}" fill="#222">'
            f"{escape(name)}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"

"""Text for readers and for code: numbers, lists, names of columns, literals."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 88
UNITS = {
    "mm", "cm", "km", "kg", "lb", "lbs", "mph", "kmh", "usd", "eur", "pct", "percent",
}  # fmt: skip


def number(value: float | int | None) -> str:
    """A number with the digits that a reader needs: 12,345 · 3.46 · 0.0012."""
    if value is None:
        return "–"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    size = abs(value)
    if size >= 1e15 or size < 1e-4:
        return f"{value:.2e}"
    if size >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.{2 if size >= 1 else 4}f}" if size < 100 else f"{value:.1f}"
    if size < 1:
        text = f"{value:.3g}"
    return text


def percent(share: float) -> str:
    """A share from 0 to 1 as a percentage: 12%, 0.4%, under 0.1%."""
    value = 100 * share
    if 0 < value < 0.1:
        return "under 0.1%"
    if 99.5 <= value < 100:
        return "over 99%"
    return f"{value:.1f}%" if value < 10 and round(value, 1) != round(value) else f"{value:.0f}%"


def count(amount: int, noun: str, plural: str | None = None) -> str:
    """``1 row``, ``1,200 rows``."""
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"


def listed(items: Iterable[str], limit: int = 8) -> str:
    """``a, b and c``; beyond the limit ``and 5 more``."""
    names = list(items)
    if len(names) > limit:
        names = [*names[: limit - 1], f"{len(names) - limit + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def code(name: str) -> str:
    """A column's name, or a value, in a Markdown text. Its line breaks become spaces."""
    flat = " ".join(name.split()) or " "
    if len(flat) > 60:
        flat = flat[:59] + "…"
    fence = "``" if "`" in flat else "`"
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def codes(names: Iterable[str], limit: int = 8) -> str:
    """Names of columns, listed."""
    all_names = list(names)
    shown = [code(name) for name in all_names]
    return listed(shown, limit)


def label(name: str) -> str:
    """A column's name as an axis label: ``bill_length_mm`` → Bill length (mm)."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", " ", name)
    words = spaced.replace("_", " ").split()
    if not words:
        return "(no name)"
    if len(words) > 1 and words[-1].lower() in UNITS:
        words[-1] = f"({words[-1].lower()})"
    if spaced != name:
        words = [words[0], *(w.lower() if w.istitle() else w for w in words[1:])]
    text = " ".join(words)
    if text[0].islower():
        text = text[0].upper() + text[1:]
    return text if len(text) <= 40 else text[:39] + "…"


def literal(value: object) -> str:
    """Python source of a value, with double quotes where that is possible."""
    text = repr(value)
    if isinstance(value, str) and text.startswith("'") and '"' not in value:
        return '"' + text[1:-1].replace("\\'", "'") + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return text


def call(start: str, arguments: Sequence[str], end: str = ")", indent: int = 0) -> str:
    """``start(arguments)`` as ruff lays it out at this indentation; ``start`` has its bracket."""
    line = ", ".join(arguments)
    if "\n" not in line and len(start) + len(line) + len(end) + indent <= WIDTH:
        return f"{start}{line}{end}"
    if "\n" not in line and len(line) + indent + 4 <= WIDTH:
        return f"{start}\n    {line}\n{end}"
    return f"{start}\n" + "".join(f"    {each},\n" for each in arguments) + end


def names_list(start: str, names: Iterable[str], end: str = "") -> str:
    """``start["a", "b"]end``, wrapped one name a line if too long."""
    items = [literal(name) for name in names]
    line = f"{start}[{', '.join(items)}]{end}"
    if len(line) <= WIDTH:
        return line
    return f"{start}[\n" + "".join(f"    {each},\n" for each in items) + f"]{end}"


def names_map(start: str, entries: Iterable[tuple[str, str]]) -> str:
    """``start{"a": "A"}``, wrapped one entry a line if too long."""
    items = [f"{literal(key)}: {literal(value)}" for key, value in entries]
    line = f"{start}{{{', '.join(items)}}}"
    if len(line) <= WIDTH:
        return line
    return f"{start}{{\n" + "".join(f"    {each},\n" for each in items) + "}"


def source(text: str, **values: str) -> str:
    """A cell's source: the text without its indentation, ``<<name>>`` replaced by the values.

    A value of several lines keeps the indentation of its name's line; a line that
    holds nothing but the name of an empty value is left out.
    """
    lines = []
    for line in textwrap.dedent(text).strip("\n").split("\n"):
        alone = re.fullmatch(r"\s*<<(\w+)>>", line)
        if alone and not values[alone[1]]:
            continue
        indent = re.match(r"\s*", line)
        space = indent[0] if indent else ""
        for name, value in values.items():
            line = line.replace(f"<<{name}>>", value.replace("\n", "\n" + space))
        lines.append(line)
    return "\n".join(lines)


def paragraph(*sentences: str) -> str:
    """Sentences in one paragraph; empty ones are left out."""
    return " ".join(sentence for sentence in sentences if sentence)


def bullets(items: Iterable[str]) -> str:
    """A Markdown list; empty items are left out."""
    return "\n".join(f"- {item}" for item in items if item)

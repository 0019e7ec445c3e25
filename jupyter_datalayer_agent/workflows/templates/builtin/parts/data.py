"""The data as the probe found it: its columns by kind, and the survey's figures.

``facts["data"]`` and ``facts["survey"]`` hold what the kernel answered; this reads them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Text for readers and for code: numbers, lists, names of columns, literals.


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


COORDINATES = (("latitude", "longitude"), ("lat", "lng"), ("lat", "lon"), ("lat", "long"))


@dataclass(frozen=True)
class Column:
    """One column. ``kind`` is number, boolean, category, label (many short texts), text, date, id,
    constant, empty, mixed or nested; ``about`` has the figures of that kind."""

    name: str
    kind: str
    missing: int
    unique: int
    about: dict[str, Any]

    @property
    def label(self) -> str:
        return label(self.name)

    @property
    def is_year(self) -> bool:
        return bool(self.about.get("year"))

    @property
    def is_discrete(self) -> bool:
        """Few distinct whole numbers: each has its bar."""
        return bool(self.about.get("whole")) and self.unique <= 15 and self.span <= 40

    @property
    def span(self) -> float:
        return float(self.about["max"]) - float(self.about["min"])

    @property
    def is_skewed(self) -> bool:
        """Positive and with a long tail to the right: a logarithmic axis shows more."""
        low, high, skew = self.about["min"], self.about["max"], self.about["skew"]
        return bool(low > 0 and skew > 2 and high / low >= 50 and not self.is_discrete)

    @property
    def is_heavy(self) -> bool:
        """A long tail of values that have no logarithm, since they are not positive."""
        return abs(self.about["skew"]) > 5 and not self.is_skewed and not self.is_discrete

    @property
    def is_even(self) -> bool:
        """Many groups of equal size: a plot of the largest would be arbitrary."""
        top = self.top
        return self.unique > len(top) > 1 and top[0][1] <= 1.1 * top[-1][1]

    @property
    def top(self) -> list[tuple[str, int]]:
        """The ten most frequent values."""
        return [(text, rows) for text, rows in self.about.get("top", [])]


class Data:
    """All columns, and the selections that a notebook uses."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts["data"]
        self.survey: dict[str, Any] = facts.get("survey") or {}
        self.rows: int = self.facts["rows"]
        self.columns = [
            Column(each["name"], each["kind"], each["missing"], each["unique"] or 0, each)
            for each in self.facts["columns"]
        ]

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def of(self, *kinds: str) -> list[Column]:
        """The columns of these kinds, in their order."""
        return [column for column in self.columns if column.kind in kinds]

    @cached_property
    def date(self) -> Column | None:
        """The time column: the requested one, else a date, else a year."""
        name = self.facts.get("dateColumn")
        if name is not None:
            return self[name]
        dates = self.of("date")
        # The fullest and most varied of several.
        best = max(dates, key=lambda c: c.unique - c.missing, default=None)
        return best or next((c for c in self.of("number") if c.is_year), None)

    @property
    def target(self) -> Column | None:
        name = self.facts.get("target")
        return None if name is None else self[name]

    @cached_property
    def numbers(self) -> list[Column]:
        """Measured numbers: no ids, years or coordinates."""
        places = self.coordinates or ()
        return [c for c in self.of("number") if not c.is_year and c not in places]

    @cached_property
    def coordinates(self) -> tuple[Column, Column] | None:
        """Columns of latitude and longitude in degrees, by their names and ranges."""
        named = {column.name.lower(): column for column in self.of("number")}
        for north, east in COORDINATES:
            if north in named and east in named:
                latitude, longitude = named[north].about, named[east].about
                fits = -90 <= latitude["min"] <= latitude["max"] <= 90
                if fits and -180 <= longitude["min"] <= longitude["max"] <= 360:
                    return named[north], named[east]
        return None

    @cached_property
    def categories(self) -> list[Column]:
        """Columns whose values form groups."""
        return [column for column in self.of("category", "boolean") if column.unique >= 2]

    @property
    def flags(self) -> list[Column]:
        """Columns of 0 and 1, or of false and true, whose mean is a share."""
        return [c for c in self.categories if c.about.get("flag") or c.about["dtype"] == "bool"]

    @property
    def incomplete(self) -> list[Column]:
        """Columns with missing values, the emptiest first."""
        found = [column for column in self.columns if column.missing]
        return sorted(found, key=lambda column: -column.missing)

    @property
    def shown(self) -> list[Column]:
        """The numbers to plot: the most informative of many."""
        names = self.survey.get("shown", [])
        return [column for column in self.numbers if column.name in names]

    def share(self, rows: int) -> float:
        return rows / self.rows if self.rows else 0.0

"""The data as the probe found it: its columns by kind, and the survey's figures.

``facts["data"]`` and ``facts["survey"]`` hold what the kernel answered; this reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .formatting import label

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

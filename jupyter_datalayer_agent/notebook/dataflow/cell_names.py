"""The names of one code cell."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Later:
    """What a function (or the methods of a class) does to global names each time it is called.

    ``parameters`` are those that it changes in place, by name and by place.
    """

    uses: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    parameters: set[str | int] = field(default_factory=set)


@dataclass
class Call:
    """A call of a named function with names as arguments: ``{place or keyword: name}``."""

    function: str
    arguments: dict[str | int, str]


@dataclass
class CellNames:
    """The names of one cell, at its outermost level.

    ``defines``: bound here (``maybe``: only on some paths through the cell). ``uses``: read before
    it binds them itself, builtins among them. ``mutates``: changed in place. ``deletes``: removed.
    ``star``: it may define names that the source does not show. ``opaque``: it could not be parsed,
    and every identifier in it counts.
    """

    defines: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    deletes: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    star: bool = False
    opaque: bool = False
    # Also for the graph: functions defined here, their aliases, calls of other cells' functions,
    # methods whose object may be a library, and the order.
    later: dict[str, Later] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)
    also: dict[str, tuple[str, bool]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    library_mutates: set[str] = field(default_factory=set)
    used_at: dict[str, int] = field(default_factory=dict)
    bound_at: dict[str, int] = field(default_factory=dict)

"""Tracks the names of a cell during a walk: used, bound, changed in place."""

from __future__ import annotations

from typing import Literal

from .cell_names import CellNames, Later

# Functions through which a cell may define any name.
_DYNAMIC = frozenset({"exec", "eval", "globals"})


class Frame:
    """The names of a scope within the cell. A class's are not seen by its methods."""

    def __init__(
        self, names: set[str], kind: Literal["function", "class", "comprehension"] = "function"
    ) -> None:
        self.names = names
        self.kind = kind
        self.declared_global: set[str] = set()


class ScopeTracker:
    """Tracks the scopes of a walk, and records in ``out`` what it does to names.

    ``later`` is set inside a function, whose body runs when it is called.
    """

    def __init__(self) -> None:
        self.out = CellNames()
        self.frames: list[Frame] = []
        self.bound: set[str] = set()
        self.later: Later | None = None
        self.parameters: dict[str, list[str | int]] = {}
        self.tick = 0

    def use(self, name: str) -> None:
        """A name is read."""
        if self._local(name):
            return
        if self.later is not None:
            self.later.uses.add(name)
            return
        self.tick += 1
        self.out.used_at.setdefault(name, self.tick)
        if name in _DYNAMIC:
            self.out.star = True
        if name not in self.bound:
            self.out.uses.add(name)
        later = self.out.later.get(name)
        if later is not None and name in self.bound | self.out.maybe:
            self._called(later, {name})

    def _called(self, later: Later, seen: set[str]) -> None:
        """A function that this cell defines is (or may be) called here."""
        for name in sorted(later.uses - seen):
            if name not in self.bound:
                self.out.uses.add(name)
            inner = self.out.later.get(name)
            if inner is not None:
                self._called(inner, seen | {name})
        for name in later.mutates:
            self._mutated(name)

    def bind(self, name: str) -> None:
        """A name gets a value."""
        frame = self._scope()
        if frame is not None and name not in frame.declared_global:
            frame.names.add(name)
            return
        if self.later is not None:
            self.later.mutates.add(name)
            return
        self.tick += 1
        self.bound.add(name)
        self.out.bound_at.setdefault(name, self.tick)
        self.out.later.pop(name, None)
        self.out.also.pop(name, None)
        self.out.imports.discard(name)
        self.out.classes.discard(name)

    def mutate(self, name: str) -> None:
        """The value of a name is changed in place."""
        if self._local(name):
            if self.later is not None:
                self.later.parameters.update(self.parameters.get(name, []))
            return
        self.use(name)
        if self.later is not None:
            self.later.mutates.add(name)
        else:
            self._mutated(name)

    def _mutated(self, name: str) -> None:
        if name not in self.bound:
            self.out.uses.add(name)
            self.out.mutates.add(name)

    def _local(self, name: str) -> bool:
        innermost = True
        for frame in reversed(self.frames):
            if name in frame.declared_global:
                return False
            if name in frame.names and (innermost or frame.kind != "class"):
                return True
            innermost = False
        return False

    def _scope(self) -> Frame | None:
        return self.frames[-1] if self.frames else None

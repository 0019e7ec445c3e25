"""The values that the notebook's other cells give a name: imports, constants, paths."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence

from .parsing import parsed
from .values import Values

# If more cells assign a name, only the last of them are read.
_MOST_CELLS = 12
_LONGEST = 200_000
# A loop, a ``with … as``, a function, an import (in separate lines, too), an assignment.
_GIVING = (
    re.compile(r"\b(?:as|for|def|class|import)\s[^\n]*"),
    re.compile(r"\bimport \([^)]*"),
    re.compile(r"(?<![ \t,\w\[\]():])[ \t,\w\[\]():]+="),
)


class OtherCells:
    """The other cells of one notebook; each is parsed when a name is looked up that it may
    assign."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = [each for each in sources if len(each) < _LONGEST]
        self._stars = [each for each in self._sources if "import *" in each]
        self._read: dict[str, Values | None] = {}
        self._parts: dict[str, str] = {}

    def giving(self, name: str) -> list[Values]:
        """The cells that may assign the name."""
        if not self._sources or hasattr(builtins, name):
            return []
        word = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
        found = [
            each for each in self._sources if name in each and word.search(self._giving_part(each))
        ]
        sources = dict.fromkeys([*found[-_MOST_CELLS:], *self._stars[:_MOST_CELLS]])
        return [values for each in sources if (values := self._values(each)) is not None]

    def _giving_part(self, source: str) -> str:
        """What of a source may give names, one after the other."""
        if source not in self._parts:
            # With the character before, which says whether the first name is an attribute.
            self._parts[source] = "\n".join(
                source[max(0, match.start() - 1) : match.end()]
                for pattern in _GIVING
                for match in pattern.finditer(source)
            )
        return self._parts[source]

    def _values(self, source: str) -> Values | None:
        if source not in self._read:
            tree = parsed(source)[0]
            self._read[source] = None if tree is None else Values(tree, self.giving)
        return self._read[source]

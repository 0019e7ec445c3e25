"""Parsed documents that were read last, bounded by number and size.

Whoever uses it reads a file's text each time, and takes the parsed form only where the text is the
one that it was parsed from: never a stale one, whoever wrote the file.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from ..protocol.renames import Rename

T = TypeVar("T")

MOST_DOCUMENTS = 4
MOST_CHARACTERS = 32_000_000


class RecentDocuments(Generic[T]):
    """By path; the one that was used last stays, whatever its size."""

    def __init__(self, most: int = MOST_DOCUMENTS, characters: int = MOST_CHARACTERS) -> None:
        self._most = most
        self._characters = characters
        self._known: OrderedDict[str, tuple[T, int]] = OrderedDict()

    def get(self, path: str) -> T | None:
        """The parsed document; the caller compares its text."""
        found = self._known.get(path)
        if found is None:
            return None
        self._known.move_to_end(path)
        return found[0]

    def keep(self, path: str, parsed: T, size: int) -> None:
        """Keep a document of so many characters; the oldest ones go."""
        self._known[path] = (parsed, size)
        self._known.move_to_end(path)
        while len(self._known) > 1 and (
            len(self._known) > self._most
            or sum(each for _, each in self._known.values()) > self._characters
        ):
            self._known.popitem(last=False)

    def renamed(self, rename: Rename) -> None:
        """Forget the documents that a rename concerns; they are parsed again."""
        for path in [path for path in self._known if rename.concerns(path)]:
            self.drop(path)

    def drop(self, path: str) -> None:
        """Forget a document."""
        self._known.pop(path, None)

"""A renamed file or folder, and what becomes of paths that were noted before. Moving a file to
another folder is a rename, too."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

V = TypeVar("V")

_PATHS = frozenset(
    ["path", "paths", "notebook", "activeNotebook", "target", "files", "failedCells"]
)
"""The keys under which the JSON of ops, plans, settings, changes and events holds paths."""


@dataclass(frozen=True)
class Rename:
    """What was at the API path ``old`` is at ``new``, with all that is in it if it is a folder;
    ``new`` is empty where it was deleted. ``at`` is when that was noted, in ms since 1970: no two
    renames that one server notes have the same."""

    old: str
    new: str
    at: int = field(default=0, compare=False)

    @property
    def is_deletion(self) -> bool:
        """Whether what was at ``old`` is nowhere now."""
        return not self.new

    def affects(self, path: str) -> bool:
        """Whether this is the renamed path, or lies in the renamed folder."""
        return path == self.old or path.startswith(f"{self.old}/")

    def replaces(self, path: str) -> bool:
        """Whether what was at this path before is gone: something else has its name now."""
        return not self.is_deletion and (path == self.new or path.startswith(f"{self.new}/"))

    def concerns(self, path: str) -> bool:
        """Whether the path means something else after the rename."""
        return self.affects(path) or self.replaces(path)

    def path(self, path: str) -> str:
        """The path as it is after the rename; what was deleted keeps the one that it had."""
        if self.is_deletion or not self.affects(path):
            return path
        return self.new + path[len(self.old) :]

    def optional(self, path: str | None) -> str | None:
        """``path``, where there may be none."""
        return None if path is None else self.path(path)

    def paths(self, paths: Iterable[str]) -> list[str]:
        """``path`` of each."""
        return [self.path(each) for each in paths]

    def rekey(self, mapping: MutableMapping[str, V]) -> bool:
        """Rename the keys of a mapping by path; what was kept of a replaced document goes. Whether
        any key changed."""
        found = {key: mapping.pop(key) for key in list(mapping) if self.affects(key)}
        for key in [key for key in mapping if found and self.replaces(key)]:
            del mapping[key]
        mapping.update({self.path(key): value for key, value in found.items()})
        return bool(found)

    def rekey_parts(self, mapping: MutableMapping[tuple[str, str], V]) -> None:
        """``rekey`` for keys of a path and a cell's id."""
        found = {key: mapping.pop(key) for key in list(mapping) if self.affects(key[0])}
        for key in [key for key in mapping if found and self.replaces(key[0])]:
            del mapping[key]
        mapping.update({(self.path(path), part): value for (path, part), value in found.items()})

    @staticmethod
    def newer_paths(path: str, renames: Sequence[Rename]) -> list[str]:
        """Where the document may be that was last known by this path, before some of these
        ``renames`` (all that are known, in order), the likeliest first; none where it was deleted,
        or where another document was renamed to this path since."""
        found: list[str] = []
        for index in range(len(renames) - 1, -1, -1):
            rename = renames[index]
            if rename.replaces(path) or (rename.is_deletion and rename.affects(path)):
                break
            if rename.affects(path):
                now = _followed(path, renames[index:])
                if now is not None and now != path and now not in found:
                    found.append(now)
        return found

    def in_json(self, value: Any) -> Any:
        """JSON of ours with every path in it as it is after the rename."""
        if isinstance(value, list):
            return [self.in_json(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self._under(each) if key in _PATHS else self.in_json(each)
            for key, each in value.items()
        }

    def _under(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.path(value)
        if isinstance(value, list):
            return [self._under(each) for each in value]
        if isinstance(value, dict):
            return {self.path(key): self.in_json(each) for key, each in value.items()}
        return value


def _followed(path: str, renames: Iterable[Rename]) -> str | None:
    """Where a document is after these renames; None if it was deleted, or replaced by another."""
    for rename in renames:
        if rename.affects(path):
            if rename.is_deletion:
                return None
            path = rename.path(path)
        elif rename.replaces(path):
            return None
    return path

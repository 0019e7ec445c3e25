"""Where code would run: the folder that its paths are relative to, and which files are there."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

# Marks a part of a path that is only known when the code runs.
WILD = "\0"
# Marks a path in a temporary folder that the code creates.
FRESH = "\1"
_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "NUL", "nul"})

Target = Literal["new", "there", "unknown", "remote"]


@dataclass(frozen=True)
class Place:
    """What is known of where code would run.

    ``folder`` is the kernel's working folder on this machine, None if unknown; ``language`` the
    kernel's, in lower case; ``cells`` the sources of the notebook's other cells, which import names
    and give them values. ``is_watched``: a guard asks about what it sees while the code runs.
    """

    folder: str | None = None
    language: str = "python"
    cells: Sequence[str] = ()
    is_watched: bool = False

    def look(self, path: str, folders: Sequence[str | None] = ()) -> Target:
        """What exists at a path to be written: nothing, a file, another machine, or unknown.

        ``folders`` are those that the code changes to; None is an unknown one.
        """
        if scheme := _SCHEME.match(path):
            if scheme[1].lower() != "file":
                return "remote"
            path = unquote(urlsplit(path).path)
        if path in _NOWHERE or FRESH in path:
            return "new"
        if not path.strip(WILD) or path.startswith(WILD):
            return "unknown"
        path = os.path.expanduser(path)
        if os.path.isabs(path):
            return _meets(path)
        bases = [self.folder, *(self._below(each) for each in folders)]
        found = ["unknown" if each is None else _meets(os.path.join(each, path)) for each in bases]
        return next((each for each in ("there", "unknown") if each in found), "new")

    def _below(self, folder: str | None) -> str | None:
        if folder is None or WILD in folder:
            return None
        folder = os.path.expanduser(folder)
        return (
            folder if os.path.isabs(folder) else self.folder and os.path.join(self.folder, folder)
        )


def _meets(path: str) -> Target:
    try:
        if WILD not in path:
            return "there" if os.path.lexists(path) else "new"
        pattern = "*".join(glob.escape(part) for part in re.split(f"{WILD}+", path))
        return "there" if next(glob.iglob(pattern), None) is not None else "new"
    except (OSError, ValueError):
        return "unknown"

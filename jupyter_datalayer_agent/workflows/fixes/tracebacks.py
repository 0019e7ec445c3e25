"""Where a cell failed, from IPython's traceback."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# ``Cell In[3], line 2``; before IPython 8.? ``Input In [3], in <cell line: 2>()``; ipykernel's own
# names for cells are files under a temporary folder.
_CELL = re.compile(
    r"^(?:Cell In ?|Input In ?|<ipython-input-)[\[-]?\d+\]?[^\n]*?line:? (\d+)", re.M
)
_FRAME = re.compile(
    r"^(?:(?P<cell>Cell In ?\[|Input In ?\[|<ipython-input-|File [^\n]*ipykernel_\d+)"
    r"|File (?P<file>[^\n]+?)(?::\d+|, line \d+|, in )|(?P<bare>[~/][^\n]*\.py) in )",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Where:
    """The place of a failure. ``line`` (from 1) is that of the cell itself, the outermost frame;
    ``file`` the file of the innermost frame, None if that is a cell."""

    line: int | None
    file: str | None


def plain(traceback: Sequence[str]) -> str:
    """A traceback as text without colours."""
    return _ANSI.sub("", "\n".join(traceback))


def where(traceback: Sequence[str]) -> Where:
    """Parse a traceback; ``Where(None, None)`` if it is not recognised."""
    text = plain(traceback)
    cell = _CELL.search(text)
    frames = list(_FRAME.finditer(text))
    last = frames[-1] if frames else None
    file = None
    if last is not None and not last["cell"]:
        file = last["file"] or last["bare"]
        # ``%%time`` and its like run the cell as <timed exec>.
        file = None if file.startswith("<") else file
    return Where(int(cell[1]) if cell else None, file)

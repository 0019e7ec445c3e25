"""The Python files in a kernel's folder that code imports or runs: where no guard watches what they
do, their text is looked at as the code's own.

A file counts where its name is a word of the code: without parsing, so that no way of writing an
import, ``%run`` or ``exec`` hides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...opening import read
from .python import words

# Of more, or of longer ones, the rest is not read: such a file asks, whatever it does.
MOST_FILES = 200
MOST_BYTES = 1_000_000
DEEPEST = 4


def local_modules(sources: Sequence[str], folder: str | None) -> Iterator[tuple[str, str | None]]:
    """The files (name, text) in ``folder`` that these sources name, and those that these name; the
    text is None of one that is not read."""
    if folder is None:
        return
    left = [*sources]
    done: set[Path] = set()
    while left:
        for file in _files(Path(folder), words(left.pop())):
            if file in done:
                continue
            done.add(file)
            text = None if len(done) > MOST_FILES else _text(file)
            yield file.relative_to(folder).as_posix(), text
            left += [text] if text else []


def _files(folder: Path, used: set[str], depth: int = DEEPEST) -> Iterator[Path]:
    """The modules of the folder, and of its packages, that these words name."""
    for name in sorted(used):
        if (file := folder / f"{name}.py").is_file():
            yield file
        if depth and (folder / name).is_dir():
            yield from _files(folder / name, {*used, "__init__"}, depth - 1)


def _text(file: Path) -> str | None:
    try:
        return read(file, MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None

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


def _files(folder: Path, used: set[str]) -> Iterator[Path]:
    """The modules of the folder, and of its packages, that these words name."""
    # Each folder once: links that lead back would multiply them.
    level, visited = [(folder, used)], {folder.resolve()}
    for _ in range(DEEPEST + 1):
        below: list[tuple[Path, set[str]]] = []
        for inside, names in level:
            for name in sorted(names):
                if (file := inside / f"{name}.py").is_file():
                    yield file
                package = inside / name
                if package.is_dir() and (real := package.resolve()) not in visited:
                    visited.add(real)
                    below.append((package, {*used, "__init__"}))
        level = below


def _text(file: Path) -> str | None:
    try:
        return read(file, MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None

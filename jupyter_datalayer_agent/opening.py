"""Opening files that somebody else may have put where they are: with a repository, in a shared
folder, by code of a notebook.

A check of a path before it is opened holds for another file than the one that is opened, if that is
replaced in between. So what was opened is checked: that it is a regular file, and where it really
is. Nothing here waits: a FIFO that nobody writes to is refused, not read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
)
_OF_THE_SYSTEM = ("/proc/", "/sys/", "/dev/fd/")
"""Their files look regular and hold, for example, the environment of a process."""


class NotRead(OSError):
    """Why a file is not read, as it continues its name: ``is not a regular file``."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.strerror = why


@dataclass(frozen=True)
class OpenedFile:
    """An open regular file. ``real`` is where it is, without links."""

    file: BinaryIO
    real: str
    status: os.stat_result

    def read(self, most: int) -> bytes:
        """At most so many bytes from here on."""
        return self.file.read(most)


@contextmanager
def opened(path: str | os.PathLike[str], root: str | None = None) -> Iterator[OpenedFile]:
    """Open a regular file for reading; with a ``root``, only one that is in that directory, links
    followed. Raises ``OSError``, of which ``NotRead`` says why the file is refused."""
    # A device may act when it is opened.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise NotRead("is not a regular file")
    number = os.open(path, _FLAGS)
    with open(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise NotRead("is not a regular file")
        real = _real(number, path, status)
        if root is not None and not is_inside(real, root):
            raise NotRead("is a link that leads out of the server's root directory")
        if real.startswith(_OF_THE_SYSTEM):
            raise NotRead("is a file of the system, not of a disk")
        yield OpenedFile(file, real, status)


def read(path: str | os.PathLike[str], most: int, root: str | None = None) -> bytes:
    """All bytes of a file that ``opened`` opens. Raises ``OSError``, ``NotRead`` for one that has
    more than ``most``."""
    with opened(path, root) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise NotRead(f"has more than {most:,} bytes; at most {most:,} are read")
    return data


def check_place(path: str | os.PathLike[str], root: str) -> None:
    """Raise ``OSError`` where a file that is written to this path would not become a regular file
    in the directory ``root``, links followed; ``NotRead`` says why. There need not be one yet."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise NotRead("is not a regular file")
    except FileNotFoundError:
        pass
    if not is_inside(os.path.realpath(path), root):
        raise NotRead("is a link that leads out of the server's root directory")


def is_file_of(root: str, entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a directory in ``root`` is a regular file there, links followed."""
    try:
        return entry.is_file() and (
            not entry.is_symlink() or is_inside(os.path.realpath(entry.path), root)
        )
    except OSError:  # a link to itself
        return False


def is_inside(real: str, root: str) -> bool:
    """Whether a path without links is the directory ``root`` or in it."""
    path, directory = Path(real), Path(os.path.realpath(root))
    return path == directory or directory in path.parents


def _real(number: int, path: str | os.PathLike[str], status: os.stat_result) -> str:
    """Where the open file is. Linux says it of the file itself; elsewhere the path's links are
    followed, and what they lead to must be the file that was opened."""
    try:
        real = os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        real = os.path.realpath(path)
    try:
        found = os.stat(real, follow_symlinks=False)
    except OSError:
        found = None
    if found is None or (found.st_dev, found.st_ino) != (status.st_dev, status.st_ino):
        raise NotRead("was replaced while it was opened: try again")
    return real

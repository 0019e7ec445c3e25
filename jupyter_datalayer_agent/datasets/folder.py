"""``.datalayer/datasets/`` under the server root: where data sets are, and uploads come in."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Collection
from pathlib import Path

from ..protocol.errors import AgentError
from .names import numbered

PLACE = (".datalayer", "datasets")
INCOMING = ".incoming"
SUFFIX = ".parquet"
_ABANDONED_SECONDS = 24 * 3600


class DatasetFolder:
    """The folder of one server root. No folder on the way may be a link, which could lead
    outside."""

    def __init__(self, root_dir: str) -> None:
        self.root = Path(os.path.realpath(root_dir))
        self._host = "".join(c for c in socket.gethostname() if c.isalnum())[:40] or "host"
        self._mine: set[str] = set()

    def open(self) -> Path:
        """The folder, created if missing. Raises ``AgentError`` ``forbidden`` for a link."""
        return self._inside(self.root, *PLACE)

    def new_work(self) -> Path:
        """A new folder for one upload, which is removed at its end."""
        name = f"{self._host}-{os.getpid()}-{secrets.token_hex(8)}"
        self._mine.add(name)
        while True:
            incoming = self._inside(self.open(), INCOMING)
            # Another upload that ends may remove the empty parent.
            with contextlib.suppress(FileNotFoundError):
                self._sweep(incoming)
                work = incoming / name
                work.mkdir(mode=0o700)
                return work

    def drop_work(self, work: Path) -> None:
        """Remove the folder of an upload and all that is in it."""
        self._mine.discard(work.name)
        shutil.rmtree(work, ignore_errors=True)
        # Fails unless empty.
        with contextlib.suppress(OSError):
            work.parent.rmdir()

    def place(self, table: Path, wanted: str, taken: Collection[str] = ()) -> str:
        """Move a complete Parquet file into place under the first free name, which is none of those
        that are ``taken``; returns the name."""
        folder = self.open()
        for name in numbered(wanted):
            if name not in taken and claim(table, folder / f"{name}{SUFFIX}"):
                return name
        raise AssertionError("there is always another number")

    def file_at(self, path: str) -> Path | None:
        """The file at a data set's API path, if it exists under the root, and neither it nor a
        folder on the way is a link."""
        file = self.root.joinpath(*path.split("/"))
        try:
            inside = (
                self.root in file.parents and Path(os.path.realpath(file.parent)) == file.parent
            )
            return file if inside and stat.S_ISREG(file.lstat().st_mode) else None
        except (OSError, ValueError):
            return None

    def relative(self, name: str) -> str:
        """The API path of a new data set's file."""
        return "/".join((*PLACE, f"{name}{SUFFIX}"))

    def room(self) -> int:
        """Free bytes on the folder's disk."""
        return shutil.disk_usage(self.open()).free

    def _inside(self, parent: Path, *names: str) -> Path:
        for name in names:
            parent = parent / name
            try:
                parent.mkdir()
            except FileExistsError:
                pass
            except OSError as error:
                raise AgentError(
                    "forbidden",
                    f"The folder {self._api_path(parent)} cannot be made: {error.strerror}",
                ) from error
            if parent.is_symlink() or not parent.is_dir():
                raise AgentError(
                    "forbidden",
                    f"{self._api_path(parent)} is a link or a file. Data sets are kept in folders "
                    "of the server root only: remove it.",
                )
        return parent

    def _api_path(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _sweep(self, incoming: Path) -> None:
        """Remove leftovers of servers that were killed during an upload."""
        for work in incoming.iterdir():
            host, _, rest = work.name.rpartition("-")[0].rpartition("-")
            try:
                old = time.time() - work.lstat().st_mtime > _ABANDONED_SECONDS
            except OSError:
                continue
            dead = host == self._host and not self._alive(rest, work.name)
            if dead or (old and work.name not in self._mine):
                shutil.rmtree(work, ignore_errors=True)

    def _alive(self, pid: str, name: str) -> bool:
        if pid == str(os.getpid()):
            return name in self._mine
        if os.name == "nt":
            return True  # on Windows, signal 0 is Ctrl+C
        try:
            os.kill(int(pid), 0)
        except (ProcessLookupError, ValueError):
            return False
        except OSError:
            return True
        return True


def claim(table: Path, place: Path) -> bool:
    """Move the file to a free path; False if it is taken."""
    try:
        os.link(table, place)
    except FileExistsError:
        return False
    except OSError:
        # Without hard links an empty file reserves the name.
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            return False
        os.replace(table, place)
    else:
        table.unlink()
    return True

"""``.datalayer/datasets/`` under the server root: where data sets are, and uploads come in."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import stat
import time
from pathlib import Path

from ..protocol.errors import AgentError
from .names import numbered

PLACE = (".datalayer", "datasets")
INCOMING = ".incoming"
SUFFIX = ".parquet"
_ABANDONED_SECONDS = 24 * 3600


class DatasetFolder:
    """The folder of one server root. Every folder on the way is one of ours, and no link: what a
    link leads to is outside, or may come to be."""

    def __init__(self, root_dir: str) -> None:
        self.root = Path(os.path.realpath(root_dir))
        self._host = "".join(c for c in socket.gethostname() if c.isalnum())[:40] or "host"
        self._mine: set[str] = set()

    def open(self) -> Path:
        """The folder, made if need be. Raises ``AgentError`` ``forbidden`` for a link."""
        return self._inside(self.root, *PLACE)

    def new_work(self) -> Path:
        """A new folder for one upload, which goes when it is over, whatever happened."""
        name = f"{self._host}-{os.getpid()}-{secrets.token_hex(8)}"
        self._mine.add(name)
        while True:
            incoming = self._inside(self.open(), INCOMING)
            # Another upload that is over may take the folder away, which is empty then.
            with contextlib.suppress(FileNotFoundError):
                self._sweep(incoming)
                work = incoming / name
                work.mkdir(mode=0o700)
                return work

    def drop_work(self, work: Path) -> None:
        """Remove the folder of an upload and all that is in it."""
        self._mine.discard(work.name)
        shutil.rmtree(work, ignore_errors=True)
        # Only an empty one goes.
        with contextlib.suppress(OSError):
            work.parent.rmdir()

    def place(self, table: Path, wanted: str) -> str:
        """Move a whole Parquet file to its place, under the first free name; the name."""
        folder = self.open()
        for name in numbered(wanted):
            if _claim(table, folder / f"{name}{SUFFIX}"):
                return name
        raise AssertionError("there is always another number")

    def path_of(self, name: str) -> Path | None:
        """The data set's file, where there is one that is no link."""
        path = self.open() / f"{name}{SUFFIX}"
        if path.parent != self.root.joinpath(*PLACE) or name.startswith("."):
            return None
        try:
            return path if stat.S_ISREG(path.lstat().st_mode) else None
        except (OSError, ValueError):
            return None

    def relative(self, name: str) -> str:
        """The data set's path as an API path."""
        return "/".join((*PLACE, f"{name}{SUFFIX}"))

    def room(self) -> int:
        """Bytes that are free where the folder is."""
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
        """Remove what servers left that were killed in the middle of an upload."""
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
            return True  # there, signal 0 is no question but Ctrl+C
        try:
            os.kill(int(pid), 0)
        except (ProcessLookupError, ValueError):
            return False
        except OSError:
            return True
        return True


def _claim(table: Path, place: Path) -> bool:
    """Move the file to a place that is free; False where it is taken."""
    try:
        os.link(table, place)
    except FileExistsError:
        return False
    except OSError:
        # No hard links here: an empty file holds the place for the moment.
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            return False
        os.replace(table, place)
    else:
        table.unlink()
    return True

"""Which server processes that share a database are alive.

Each open store holds an exclusive lock on a file of its own beside the database. The system frees
the lock when the process ends, however it ends, so nothing has to be renewed, and neither a reused
process id nor the process ids of another container can mislead.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class ServerLock:
    """This process's mark that it is alive; ``directory`` None where no other can ask."""

    def __init__(self, directory: Path | None) -> None:
        self.server_id = f"{os.getpid()}-{secrets.token_hex(6)}"
        self._directory = directory
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock. Raises ``OSError`` where the directory cannot be written."""
        if self._directory is None:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        path = self._path(self.server_id)
        while self._fd is None:
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            # Another server may have taken the new file for a dead one's and removed it.
            if _try_lock(fd) and path.exists() and path.stat().st_ino == os.fstat(fd).st_ino:
                self._fd = fd
            else:
                os.close(fd)

    def release(self) -> None:
        """Give the lock back and remove the file."""
        if self._fd is not None:
            self._remove(self.server_id)
            os.close(self._fd)
            self._fd = None
            self._remove(self.server_id)

    def is_alive(self, server_id: str) -> bool:
        """Whether the process that ``server_id`` names still runs; a dead one's file is removed."""
        if server_id == self.server_id:
            return True
        if self._directory is None:
            return False
        try:
            fd = os.open(self._path(server_id), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            if not _try_lock(fd):
                return True
            self._remove(server_id)
            return False
        finally:
            os.close(fd)

    def _path(self, server_id: str) -> Path:
        assert self._directory is not None
        return self._directory / f"{server_id}.lock"

    def _remove(self, server_id: str) -> None:
        # Windows does not remove an open file; what stays is an unlocked file, which means dead.
        with contextlib.suppress(OSError):
            self._path(server_id).unlink()

"""Tells which server processes that share a database are alive.

Each open store holds an exclusive lock on its own file beside the database. The system releases the
lock when the process ends for any reason, so nothing has to be renewed, and neither a reused
process id nor one of another container can mislead.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from .file_system import make_private

OPENING = "opening"
OPENING_TIMEOUT = 30.0
OPENING_POLL = 0.005

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
    """The lock that shows that this process is alive. ``directory`` is None if the database is in
    memory, which no other process can use."""

    def __init__(self, directory: Path | None) -> None:
        self.server_id = f"{os.getpid()}-{secrets.token_hex(6)}"
        self._directory = directory
        self._fd: int | None = None

    @contextlib.asynccontextmanager
    async def opening(self) -> AsyncIterator[None]:
        """Let only one server at a time check the file, choose its journal and migrate it.

        SQLite does not wait for a lock while it switches a file to WAL: of two servers that open a
        new database at once, one would fail. Raises ``TimeoutError`` after ``OPENING_TIMEOUT``
        seconds.
        """
        if self._directory is None:
            yield
            return
        deadline = time.monotonic() + OPENING_TIMEOUT
        while (fd := self._take(OPENING)) is None:
            if time.monotonic() > deadline:
                raise TimeoutError("it is locked by another server, which is opening it")
            await asyncio.sleep(OPENING_POLL)
        try:
            yield
        finally:
            self._give_back(OPENING, fd)
            with contextlib.suppress(OSError):
                self._directory.rmdir()  # Removes it only if it is empty: the file was refused.

    def acquire(self) -> None:
        """Take the lock. Raises ``OSError`` if the directory is not writable."""
        while self._directory is not None and self._fd is None:
            self._fd = self._take(self.server_id)

    def release(self) -> None:
        """Release the lock and remove its file."""
        if self._fd is not None:
            self._give_back(self.server_id, self._fd)
            self._fd = None

    def is_alive(self, server_id: str) -> bool:
        """Whether the process of ``server_id`` still runs; removes the file of a dead one."""
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

    def is_alone(self) -> bool:
        """Whether no other living server has the database open."""
        if self._directory is None:
            return True
        names = [path.stem for path in self._directory.glob("*.lock")]
        return not any(
            self.is_alive(name) for name in names if name not in (OPENING, self.server_id)
        )

    def _take(self, name: str) -> int | None:
        """Create and lock the file ``name``; None if another server holds it or has removed it."""
        path = self._path(name)
        path.parent.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        make_private(path.parent)
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            return None
        with contextlib.suppress(FileNotFoundError):
            # Another server may have taken the new file for a dead one's and removed it.
            if _try_lock(fd) and path.stat().st_ino == os.fstat(fd).st_ino:
                return fd
        os.close(fd)
        return None

    def _give_back(self, name: str, fd: int) -> None:
        self._remove(name)
        os.close(fd)
        if sys.platform == "win32":
            self._remove(name)

    def _path(self, server_id: str) -> Path:
        assert self._directory is not None
        return self._directory / f"{server_id}.lock"

    def _remove(self, server_id: str) -> None:
        # Windows does not remove an open file. A file that stays is unlocked, which means dead.
        with contextlib.suppress(OSError):
            self._path(server_id).unlink()

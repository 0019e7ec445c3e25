"""Keys in files of the user's own, one a connection: for computers without a keyring.

A file has mode 0600 from its first byte on, in a folder of mode 0700. One that others could read,
or that is a link, is not read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from urllib.parse import quote

FOLDER = "keys"
_LARGEST = 64 * 1024
_HAS_MODES = os.name == "posix"


class KeyFileError(Exception):
    """A key cannot be kept in a file, or not be read from it: says why and what to do."""


class KeyFiles:
    """The files in ``folder``, which is made with the first key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER

    def path(self, connection_id: str) -> Path:
        """The file of a connection's key."""
        return self.folder / quote(connection_id, safe="")

    def get(self, connection_id: str) -> str | None:
        """The key, None where there is none. Raises ``KeyFileError``."""
        path = self.path(connection_id)
        try:
            number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KeyFileError(f"{path} cannot be read: {error.strerror}.") from error
        with open(number, "rb") as file:
            _check_private(os.fstat(number), path)
            content = file.read(_LARGEST)
        try:
            return content.decode().strip() or None
        except UnicodeDecodeError as error:
            raise KeyFileError(f"{path} holds no key. Connect the model again.") from error

    def set(self, connection_id: str, key: str) -> None:
        """Write a key, whole or not at all. Raises ``KeyFileError``."""
        path = self.path(connection_id)
        new = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            number = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(number, "w", encoding="utf-8") as file:
                # Some file systems have no modes: there, nothing is written.
                _check_private(os.fstat(number), path)
                file.write(key)
                file.flush()
                os.fsync(number)
            new.replace(path)
        except OSError as error:
            raise KeyFileError(f"{path} cannot be written: {error.strerror}.") from error
        finally:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)

    def delete(self, connection_id: str) -> None:
        """Remove a key, if there is one. Raises ``KeyFileError``."""
        path = self.path(connection_id)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise KeyFileError(f"{path} cannot be removed: {error.strerror}.") from error


def _check_private(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise KeyFileError(f"{path} is not a file.")
    if not _HAS_MODES:
        return
    if status.st_uid != os.getuid():
        raise KeyFileError(f"{path} belongs to another user, and is not used.")
    if status.st_mode & 0o077:
        raise KeyFileError(f"Others can read {path}, so it is not used. Run: chmod 600 {path}")

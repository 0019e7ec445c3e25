"""Conversations are their user's: nobody else may read the database's files."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

LOG = logging.getLogger(__name__)

FILES = ("", "-wal", "-shm", "-journal")
"""What SQLite adds to the name; it makes these with the permissions of the database."""


def create_private(path: Path) -> None:
    """Make the database's file, whatever the umask is, or take what others may do with the files
    that are there. Raises ``OSError`` where it cannot be made."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for end in FILES:
        make_private(path.with_name(f"{path.name}{end}"))


def make_private(path: Path) -> None:
    """Take from others what they may do with a file or folder, if there is one."""
    try:
        mode = path.stat().st_mode & 0o777
        if os.name != "nt" and mode & 0o077:
            path.chmod(mode & 0o700)
    except FileNotFoundError:
        return
    except OSError as error:
        # Not every file system has permissions, and the file may be another user's.
        LOG.warning("%s can be read by others: %s", path, error)

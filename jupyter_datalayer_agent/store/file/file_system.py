"""The database's file: private to its user, and whether a network file system holds it.

SQLite's write-ahead log is not safe there: all processes that use a database share the log's index
in memory, which different machines cannot (https://sqlite.org/wal.html).
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import psutil

# Conversations are private: only their user may read the database's files.


LOG = logging.getLogger(__name__)

FILES = ("", "-wal", "-shm", "-journal")
"""Endings of the files that SQLite uses; it creates them with the permissions of the database."""


def create_private(path: Path) -> None:
    """Create the database's file for its user alone, whatever the umask, and make existing files
    private. Raises ``OSError`` if the file cannot be created."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for end in FILES:
        make_private(path.with_name(f"{path.name}{end}"))


def make_private(path: Path) -> None:
    """Remove other users' permissions from a file or folder, if it exists."""
    try:
        mode = path.stat().st_mode & 0o777
        if os.name != "nt" and mode & 0o077:
            path.chmod(mode & 0o700)
    except FileNotFoundError:
        return
    except OSError as error:
        # Not every file system has permissions, and the file may be another user's.
        LOG.warning("%s can be read by others: %s", path, error)


NETWORK = frozenset(
    {
        "9p",
        "acfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "fakeowner",
        "fhgfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "panfs",
        "prl_fs",
        "pvfs2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "wekafs",
    }
)
"""Network file systems, including those that several machines write to at once, and shared folders
of a virtual machine's host."""

LOCAL_FUSE = frozenset(
    {
        "bindfs",
        "cryfs",
        "encfs",
        "ext2",
        "fuse-overlayfs",
        "fuse2fs",
        "gocryptfs",
        "mergerfs",
        "ntfs-3g",
        "squashfuse",
        "unionfs",
        "veracrypt",
        "zfs-fuse",
    }
)
"""Local FUSE file systems; any other may be remote (sshfs, rclone, s3fs, gcsfuse, …)."""


class Mount(Protocol):
    """What psutil says of a file system that is mounted: where, its type, and its options."""

    @property
    def mountpoint(self) -> str:
        """The folder at which it is mounted."""

    @property
    def fstype(self) -> str:
        """Its type."""

    @property
    def opts(self) -> str:
        """Its options, with commas."""


def network_file_system(path: Path) -> str | None:
    """The type of the network file system that an existing or future ``path`` is on; None if it is
    local or unknown. Unknown types count as local, except FUSE."""
    real = Path(os.path.realpath(path))
    if real.anchor.startswith("\\\\"):
        return "a network share"
    try:
        return type_of(psutil.disk_partitions(all=True), real)
    except (OSError, psutil.Error):
        return None


def type_of(mounts: Iterable[Mount], path: Path) -> str | None:
    """The type of the network file system of a ``path`` without links, given what is mounted."""
    holder: Mount | None = None
    longest = 0
    for mount in mounts:
        point = Path(mount.mountpoint)
        # Of two mounts at one place, the later one covers the other.
        if path.is_relative_to(point) and len(point.parts) >= longest:
            holder, longest = mount, len(point.parts)
    if holder is None or not _is_network(holder):
        return None
    # Windows names the type of the other machine's disk.
    return "a network drive" if sys.platform == "win32" else holder.fstype


def _is_network(mount: Mount) -> bool:
    options = mount.opts.split(",")
    if sys.platform == "darwin":
        return "local" not in options
    if sys.platform == "win32":
        return "remote" in options
    family, _, name = mount.fstype.partition(".")
    if family == "fuse":
        return name not in LOCAL_FUSE
    return mount.fstype in NETWORK

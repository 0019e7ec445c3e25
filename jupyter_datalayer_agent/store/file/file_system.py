"""Detects network file systems, where SQLite's write-ahead log is not safe.

All processes that use a database share the log's index in memory, which different machines cannot
(https://sqlite.org/wal.html). Linux tells by ``/proc/self/mountinfo`` (see proc(5)), macOS by
``mount``, Windows by the type of the drive. Unknown file systems count as local, except FUSE.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


MOUNTS = Path("/proc/self/mountinfo")
MOUNT_COMMAND = "/sbin/mount"

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

REMOTE_DRIVE = 4
"""``DRIVE_REMOTE`` of GetDriveTypeW."""


def network_file_system(path: Path) -> str | None:
    """The type of the network file system that an existing or future ``path`` is on; None if it is
    local or unknown."""
    try:
        real = Path(os.path.realpath(path))
        if sys.platform == "win32":
            return _of_windows(real)
        if sys.platform == "darwin":
            done = subprocess.run([MOUNT_COMMAND], capture_output=True, check=True, timeout=10)
            return of_mac(done.stdout.decode(errors="replace"), real)
        return of_linux(MOUNTS.read_text(encoding="utf-8", errors="surrogateescape"), real)
    except (OSError, subprocess.SubprocessError):
        return None


def of_linux(mounts: str, path: Path) -> str | None:
    """The type of the network file system according to the text of ``mountinfo``."""
    kind = ""
    longest = -1
    for line in mounts.splitlines():
        mount, _, source = line.partition(" - ")
        fields = mount.split(" ")
        if len(fields) < 5 or not source:
            continue
        point = Path(_unescaped(fields[4]))
        # Of two mounts at one place, the later one covers the other.
        if path.is_relative_to(point) and len(point.parts) >= longest:
            longest, kind = len(point.parts), source.split(" ", 1)[0]
    return kind if _is_network(kind) else None


def of_mac(mounts: str, path: Path) -> str | None:
    """The type according to the lines of ``mount``: ``//u@host/data on /Volumes/data (smbfs)``."""
    network: str | None = None
    longest = -1
    for point, kind, options in _mac_mounts(mounts):
        if path.is_relative_to(point) and len(point.parts) >= longest:
            longest = len(point.parts)
            network = None if "local" in options else kind
    return network


def _mac_mounts(mounts: str) -> Iterator[tuple[Path, str, list[str]]]:
    for line in mounts.splitlines():
        where, _, said = line.rpartition(" (")
        _, on, point = where.partition(" on /")
        if on and said.endswith(")"):
            kind, *options = said.removesuffix(")").split(", ")
            yield Path(f"/{point}"), kind, options


def _of_windows(path: Path) -> str | None:
    if path.anchor.startswith("\\\\"):
        return "a network share"
    import ctypes

    windll = getattr(ctypes, "windll")  # noqa: B009
    remote = windll.kernel32.GetDriveTypeW(path.anchor) == REMOTE_DRIVE
    return "a network drive" if remote else None


def _is_network(kind: str) -> bool:
    family, _, name = kind.partition(".")
    if family == "fuse":
        return name not in LOCAL_FUSE
    return kind in NETWORK


def _unescaped(text: str) -> str:
    r"""A mount point with escapes such as ``\040`` decoded."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)

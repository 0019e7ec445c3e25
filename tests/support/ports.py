"""Ports of this machine that no other test takes meanwhile.

A port is asked for by number before a server or a kernel listens on it, and a restarted one wants
its own back. One that the system chose may be another process's by then, or the near end of any
connection: these come from below the range that it chooses from, and each test takes the next.
"""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

FIRST, LAST = 12_000, 31_999
"""Linux, macOS and Windows choose from above."""


def free_port(ip: str = "127.0.0.1") -> int:
    """A port that nobody listens on now, and that no other process was given lately."""
    # One for the machine: runs of tests that have temporary folders of their own share its ports.
    counter = Path("/tmp") / f"datalayer-agent-ports-{os.getuid()}"
    with open(os.open(counter, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        port = int(file.read() or FIRST)
        while not _is_free(ip, port):
            port = _next(port)
        file.seek(0)
        file.write(str(_next(port)))
        file.truncate()
    return port


def _next(port: int) -> int:
    return port + 1 if port < LAST else FIRST


def _is_free(ip: str, port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: connections of the one before may still be closing.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ip, port))
        except OSError:
            return False
    return True


def use_for_kernels() -> None:
    """From now on, kernels that this process starts get such ports."""
    from jupyter_client.connect import LocalPortCache

    def find_available_port(self: LocalPortCache, ip: str) -> int:
        return free_port(ip)

    LocalPortCache.find_available_port = find_available_port  # type: ignore[method-assign]

"""A process and all that it started: how many, how much memory, and an end to them."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path

import psutil

_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, ProcessLookupError, PermissionError)
_ROLLUPS = sys.platform.startswith("linux")
_PRIVATE = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB", re.MULTILINE)


class ProcessTree:
    """The process ``pid``, which leads a session of its own, and its descendants.

    A descendant that lost its parent belongs to it still: it is in the same session, or it was
    seen before. What leaves the session and loses its parent between two looks is not found.
    """

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._known: dict[int, psutil.Process] = {}

    def descendants(self) -> list[psutil.Process]:
        """The living ones; those that have ended and wait for their parent do not count."""
        found: dict[int, psutil.Process] = {}
        for process in [self._root, *self._known.values()]:
            with contextlib.suppress(*_GONE):
                found |= {each.pid: each for each in process.children(recursive=True)}
        for process in [*self._known.values(), *self._in_session()]:
            found.setdefault(process.pid, process)
        found.pop(self._root.pid, None)
        self._known = {pid: process for pid, process in found.items() if _lives(process)}
        return list(self._known.values())

    def _in_session(self) -> list[psutil.Process]:
        if not hasattr(os, "getsid"):
            return []
        members = []
        for pid in psutil.pids():
            with contextlib.suppress(*_GONE):
                if pid not in self._known and os.getsid(pid) == self._root.pid:
                    members.append(psutil.Process(pid))
        return members

    def memory(self, above: int) -> tuple[int, int]:
        """Bytes of the process itself, and of its descendants as they were last found.

        Up to ``above`` in all it is what is resident, which costs little to ask; what is more is
        looked at closely: shared memory counts once, and mapped files do not count.
        """
        own = _resident(self._root)
        others = sum(_resident(process) for process in self._known.values())
        if own + others <= above:
            return own, others
        return _private(self._root), sum(_private(each) for each in self._known.values())

    def kill_descendants(self, processes: list[psutil.Process]) -> None:
        """End these at once."""
        for process in processes:
            with contextlib.suppress(*_GONE):
                process.kill()

    def kill(self) -> None:
        """End all of it at once, also what is being forked at this moment."""
        with contextlib.suppress(*_GONE):
            if hasattr(os, "killpg") and os.getpgid(self._root.pid) == self._root.pid:
                import signal

                os.killpg(self._root.pid, signal.SIGKILL)
        with contextlib.suppress(*_GONE):
            self._root.kill()
        self.kill_descendants(self.descendants())


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except _GONE:
        return False


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except _GONE:
        return 0


def _private(process: psutil.Process) -> int:
    """Memory that nobody else could have: what a mapped file takes is the system's to take back."""
    if _ROLLUPS:
        try:
            rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_bytes()
        except OSError:
            return _resident(process)
        kilobytes = [int(each) for each in _PRIVATE.findall(rollup)]
        return sum(kilobytes) * 1024 if kilobytes else _resident(process)
    try:
        return int(process.memory_full_info().uss)
    except (*_GONE, AttributeError):
        return _resident(process)

"""A process and all that it started: how many, how much memory, and an end to them."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
from pathlib import Path

import psutil

log = logging.getLogger(__name__)

_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, ProcessLookupError, PermissionError)
_ROLLUPS = sys.platform.startswith("linux")
_KNOWS_CHILDREN = Path("/proc/thread-self/children").exists()
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
                found |= {each.pid: each for each in self._below(process)}
        for process in [*self._known.values(), *self._in_session()]:
            found.setdefault(process.pid, process)
        found.pop(self._root.pid, None)
        self._known = {pid: process for pid, process in found.items() if _lives(process)}
        return list(self._known.values())

    def _below(self, process: psutil.Process) -> list[psutil.Process]:
        """All descendants. Linux lists a process's children; elsewhere the parent of every process
        is read."""
        if not _KNOWS_CHILDREN:
            return list(process.children(recursive=True))
        if not process.is_running():  # its number may be another one's by now
            return []
        below: dict[int, psutil.Process] = {}
        to_ask = [process.pid]
        while to_ask:
            for pid in _children_of(to_ask.pop()):
                with contextlib.suppress(*_GONE):
                    if pid not in below:
                        below[pid] = psutil.Process(pid)
                        to_ask.append(pid)
        return list(below.values())

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


def bound_memory(pid: int, memory: int) -> None:
    """Let the process, and those that it starts from now on, have no more than so many bytes of
    private memory mapped each.

    The system knows such a bound on Linux only; elsewhere there is none.
    """
    try:
        from resource import RLIMIT_DATA, prlimit
    except ImportError:
        return  # not Linux
    try:
        # Unlike a bound on the address space this one leaves room for what is only reserved.
        prlimit(pid, RLIMIT_DATA, (memory, memory))
    except (OSError, ValueError):
        log.warning("The memory of kernel process %s could not be bounded", pid, exc_info=True)


def _children_of(pid: int) -> list[int]:
    """The children that the process's threads have started, as Linux lists them."""
    children: list[int] = []
    with contextlib.suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                children += map(int, (thread / "children").read_bytes().split())
    return children


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
    """Private memory: the system can reclaim that of mapped files."""
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

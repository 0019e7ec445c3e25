"""Watches what a call takes while it runs, and ends what is over a limit."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import psutil

from .limits import LimitPassed, Limits, too_many_processes, too_much_memory
from .process_tree import ProcessTree

log = logging.getLogger(__name__)

# Memory is filled at a few GB a second, so that between two looks little more than the limit is.
LOOK_EVERY = 0.05
# To find all descendants means to look for those that lost their parent, too.
COUNT_EVERY = 0.2
# So many times the limit is no pool of workers that is a little too large.
BOMB = 4
# Who starts new processes in place of those that were ended is not stopped by that.
AGAIN_SECONDS = 2.0


class Guard(threading.Thread):
    """A thread for the time of one call, so that it also looks while the server is busy.

    ``on_passed`` is called in this thread, once the offenders have been ended: the kernel itself
    (``died``), or else only its child processes, and then the code is to be interrupted.

    To make one takes a first look at the machine's processes: not for the event loop.
    """

    def __init__(self, pid: int, limits: Limits, on_passed: Callable[[LimitPassed], None]) -> None:
        super().__init__(name=f"guard of kernel process {pid}", daemon=True)
        self.tree = ProcessTree(pid)
        self._limits = limits
        self._on_passed = on_passed
        self._over = threading.Event()
        self._before = {process.pid for process in self.tree.descendants()}
        self._ended_children_at: float | None = None

    def __enter__(self) -> Guard:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()

    def run(self) -> None:
        """Look until the call is over or the kernel has been ended."""
        counted = 0.0
        while not self._over.wait(LOOK_EVERY):
            try:
                now = time.monotonic()
                passed = self._look_at_memory()
                if passed is None and now - counted >= COUNT_EVERY:
                    counted = now
                    passed = self._look_at_processes(self.tree.descendants())
            except psutil.Error:
                return  # the kernel has ended by itself
            if passed is not None:
                log.info("%s", passed.message)
                self._on_passed(passed)
                if passed.died:
                    return

    def _look_at_memory(self) -> LimitPassed | None:
        limit = self._limits.memory
        if limit is None:
            return None
        own, others = self.tree.memory(limit)
        if own + others <= limit:
            return None
        # Without its children it would have plenty of room again: then its variables can stay.
        died = others < own
        self._end(self.tree.descendants(), died)
        return too_much_memory(own + others, limit, died=died)

    def _look_at_processes(self, processes: list[psutil.Process]) -> LimitPassed | None:
        limit = self._limits.processes
        count = len(processes)
        if limit is None or count <= limit:
            return None
        again = (
            self._ended_children_at is not None
            and time.monotonic() - self._ended_children_at > AGAIN_SECONDS
        )
        died = count > BOMB * max(limit, 1) or again
        self._end(processes, died)
        return too_many_processes(count, limit, died=died)

    def _end(self, processes: list[psutil.Process], died: bool) -> None:
        if died:
            self.tree.kill()
            return
        new = [process for process in processes if process.pid not in self._before]
        self.tree.kill_descendants(new or processes)
        if self._ended_children_at is None:
            self._ended_children_at = time.monotonic()

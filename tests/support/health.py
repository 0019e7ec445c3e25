"""Whether a server answers others while it is busy: its slowest ``GET health``.

Of a machine that others use, too, only the time counts that the server itself computed meanwhile.
"""

from __future__ import annotations

import threading
import time

import psutil
import requests

from .jupyter import RunningServer

EVERY = 0.05
"""Seconds between two requests."""


class Health:
    """Asks from entry to exit. ``slowest`` is in seconds; ``longest_wait`` is, too, and also counts
    what the server did not compute, such as sleep."""

    def __init__(self, server: RunningServer) -> None:
        self.slowest = self.longest_wait = 0.0
        self._url = f"{server.url}datalayer-agent/health"
        assert server.process is not None
        self._process = psutil.Process(server.process.pid)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> Health:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _computed(self) -> float:
        times = self._process.cpu_times()
        return times.user + times.system

    def _ask(self) -> None:
        with requests.Session() as session:
            while not self._done.is_set():
                began, computed = time.perf_counter(), self._computed()
                assert session.get(self._url, timeout=300).ok
                waited = time.perf_counter() - began
                self.longest_wait = max(self.longest_wait, waited)
                self.slowest = max(self.slowest, min(waited, self._computed() - computed))
                self._done.wait(EVERY)

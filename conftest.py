"""What all Python tests share: plugins, and no way out to the network."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures.thread import _threads_queues
from typing import Any

import pytest
from hypothesis import settings

# As for the processes that tests start: see tests/support/without.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

# How long an example takes says something of the machine; benchmarks measure time.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

pytest_plugins = [
    "pytest_jupyter.jupyter_server",
    "tests.support.plugin",
    "tests.support.shared_server",
]

LEFT_THREADS = pytest.StashKey[list[str]]()
LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True, scope="session")
def no_outside_network() -> Iterator[None]:
    """A test talks to servers of its own; one that reaches for another host fails."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        outside = self.family != socket.AF_UNIX and not str(address[0]).startswith(LOOPBACK)
        if outside:
            raise PermissionError(f"A test reached for the network: {address!r}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A thread that a test left behind is a fault: it would keep Python from ending, for ever."""
    left = [
        thread.name
        for thread in threading.enumerate()
        if not thread.daemon
        and thread is not threading.main_thread()
        and thread not in _threads_queues  # those of an executor end by themselves
    ]
    if left:
        session.config.stash[LEFT_THREADS] = left
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["left_threads"] = left


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A process that ran a part of the tests has ended: the first one reports what it left."""
    left = getattr(node, "workeroutput", {}).get("left_threads")
    if left:
        node.config.stash[LEFT_THREADS] = left


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    left = config.stash.get(LEFT_THREADS, None)
    if left:
        print(f"Threads that tests left running: {', '.join(left)}", flush=True)
        sys.stderr.flush()
        os._exit(pytest.ExitCode.TESTS_FAILED)

"""The order of the tests, and how their servers start."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support import ports
from tests.support.jupyter import RunningServer
from tests.support.preloaded import Preloaded
from tests.support.preloaded import kernels as use_kernels

LONGEST = (
    "tests/workflows/templates/builtin/",
    "tests/workflows/test_without_a_model",
    "tests/workflows/tutorials",
)
"""Where the minutes go. A file begun last would keep one process busy while the others are done."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


PRELOADED = "PRELOADED_BY_TESTS"
"""The process that began the tests, and a folder of its own: all that run a part share both."""


def pytest_configure(config: pytest.Config) -> None:
    ports.use_for_kernels()
    # macOS has no descriptors of processes, and its libraries do not bear a fork.
    if sys.platform != "linux":
        return
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="preloaded-", ignore_cleanup_errors=True)
        config.add_cleanup(folder.cleanup)
        os.environ[PRELOADED] = f"{os.getpid()}:{folder.name}"
    owner, _, name = os.environ[PRELOADED].partition(":")
    servers, kernels = (Preloaded(kind, Path(name), int(owner)) for kind in ("servers", "kernels"))
    os.environ["PRELOADED_SERVERS"] = servers.path
    os.environ[use_kernels.PATH] = kernels.path

    def server() -> str:
        # It may want a kernel soon.
        kernels.begin()
        return servers.wait()

    RunningServer.preloaded = staticmethod(server)
    use_kernels.use(kernels.wait)

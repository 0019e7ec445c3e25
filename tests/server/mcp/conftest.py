"""One server without a model for all of this folder: other programs bring their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from tests.support.jupyter import RunningServer

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("mcp")) as running:
        yield running


@pytest.fixture
def run() -> Run:
    """Runs a test's coroutine, and fails where it takes too long."""

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(asyncio.wait_for(work, 60))

    return run

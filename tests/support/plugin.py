"""A pytest plugin for tests in which litellm runs: named in ``pytest_plugins`` of the top conftest.

litellm keeps a task and open connections in each event loop that it was called in, and pydantic
warns of the copies that it makes of answers. Warnings are errors here, and each test has a loop of
its own.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

import pytest

from jupyter_datalayer_agent.models import shutdown

IGNORED_WARNINGS = (
    # litellm ignores these itself when it is imported; pytest undoes that for each test.
    "ignore:.*ReadOnly. qualifier:UserWarning",
    "ignore:.*conflict with protected namespace:UserWarning",
    "ignore:.*Accessing the.*attribute on the instance is deprecated",
    # The loader ignores these, likewise.
    "ignore:Pydantic serializer warnings:UserWarning",
    # At litellm's import.
    "ignore::DeprecationWarning:litellm",
)


def pytest_configure(config: pytest.Config) -> None:
    for line in IGNORED_WARNINGS:
        config.addinivalue_line("filterwarnings", line)


@pytest.fixture(autouse=True)
def nothing_of_litellm_stays(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """End, after each test, what litellm left in the test's event loop."""
    yield
    if "litellm" in sys.modules and not jp_asyncio_loop.is_closed():
        jp_asyncio_loop.run_until_complete(_clean_up())


async def _clean_up() -> None:
    await shutdown()
    rest = [task for task in asyncio.all_tasks() if _of_litellm(task)]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def _of_litellm(task: asyncio.Task[object]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "litellm" in code.co_filename.replace("\\", "/").split("/")

"""The order of the tests."""

from __future__ import annotations

import pytest

LONGEST = ("tests/workflows/templates/", "tests/server/test_workflows", "tests/workflows/tutorials")
"""Where the minutes go. A file begun last would keep one process busy while the others are done."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))

"""One kernel for the tests of a module, over a root of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.template_run import KernelForTemplates


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelForTemplates]:
    with KernelForTemplates(tmp_path_factory.mktemp("root")) as running:
        yield running

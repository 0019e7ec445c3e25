"""What all Python tests share: plugins, and no way out to the network."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server", "tests.support.plugin"]

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
